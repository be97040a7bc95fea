# Two commands do all the set-up: `make demo` runs the main job, `make test` passes the tests. `make help` lists the rest.
SHELL := /bin/sh
VENV := .venv
BIN := $(VENV)/bin
PYTEST := $(BIN)/python -m pytest
.DEFAULT_GOAL := help
.PHONY: help demo test lint types unit coverage servers bench fuzz mutate figures docs wheel zipapp try clean

help: ## list the targets
	@grep -E '^[a-z-]+:.*## ' Makefile | sed -E 's/^([a-z-]+):[^#]*## /  \1\t/' | expand -t 14

demo: $(VENV)/.product ## audit a throwaway server that runs with a bad option file (or, without a server, a recorded one)
	@$(BIN)/python tools/demo.py $(if $(SERVER),--server $(SERVER))

test: lint types servers unit ## everything that must pass: style, types, layers, tests on real servers; ends with what was skipped

lint: $(VENV)/.dev ## ruff, and the layers by import-linter
	$(BIN)/ruff check .
	$(BIN)/lint-imports

types: $(VENV)/.dev ## mypy --strict
	$(BIN)/mypy
	@for folder in $(sort $(dir $(wildcard tools/*.py tools/*/*.py))); do \
	    echo "mypy $$folder"; (cd $$folder && $(CURDIR)/$(BIN)/mypy --config-file $(CURDIR)/pyproject.toml *.py) || exit 1; done

unit: $(VENV)/.dev ## pytest with coverage (ONLY=tests/rules narrows it)
	$(PYTEST) -q -n auto --dist worksteal --cov --cov-report=term:skip-covered $(ONLY)

coverage: ## after `make unit`: every line and branch of the rules and the verdict must have been run
	$(BIN)/coverage report --include='rules/*,advisor/verdict/*' --fail-under=100

servers: $(VENV)/.dev ## fetch the real servers that tests start (cached outside the checkout)
	@$(BIN)/python tests/servers/provision.py || echo "servers: tests against the missing ones will be skipped by name"

bench: $(VENV)/.product ## medians: start-up, lint, catalog
	@$(BIN)/python tools/figures --only speed

figures: $(VENV)/.dev ## one line per promised figure: name, value, limit, commit
	@$(BIN)/python tools/figures

fuzz: $(VENV)/.dev ## made-up option files against real servers (SECONDS=600 SETTINGS= SEED= SERVER=; READER=1 or MANGLED=1: FILES=100000)
	@$(BIN)/python tools/fuzz $(if $(READER),--what reader,$(if $(MANGLED),--what mangled,--seconds $(or $(SECONDS),$(if $(SETTINGS),86400,600)) \
	    --cases tests/verdict/cases)) $(if $(SETTINGS),--settings $(SETTINGS)) $(if $(SEED),--seed $(SEED)) $(if $(SERVER),--server $(SERVER)) \
	    $(if $(FILES),--files $(FILES))

mutate: $(VENV)/.dev ## change the rules and the verdict in small ways and list the changes that no test notices
	@$(BIN)/python tools/mutate.py

docs: $(VENV)/.product ## write docs/cli.md again, and the program's output in README.md
	@$(BIN)/python tools/clidoc.py
	@$(BIN)/python tools/readme.py

wheel: $(VENV)/.dev ## dist/*.whl
	@rm -rf dist/*.whl
	@$(BIN)/python -m build --wheel --no-isolation --outdir dist . >/dev/null && ls dist/*.whl

zipapp: wheel ## dist/mycnf.pyz, one file that runs on any host with this version of Python
	@$(BIN)/python tools/onefile/build.py dist/mycnf.pyz

try: wheel zipapp ## the wheel in an empty environment and the zipapp, both run as a new user would
	@sh tools/try.sh dist

clean: ## remove what make made here (the cache of servers stays)
	rm -rf $(VENV) build dist .coverage .mypy_cache .ruff_cache .import_linter_cache .hypothesis

$(VENV)/.product: pyproject.toml
	@sh tools/setup.sh $(VENV) .
	@touch $@

$(VENV)/.dev: pyproject.toml
	@sh tools/setup.sh $(VENV) '.[dev]'
	@touch $@ $(VENV)/.product
