"""The provisioner: what it reads of this system, and how servers get onto the shelf."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from provisioning import debian, manifest, mirrors
from provisioning.launcher import write_launcher
from provisioning.parts import PROGRAMS, check_part
from provisioning.recipes import PARTS, RECIPES
from provisioning.shelf import ProvisionError, lock, placing, shelf
from real_servers import lacking, names_of

PROVISION = Path(__file__).with_name("provision.py")

DEB822 = """\
# the main archive
Types: deb deb-src
URIs: http://mirror.example/debian
Suites: bookworm bookworm-updates
Components: main contrib
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg

Types: deb
URIs: http://security.example/debian-security
Suites: bookworm-security
Components: main
Signed-By:
 -----BEGIN PGP PUBLIC KEY BLOCK-----
 .
 abc
 -----END PGP PUBLIC KEY BLOCK-----

Enabled: no
Types: deb
URIs: http://off.example/debian
Suites: trixie
Components: main

Types: deb-src
URIs: http://source.example/debian
Suites: bookworm
Components: main
"""
ONE_LINE = """\
# deb http://comment.example/debian bookworm main
deb [signed-by=/k.gpg arch=amd64] https://mirror.example/debian/ bookworm main contrib
deb http://other.example/apt stable nonfree
deb-src http://mirror.example/debian bookworm main
"""


@pytest.fixture
def apt(tmp_path: Path) -> Path:
    """An /etc/apt of its own, empty but for its folder of sources."""
    (tmp_path / "apt" / "sources.list.d").mkdir(parents=True)
    return tmp_path / "apt"


@pytest.fixture
def empty_shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A shelf of servers with nothing on it."""
    monkeypatch.setenv("MYCNF_SERVERS", str(tmp_path / "shelf"))
    (tmp_path / "shelf").mkdir()
    return tmp_path / "shelf"


