# Two commands do all the set-up: `make demo` runs the main job, `make test` passes the tests. `make help` lists the rest.
SHELL := /bin/sh
VENV := .venv
BIN := $(VENV)/bin
# The tools that pin and check what mycnf needs, in an environment of their own.
SUPPLY := $(VENV)/supply
PYTEST := $(BIN)/python -m pytest
# Three times as many as processors: with twice as many a fifth of their time was idle, as tests wait for servers, locks and disks.
WORKERS := $(shell expr 3 \* $$(nproc))
.DEFAULT_GOAL := help
.PHONY: help demo test quick lint types unit coverage contention servers lab bench fuzz mutate figures docs pictures wheel sdist zipapp try reproducible sbom pins ranges vulnerabilities clean

help: ## list the targets
	@grep -E '^[a-z-]+:.*## ' Makefile | sed -E 's/^([a-z-]+):[^#]*## /  \1\t/' | expand -t 14

demo: $(VENV)/.product ## audit a throwaway server that runs with a bad option file (or, without a server, a recorded one)
	@$(BIN)/python tools/demo.py $(if $(SERVER),--server $(SERVER))

# Tests wait for servers and leave a tenth of the processors idle: types are checked meanwhile.
test: ## everything that must pass: style, types, layers, tests on real servers; ends with what was skipped
	@$(MAKE) --no-print-directory lint servers
	@$(MAKE) --no-print-directory --jobs=2 types unit

quick: export PYTHONDONTWRITEBYTECODE =
quick: $(VENV)/.dev ## the tests that need no server: under a minute on 2 cores, for the loop of writing code
	@$(PYTEST) -q --quick -n $$(nproc) --dist worksteal $(ONLY)

lint: $(VENV)/.dev ## ruff (rules and format), and the import contracts by import-linter
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

types: $(VENV)/.dev ## mypy --strict
	$(BIN)/mypy
	@for folder in $(sort $(dir $(wildcard tools/*.py tools/*/*.py))); do \
	    echo "mypy $$folder"; (cd $$folder && $(CURDIR)/$(BIN)/mypy --config-file $(CURDIR)/pyproject.toml *.py) || exit 1; done

# Whatever this shell says of it: each process of tests would compile them all anew, ten seconds of a processor. The
# tests' own calls of make take no part in the jobs of this one.
unit coverage: export PYTHONDONTWRITEBYTECODE =
unit: $(VENV)/.dev ## pytest on all cores, unsteady tests named (ONLY=tests/rules narrows it, WORKERS=2 spares memory, WHOLE=1 leaves nothing out)
	@env -u MAKEFLAGS $(if $(WHOLE),MYCNF_WHOLE=1 )$(BIN)/python tools/tests.py -q -n $(WORKERS) --dist worksteal $(ONLY)

coverage: $(VENV)/.dev ## the tests with coverage: every line and branch of the rules and the verdict must have been run
	$(PYTEST) -q -n $(WORKERS) --dist worksteal --cov --cov-report=
	$(BIN)/coverage report --include='rules/*,advisor/verdict/*' --fail-under=100

contention: $(VENV)/.dev ## probes beside a server at work, with real-time priority: nothing else should run on this host
	MYCNF_REALTIME=1 $(PYTEST) -q tests/probes/safety/test_contention.py

servers: $(VENV)/.dev ## fetch the real servers that tests start (cached outside the checkout)
	@$(BIN)/python tests/servers/provision.py || echo "servers: tests against the missing ones will be skipped by name"

lab: $(VENV)/.dev ## break real servers on purpose, audit them and apply the advice: docs/experiments/scenarios.md (TUNER=mysqltuner.pl, ONLY_SCENARIO=NAME)
	@$(BIN)/python tools/lab/scenarios.py $(if $(TUNER),--tuner $(TUNER)) $(if $(ONLY_SCENARIO),--only $(ONLY_SCENARIO))

# The largest of them, ten thousand snapshots, takes minutes: SNAPSHOTS=1000 make bench.
bench: $(VENV)/.dev ## a table of medians on top of docs/bench.md, beside the last one (TABLE=FILE keeps it elsewhere)
	@$(BIN)/python tools/figures $(addprefix --only ,speed rules audit app reports disk) --keep $(or $(TABLE),docs/bench.md)

figures: $(VENV)/.dev ## one line per promised figure: name, value, limit, commit
	@$(BIN)/python tools/figures

