"""The pre-commit hook picks option files, runs a command that exists, and works under the real pre-commit."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from advisor.cli.parser import build_parser
from advisor.optionfile.lines import TEMPLATE_ENDINGS

OPTION_FILES = (
    "my.cnf", ".my.cnf", "my.ini", "etc/mysql/my.cnf", "etc/my.cnf.d/server.cnf", "files/mysqld.cnf",
    "roles/db/templates/my.cnf.j2", "etc/mysql/mariadb.conf.d/50-server.cnf", "etc/mysql/mysql.conf.d/mysqld.cnf",
    *(f"templates/my.cnf{ending}" for ending in TEMPLATE_ENDINGS), "mysql/conf.d/tuning.cnf.erb",
    "mysql/conf.d/tuning.cnf", "docker-compose.yml", "deploy/compose.prod.yaml", "units/mariadb@.service",
    "k8s/mysql-configmap.yaml", "data/mysqld-auto.cnf", "db/Dockerfile", "Dockerfile.prod", "db.dockerfile",
    "Containerfile", "rds.tf", "infra/aurora-cluster.tf", "modules/db_parameter_group/db_parameters.tf",
    "mysql.tf.json", "cloudsql.tofu", "pillar/mysql.sls",
)  # fmt: skip
OTHER_FILES = (
    "openssl.cnf", "etc/php.ini", "setup.ini", "my.cnf.md", "docs/mysql.md", "conf.d/nginx.conf", "amy.cnf",
    "k8s/nginx.yaml", "nginx.service", "notdockerfile", "dockerfiles/README", "docker-file.sh",
    "main.tf", "vpc.tf", "rds.tfvars", "pillar/nginx.sls",
)  # fmt: skip


@pytest.fixture(params=["mycnf", "mycnf-fix"])
def hook(request: pytest.FixtureRequest, checkout: Path) -> dict[str, Any]:
    """The fields of each hook."""
    hooks = {one["id"]: one for one in yaml.safe_load((checkout / ".pre-commit-hooks.yaml").read_text())}
    assert set(hooks) == {"mycnf", "mycnf-fix"}
    return dict(hooks[request.param])


@pytest.mark.parametrize("path", OPTION_FILES)
def test_picks_option_files(path: str, hook: dict[str, Any]) -> None:
    """A file that servers read under this name is linted."""
    assert re.search(hook["files"], path)


@pytest.mark.parametrize("path", OTHER_FILES)
def test_leaves_other_files(path: str, hook: dict[str, Any]) -> None:
    """A file of something else is not."""
    assert not re.search(hook["files"], path)


def test_entry_is_a_command(hook: dict[str, Any]) -> None:
    """The hook's entry parses with the files that pre-commit appends, in one process."""
    program, *words = hook["entry"].split()
    assert program == "mycnf"
    assert build_parser().parse_args([*words, "a.cnf", "b.cnf"]).files == ["a.cnf", "b.cnf"]
    assert hook["require_serial"] is True


BAD = "[mysqld]\nno_such_option = 1\n"
GOOD = "[mysqld]\nmax_connections = 200\n"


@pytest.fixture(scope="module")
def hook_repository(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A git repository of the checkout's own files as they are now, as `pre-commit try-repo` wants it."""
    folder = tmp_path_factory.mktemp("mycnf")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=checkout, capture_output=True, check=True).stdout.decode()
    wanted = (
        "advisor/",
        "rules/",
        "probes/",
        "pyproject.toml",
        "README.md",
        "LICENSE",
        ".pre-commit-hooks.yaml",
        "tools/onefile/mycnf",
    )
    for name in (n for n in listed.split("\0") if n.startswith(wanted) and (checkout / n).exists()):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(checkout / name, folder / name)
    commit(folder)
    return folder


def commit(folder: Path) -> None:
    """Make the folder a git repository with all that is in it."""
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@example.invalid", "-C", str(folder)]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "all"]):
        subprocess.run([*git, *words], check=True, capture_output=True, timeout=600)