def provision(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run the provisioner as `make servers` does."""
    return subprocess.run(
        [sys.executable, str(PROVISION), *arguments],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


def test_deb822_sources(apt: Path) -> None:
    """Binary sources with a main component are read from a .sources file, disabled and source-only ones left out."""
    (apt / "sources.list.d" / "debian.sources").write_text(DEB822)
    lines = [source.line() for source in mirrors.read_sources(apt)]
    keyring = "[signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]"
    assert lines == [
        f"deb {keyring} http://mirror.example/debian bookworm main",
        f"deb {keyring} http://mirror.example/debian bookworm-updates main",
        "deb http://security.example/debian-security bookworm-security main",
    ]


def test_one_line_sources(apt: Path) -> None:
    """One-line sources keep their options; comments, source packages and other components are left out."""
    (apt / "sources.list").write_text(ONE_LINE)
    (apt / "sources.list.d" / "x.list.save").write_text("deb http://save.example/debian bookworm main\n")
    assert [source.line() for source in mirrors.read_sources(apt)] == [
        "deb [signed-by=/k.gpg arch=amd64] https://mirror.example/debian/ bookworm main",
    ]


def test_own_suite_comes_with_its_updates(apt: Path) -> None:
    """For the system's own suite its sources are taken as they stand, security updates included."""
    (apt / "sources.list.d" / "debian.sources").write_text(DEB822)
    suites = [source.suite for source in mirrors.sources_for("bookworm", apt)]
    assert suites == ["bookworm", "bookworm-updates", "bookworm-security"]


def test_another_suite_comes_from_the_same_mirror(apt: Path) -> None:
    """Another suite is read from the system's own mirror."""
    (apt / "sources.list").write_text(ONE_LINE)
    (only,) = mirrors.sources_for("sid", apt)
    assert only.line() == "deb [signed-by=/k.gpg arch=amd64] https://mirror.example/debian/ sid main"


def test_no_debian_mirror_is_one_clear_line(apt: Path) -> None:
    """On a system without a Debian mirror the error says so and what to do."""
    with pytest.raises(ProvisionError, match="no Debian mirror"):
        mirrors.sources_for("sid", apt)


@pytest.mark.parametrize(
    ("text", "suite"),
    [("ID=debian\nVERSION_CODENAME=bookworm\n", "bookworm"), ('VERSION_CODENAME="noble"\n', "noble"), ("ID=x\n", "")],
)
def test_the_systems_suite(tmp_path: Path, text: str, suite: str) -> None:
    """The code name is read from os-release, empty where there is none."""
    (tmp_path / "os-release").write_text(text)
    assert debian.system_suite(tmp_path / "os-release") == suite


def test_launcher_finds_its_program_from_anywhere(tmp_path: Path) -> None:
    """A launcher starts the program beside it with its libraries first, with any blanks in its path."""
    folder = tmp_path / "a b"
    (folder / "root" / "lib").mkdir(parents=True)
    program = folder / "root" / "show"
    program.write_text('#!/bin/sh\necho "$LD_LIBRARY_PATH" "$1"\n')
    program.chmod(0o755)
    write_launcher(folder, "server", program, [folder / "root" / "lib"], None)
    ran = subprocess.run(
        [str(folder / "server"), "x y"],
        cwd="/",
        env={"PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=True,
        timeout=600,
    )
    assert ran.stdout == f"{folder}/root/lib x y\n"


def place_badly() -> None:
    """Begin to place a server, and fail half-way."""
    with placing("mysql-5.7") as folder:
        (folder / "two").touch()
        folder.read_bytes()


def test_placing_is_whole_or_not_at_all(empty_shelf: Path) -> None:
    """A server whose unpacking fails doesn't appear, and the one that stood there stays."""
    with placing("mysql-5.7") as folder:
        (folder / "one").touch()
    with pytest.raises(IsADirectoryError):
        place_badly()
    assert [path.name for path in (empty_shelf / "mysql-5.7").iterdir()] == ["one"]
    assert [path.name for path in empty_shelf.iterdir()] == ["mysql-5.7"]


def test_placing_replaces_and_clears_up_after_a_kill(empty_shelf: Path) -> None:
    """A newer server takes the older one's place, and what a killed run left beside it goes."""
    (empty_shelf / ".mysql-5.7.killed").mkdir()
    for file in ("old", "new"):
        with placing("mysql-5.7") as folder:
            (folder / file).touch()
    assert [path.name for path in (empty_shelf / "mysql-5.7").iterdir()] == ["new"]
    assert [path.name for path in empty_shelf.iterdir()] == ["mysql-5.7"]


def test_the_lock_excludes_another_process(empty_shelf: Path) -> None:
    """While one process holds a server's lock, another one can't take it."""
    attempt = ["flock", "--nonblock", str(empty_shelf / ".locks" / "x"), "true"]
    with lock("x"):
        assert subprocess.run(attempt, check=False, timeout=600).returncode == 1
    assert subprocess.run(attempt, check=False, timeout=600).returncode == 0


@pytest.mark.parametrize("text", ["", "{", "[]", '{"format": 0}', "\x00"])
def test_a_broken_manifest_counts_as_none(empty_shelf: Path, text: str) -> None:
    """A manifest that can't be parsed makes the server be unpacked again."""
    (empty_shelf / "mysql-5.7").mkdir()
    (empty_shelf / "mysql-5.7" / manifest.FILE).write_text(text)
    assert manifest.read("mysql-5.7") is None


@pytest.mark.servers("all")
def test_manifest_has_existing_paths(server_name: str) -> None:
    """Every path of a provisioned server's manifest exists, and its launchers can be executed."""
    if reason := lacking(server_name):
        pytest.skip(reason)
    found = manifest.read(server_name)
    assert found is not None
    folder = shelf() / server_name
    parts = [found.basedir, found.share, found.executable, found.plugins or found.basedir, *found.libraries]
    assert [part for part in parts if not (folder / part).exists()] == []
    launchers = [found.server, *([found.print_defaults] if found.print_defaults else [])]
    assert [name for name in launchers if not os.access(folder / name, os.X_OK)] == []


def test_check_names_what_is_required_and_missing(empty_shelf: Path) -> None:
    """`--check --require` exits with 1 and names the missing servers; nothing is fetched."""
    done = provision("--check", "--require", "mysql-5.7,mariadb-10.11", MYCNF_SERVERS=str(empty_shelf))
    assert done.returncode == 1
    assert done.stderr == "provision: required but missing: mysql-5.7, mariadb-10.11\n"
    assert "not unpacked: run python tests/servers/provision.py mysql-5.7" in done.stdout
    assert [path.name for path in empty_shelf.iterdir()] == []


def test_an_unknown_name_is_a_usage_error() -> None:
    """A name that no recipe has is refused with the names that there are."""
    done = provision("mysql-3.23")
    assert done.returncode == 2
    assert done.stderr.startswith("provision: no such server: mysql-3.23; there are mysql-5.7, ")


def test_what_can_not_be_had_says_so() -> None:
    """MySQL 8.4 has one line that says why it isn't there, and doesn't fail a run that doesn't require it."""
    done = provision("--check", "mysql-8.4", "--require", "")
    assert done.stdout.startswith("mysql-8.4      can't be had: ")
    assert provision("--check", "--require", "mysql-8.4").returncode == 1


def test_a_missing_tool_is_named_with_its_package(empty_shelf: Path, tmp_path: Path) -> None:
    """Without Maven a server that comes from it is one line that names the package to install."""
    (tmp_path / "bin").mkdir()
    done = provision("mysql-5.7", MYCNF_SERVERS=str(empty_shelf), PATH=str(tmp_path / "bin"))
    assert done.returncode == 1
    assert done.stdout == "mysql-5.7      can't be had: mvn is not installed: apt-get install maven\n"


@pytest.mark.parametrize("name", list(RECIPES))
def test_what_stands_there_is_not_fetched_again(name: str, tmp_path: Path) -> None:
    """A second run finds the server without any of the tools that fetch it."""
    if reason := lacking(name):
        pytest.skip(reason)
    for tool in ("dirname", "sh"):
        (tmp_path / tool).symlink_to(f"/usr/bin/{tool}")
    done = provision(name, "--require", name, PATH=str(tmp_path))
    assert done.returncode == 0
    assert done.stdout.startswith(name)


@pytest.mark.parametrize("name", list(PARTS))
def test_a_part_runs_from_its_folder(name: str, tmp_path: Path) -> None:
    """The programs of a part print their versions, and a second run fetches nothing."""
    try:
        part = check_part(name)
    except ProvisionError as error:
        pytest.skip(f"{name} can't be had: {error}")
    assert Path(part.library).is_file()
    for program in PROGRAMS:
        flag = "-v" if program == "lsof" else "--version"
        ran = subprocess.run([f"{part.programs}/{program}", flag], capture_output=True, check=False, timeout=600)
        assert ran.returncode == 0, program
    done = provision(name, "--require", name, PATH=str(tmp_path))
    assert done.returncode == 0
    assert done.stdout.startswith(f"{name:<14} {part.version} in ")


def test_a_part_that_is_not_there_is_one_line(empty_shelf: Path) -> None:
    """A missing part fails only a run that requires it, and leaves nothing behind."""
    done = provision("--check", "galera-4", "--require", "", MYCNF_SERVERS=str(empty_shelf))
    assert done.stdout == "galera-4       can't be had: not unpacked: run python tests/servers/provision.py galera-4\n"
    assert done.returncode == 1
    assert [path.name for path in empty_shelf.iterdir()] == []


def test_marker_words() -> None:
    """The marker takes names, flavours and `all`, in the order of the recipes, and refuses what it doesn't know."""
    assert names_of([]) == names_of(["all"]) == list(RECIPES)
    assert names_of(["mysql"]) == ["mysql-5.7", "mysql-8.0", "mysql-9.7"]
    assert names_of(["mariadb-11.8", "mysql-5.7"]) == ["mysql-5.7", "mariadb-11.8"]
    with pytest.raises(pytest.UsageError, match=r"mysql-3\.23"):
        names_of(["mysql-3.23"])
