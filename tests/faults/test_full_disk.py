"""A disk that is full: one line that says so and what to do, exit code 2, the old file whole and nothing beside it."""

from __future__ import annotations

import pytest
from mycnf_command import CHECKOUT
from real_servers import Server
from small_disk import Disk

from advisor.__main__ import main
from advisor.facts import Sample
from advisor.fleet import run_directory as fleet
from advisor.fleet.run_directory import HostRow
from advisor.state import sample_ring
from advisor.state.sample_ring import ring_path
from advisor.state.sample_ring import save_sample as keep_sample

SNAPSHOT = str(CHECKOUT / "examples" / "snapshots" / "mariadb-10.11.json")
BAD = str(CHECKOUT / "examples" / "bad.cnf")
FIXABLE = "[mysqld]\nmax_binlog_size=4000\n" + "# a line of the file's owner\n" * 20
OLD = "the old one"
BASELINE = '{\n "version": 1,\n "findings": []\n}\n'
MARIADB = "mariadb-10.11"
AUDIT = ("audit", "--isolated", "--snapshot", SNAPSHOT)
MANY = ("report", "--isolated", "--jobs", "1", SNAPSHOT, SNAPSHOT)
LINT = ("lint", "--isolated", "--target", "mysql-8.4", BAD)

# The command, and what lies there before it: each writes a file, out or another.
WRITERS: dict[str, tuple[tuple[str, ...], dict[str, str]]] = {
    "lint -o": ((*LINT, "--format", "json", "-o", "out"), {"out": OLD}),
    "lint -o, new": ((*LINT, "--format", "concise", "-o", "out"), {}),
    "lint --write-baseline": ((*LINT, "--write-baseline", "out"), {"out": BASELINE}),
    "lint --fix": (("lint", "--isolated", "--target", "mysql-8.4", "--fix", "my.cnf"), {"my.cnf": FIXABLE}),
    "show -o": (("show", BAD, "--target", "mysql-8.4", "-o", "out"), {"out": OLD}),
    "upgrade -o": (("upgrade", "--from", "mysql-5.7", "--to", "mysql-8.4", BAD, "-o", "out"), {"out": OLD}),
    "audit -o": ((*AUDIT, "--format", "html", "-o", "out"), {"out": OLD}),
    "audit --write-baseline": ((*AUDIT, "--write-baseline", "out"), {"out": BASELINE}),
    "audit --keep": ((*AUDIT, "--format", "text", "--keep"), {}),
    "report -o": (("report", "--isolated", SNAPSHOT, "--format", "markdown", "-o", "out"), {"out": OLD}),
    **{
        f"report many -o, {form}": ((*MANY, "--format", form, "-o", "out"), {"out": OLD})
        for form in ("jsonl", "html", "prometheus")  # one of each way in which they are written
    },
    "preflight -o": (("preflight", "--snapshot", SNAPSHOT, "-o", "out"), {"out": OLD}),
    "diff -o": (("diff", SNAPSHOT, "mariadb-10.11", "-o", "out"), {"out": OLD}),
    "suggest -o": (("suggest", "--ram", "8G", "--cpus", "4", "-o", "out"), {"out": OLD}),
    "suggest --write-diff -o": (
        ("suggest", "--ram", "8G", "--target", "mysql-8.4", "--write-diff", BAD, "-o", "out"),
        {"out": OLD},
    ),
    "history add": (("history", "add", SNAPSHOT), {}),
    "probe -o": (("probe", "-o", "out"), {"out": OLD}),
}


def one_line(message: str, *, of: int = 1) -> str:
    """The last line, which says what was full, of no more lines than that."""
    lines = message.splitlines()
    assert 0 < len(lines) <= of, message
    assert "No space left on device" in lines[-1] or "File too large" in lines[-1], message
    return lines[-1]


@pytest.mark.parametrize("writer", WRITERS)
def test_the_old_file_stays_whole(writer: str, disk: Disk, capsys: pytest.CaptureFixture[str]) -> None:
    """For any output: the command says that it couldn't write it, and everything is as it was."""
    words, before = WRITERS[writer]
    for name, text in before.items():
        (disk.place / name).write_text(text)
        (disk.place / name).chmod(0o640)
    there = disk.files()
    with disk.full():
        code = main(list(words))
    printed = capsys.readouterr().err
    assert code == 2, printed
    one_line(printed, of=4)
    assert "internal error" not in printed
    assert "Traceback" not in printed
    assert disk.files() == there


@pytest.mark.parametrize("disk", ["limit"], indirect=True)  # none as yet: any directory does
@pytest.mark.parametrize("writer", [name for name, (_, before) in WRITERS.items() if before])
def test_with_room_again_it_is_written(writer: str, disk: Disk) -> None:
    """The same command on a disk with room replaces the file, with the mode that this had."""
    words, before = WRITERS[writer]
    (name,) = before
    file = disk.place / name
    file.write_text(before[name])
    file.chmod(0o640)
    assert main(list(words)) in (0, 1)
    assert file.read_text() not in ("", before[name])
    assert file.stat().st_mode & 0o777 == 0o640
    assert set(disk.files()) == {name}


def test_a_live_server_with_nowhere_to_keep_it(disk: Disk, server: Server, capsys: pytest.CaptureFixture[str]) -> None:
    """Neither collect, audit --keep nor sample leave anything half written, and each says so in a line."""
    there = ("--socket", server(MARIADB).socket, "--user", "root")
    (disk.place / "snap.json").write_text(OLD)
    before = disk.files()
    for words in (("collect", "-o", "snap.json", "--window", "0"), ("collect", "--keep", "--window", "0"), ("sample",)):
        with disk.full():
            assert main([*words, *there]) == 2
        one_line(capsys.readouterr().err)
        assert disk.files() == before


@pytest.mark.parametrize("disk", ["tmpfs"], indirect=True)  # a limit forbids writing behind it, room or not
def test_a_ring_that_is_there_needs_no_room(disk: Disk) -> None:
    """All its slots are: samples go on being kept on a disk that filled up since."""
    server = {"hostname": "db1"}
    keep_sample(Sample(5000.0, {"questions": 1}, 1), server, 1_795_262_400)
    with disk.full():
        assert keep_sample(Sample(5600.0, {"questions": 2}, 2), server, 1_795_263_000).held == 2
    assert [entry.uptime for entry in sample_ring.read(ring_path(server))[1]] == [5000, 5600]


def test_a_row_of_a_fleet(disk: Disk) -> None:
    """What came of a host before stays, whole."""
    fleet.prepare_directory("run", resume=False)
    fleet.write_row("run", HostRow(name="db1", reason="first"))
    with disk.full(), pytest.raises(OSError, match=r"db1\.row"):
        fleet.write_row("run", HostRow(name="db1", reason="second"))
    kept = fleet.read_row("run", "db1")
    assert kept is not None
    assert kept.reason == "first"
    assert not [name for name in disk.files() if name.endswith(".part")]


def test_parquet(disk: Disk, capsys: pytest.CaptureFixture[str]) -> None:
    """The format of another library, which writes itself, is no exception."""
    pytest.importorskip("pyarrow")
    (disk.place / "out").write_text(OLD)
    with disk.full():
        assert main([*MANY, "--format", "parquet", "-o", "out"]) == 2
    one_line(capsys.readouterr().err)
    assert disk.files() == {"out": OLD.encode()}