def pre_commit(repository: Path, *words: str, cache: Path) -> subprocess.CompletedProcess[str]:
    """Run the real pre-commit in a repository, with environments of its own; skipped by name without a registry."""
    if importlib.util.find_spec("pre_commit") is None:
        pytest.skip("pre-commit is not installed")
    places = {"PRE_COMMIT_HOME": str(cache), "PRE_COMMIT_COLOR": "never"}
    # pip takes the word for its option that compiles: 0 is what keeps it from that.
    environment = {**os.environ, **places, "PIP_NO_COMPILE": "0", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    run = [sys.executable, "-m", "pre_commit", *words]
    ran = subprocess.run(run, cwd=repository, env=environment, capture_output=True, text=True, timeout=600, check=False)
    if re.search(r"from versions: none|NewConnectionError|name resolution", ran.stdout):
        pytest.skip("pre-commit can't install the hook: the package registry is out of reach")
    return ran


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of pre-commit's environments, for all tests: but try-repo makes one of its own at each run."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository of option files, a good one and a bad one, with other files that the hook must leave alone."""
    files = {"etc/mysql/my.cnf": BAD, "roles/db/my.cnf.d/server.cnf": GOOD, "openssl.cnf": BAD, "php.ini": BAD}
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    commit(tmp_path)
    return tmp_path


@pytest.mark.whole  # installs the hook once more, which the next one does too
def test_try_repo(hook_repository: Path, repository: Path, cache: Path) -> None:
    """`pre-commit try-repo` finds the bad file, fails for it, and names no file that is none of ours."""
    ran = pre_commit(repository, "try-repo", str(hook_repository), "mycnf", "--all-files", "--verbose", cache=cache)
    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert "etc/mysql/my.cnf:2:1  error  unknown-option OPT001" in ran.stdout
    assert "2 files checked for" in ran.stdout
    assert "openssl.cnf" not in ran.stdout
    assert "php.ini" not in ran.stdout


TWICE = "[mysqld]\n# why\nmax_connections = 100\nmax_connections = 200\n"


def revision_of(repository: Path) -> str:
    """The commit that a configuration names."""
    head = ["git", "-C", str(repository), "rev-parse", "HEAD"]
    return subprocess.run(head, capture_output=True, text=True, check=True, timeout=600).stdout.strip()


def test_fixing_hook(hook_repository: Path, repository: Path, cache: Path) -> None:
    """`mycnf-fix` fixes what is safe to fix and fails for it, as fixers do; the next run changes nothing."""
    (repository / "etc" / "mysql" / "my.cnf").write_text(TWICE)
    hooks = [{"id": "mycnf-fix", "verbose": True}]
    repos = [{"repo": str(hook_repository), "rev": revision_of(hook_repository), "hooks": hooks}]
    (repository / ".pre-commit-config.yaml").write_text(yaml.safe_dump({"repos": repos}))
    first = pre_commit(repository, "run", "--all-files", cache=cache)
    assert first.returncode == 1, first.stdout + first.stderr
    assert "files were modified by this hook" in first.stdout
    assert "etc/mysql/my.cnf: fixed 1" in first.stdout
    mended = (repository / "etc" / "mysql" / "my.cnf").read_text()
    assert mended == TWICE.replace("max_connections = 100\n", "")
    assert (repository / "openssl.cnf").read_text() == BAD
    second = pre_commit(repository, "run", "--all-files", cache=cache)
    assert second.returncode == 0, second.stdout + second.stderr
    assert (repository / "etc" / "mysql" / "my.cnf").read_text() == mended


def test_configured_hook(checkout: Path, hook_repository: Path, repository: Path, cache: Path) -> None:
    """With the example's configuration the hook judges for the server named there, and passes a fixed file."""
    example = (checkout / "examples" / "pre-commit-config.yaml").read_text()
    assert example.count("ADDRESS") == example.count("COMMIT") == 1
    config = example.replace("ADDRESS", str(hook_repository)).replace("COMMIT", revision_of(hook_repository))
    (repository / ".pre-commit-config.yaml").write_text(config)
    bad = pre_commit(repository, "run", "--all-files", cache=cache)
    assert bad.returncode == 1
    assert re.search(r"^2 files checked for MySQL 8\.4\.\d+: 1 error\.", bad.stdout, re.MULTILINE), bad.stdout
    (repository / "etc" / "mysql" / "my.cnf").write_text(GOOD)
    good = pre_commit(repository, "run", "--all-files", cache=cache)
    assert good.returncode == 0, good.stdout
    assert "Passed" in good.stdout