fuzz: $(VENV)/.dev ## made-up files against real servers (SECONDS=600 SETTINGS= SEED= SERVER=; READER=1, MANGLED=1 or OUTSIDE=1: FILES=100000; DRAWN=1)
	@$(if $(DRAWN),MYCNF_DRAWS=new $(PYTEST) -q -n $(WORKERS) -m hypothesis $(if $(SEED),--hypothesis-seed=$(SEED)) $(ONLY),$(BIN)/python tools/fuzz $(if $(READER),--what reader,$(if $(MANGLED),--what mangled,$(if $(OUTSIDE),--what outside,--seconds $(or $(SECONDS),$(if $(SETTINGS),86400,600)) \
	    --cases tests/verdict/cases))) $(if $(SETTINGS),--settings $(SETTINGS)) $(if $(SEED),--seed $(SEED)) $(if $(SERVER),--server $(SERVER)) \
	    $(if $(FILES),--files $(FILES)) $(if $(ONLY_READER),--only $(ONLY_READER)))

mutate: $(VENV)/.dev ## change the rules in small ways and list the changes that no case notices (MODULE=rules/connections/limits.py; VERDICT=1: the verdict)
	@$(BIN)/python tools/mutate $(if $(MODULE),--module $(MODULE)) $(if $(VERDICT),--verdict)

docs: $(VENV)/.product ## write again what is generated: the index of rules, pages in docs, schemas, man page, completions, output in README.md
	@$(BIN)/python tools/ruleindex.py
	@$(BIN)/python tools/formatpages.py
	@$(BIN)/python tools/clidoc.py
	@$(BIN)/python tools/statementpage.py
	@$(BIN)/python tools/commandline
	@$(BIN)/python tools/configschema.py
	@$(BIN)/python tools/snapshotschema.py
	@$(BIN)/python tools/rulepages.py
	@$(BIN)/python tools/readme.py

pictures: $(VENV)/.dev ## draw the app's pictures and record its tour again, from the demo (docs/pictures)
	@$(BIN)/python tools/pictures.py
	@$(BIN)/python tools/recording.py

wheel: $(VENV)/.dev ## dist/*.whl
	@rm -rf dist/*.whl
	@$(BIN)/python -m build --wheel --no-isolation --outdir dist . >/dev/null && ls dist/*.whl

sdist: $(VENV)/.dev ## dist/*.tar.gz
	@rm -rf dist/*.tar.gz
	@$(BIN)/python -m build --sdist --no-isolation --outdir dist . >/dev/null && ls dist/*.tar.gz

zipapp: wheel ## dist/mycnf.pyz, one file that runs on any host with this version of Python
	@$(BIN)/python tools/onefile/build.py dist/mycnf.pyz

try: wheel zipapp ## the wheel in an empty environment and the zipapp, both run as a new user would
	@sh tools/try.sh dist

reproducible: $(VENV)/.dev ## wheel, source archive and zipapp, built twice under other circumstances: the same bytes?
	@$(BIN)/python tools/supply/twice.py

sbom: wheel $(SUPPLY)/.done ## dist/mycnf.cdx.json, the bill of materials of the pinned product (CycloneDX)
	@sh tools/supply/sbom.sh $(SUPPLY) dist

pins: $(SUPPLY)/.done ## write requirements/*.txt again from pyproject.toml (UPGRADE=1 takes newer versions)
	@sh tools/supply/pins.sh $(SUPPLY)/bin/uv $(if $(UPGRADE),--upgrade)

ranges: $(SUPPLY)/.done ## the lowest and the newest packages that users may have, each in an environment of its own: do both work?
	@$(BIN)/python tools/supply/ranges.py $(SUPPLY)/bin/uv

vulnerabilities: $(SUPPLY)/.done ## what is known of the pinned packages, by pip-audit
	@$(SUPPLY)/bin/pip-audit --strict --require-hashes --disable-pip --progress-spinner off --requirement requirements/development.txt

clean: ## remove what make made here (the cache of servers stays)
	rm -rf $(VENV) build dist .coverage .mypy_cache .ruff_cache .import_linter_cache .hypothesis

$(VENV)/.product: pyproject.toml
	@sh tools/setup.sh $(VENV) .
	@touch $@

$(VENV)/.dev: pyproject.toml requirements/development.txt
	@sh tools/setup.sh $(VENV) requirements/development.txt .
	@touch $@ $(VENV)/.product

$(SUPPLY)/.done: requirements/supply.txt
	@mkdir -p $(VENV) && sh tools/setup.sh $(SUPPLY) requirements/supply.txt
	@touch $@
