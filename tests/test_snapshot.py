"""A snapshot holds the facts whole, is private, and any other file in its place is refused in one line."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from advisor.core.errors import USAGE
from advisor.facts import (
    SCHEMA,
    Facts,
    FileCopy,
    Link,
    OptionFiles,
    Sample,
    Server,
    Unavailable,
    VariableOrigin,
    VariableSetter,
    Workload,
)
from advisor.facts.snapshot import SnapshotError, format_json, load, save
from advisor.redaction import redact_value

RECORDED = Path(__file__).parent / "snapshots"


def facts(**variables: str) -> Facts:
    """Facts of a small invented server."""
    server = Server(
        flavour="mysql",
        version="8.0.36",
        version_comment="MySQL Community Server",
        vendor="MySQL",
        link=Link("socket", "reader@localhost", 4711),
        variables={"datadir": "/var/lib/mysql/", **variables},
        status={"uptime": "100"},
        origins={
            "datadir": VariableOrigin("GLOBAL", "/etc/my.cnf"),
            "sync_binlog": VariableOrigin("DYNAMIC", set_by=VariableSetter("app@10.0.0.3", 1795835520)),
        },
    )
    workload = Workload(Sample(100.0, {"questions": 5}, 7), Sample(101.5, {"questions": 9}, 8))
    files = OptionFiles((FileCopy("/etc/my.cnf", "[mysqld]\n# \udce4\n", 0o644),), ("mysqld", "--user=mysql"))
    return Facts(
        SCHEMA, "mycnf 0", "2026-11-21T04:00:00+00:00", server, workload, None, files, (Unavailable("host", "x"),)
    )


@settings(max_examples=60)
@given(st.text() | st.binary().map(lambda b: b.decode("utf-8", "surrogateescape")))
@example("PASS=0")
@example("SET PASSWORD = 'hunter2'")
def test_any_text_survives(tmp_path: Path, text: str) -> None:
    """Server text comes back as it was but for its secrets."""
    save(facts(init_file=text), str(tmp_path / "snap"))
    assert load(str(tmp_path / "snap")) == facts(init_file=redact_value("init_file", text))


ODD = ["", "\0", "\r\n\t\x1b[2J", "\x7f\x85\u2028", "\ud800", "\udcff\udc00", "\ufeff\U0010ffff", "a" * 100_000, '"\\/']


@pytest.mark.parametrize("text", ODD, ids=lambda text: ascii(text[:20]))
def test_odd_text_survives(tmp_path: Path, text: str) -> None:
    """Control characters, half characters and bytes that are no UTF-8 come back to the last of them."""
    before = facts(init_file=text)
    save(before, str(tmp_path / "snap"))
    assert load(str(tmp_path / "snap")) == before


def test_a_snapshot_is_private_and_leaves_nothing_beside(tmp_path: Path) -> None:
    """The file has mode 0600 with any umask, replaces an older one whole, and no part file stays."""
    path = tmp_path / "snap"
    path.write_text("older", encoding="utf-8")
    path.chmod(0o644)
    before = os.umask(0)
    try:
        save(facts(), str(path))
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert os.listdir(tmp_path) == ["snap"]


def test_what_is_no_file_is_not_replaced(tmp_path: Path) -> None:
    """A FIFO, a directory and a device are left as they are; a folder that doesn't exist is one line."""
    os.mkfifo(tmp_path / "fifo")
    for path in (tmp_path, tmp_path / "fifo", Path("/dev/null"), tmp_path / "no" / "snap"):
        with pytest.raises(SnapshotError, match="-o"):
            save(facts(), str(path))
    assert stat.S_ISFIFO((tmp_path / "fifo").stat().st_mode)


def written(tmp_path: Path, **changes: object) -> tuple[Path, dict[str, object]]:
    """A snapshot with some of its outermost fields changed, and those fields."""
    path = tmp_path / "snap"
    save(facts(), str(path))
    fields: dict[str, object] = json.loads(path.read_text("ascii")) | changes
    path.write_text(json.dumps(fields), encoding="ascii")
    return path, fields


def test_a_newer_minor_schema_is_read(tmp_path: Path) -> None:
    """Fields that this version doesn't know are ignored within a major schema."""
    major = SCHEMA.split(".")[0]
    path, fields = written(tmp_path, schema=f"{major}.99", invented={"a": [1]})
    server = fields["server"]
    assert isinstance(server, dict)
    path.write_text(json.dumps(fields | {"server": server | {"also_new": 1}}), encoding="ascii")
    assert load(str(path)) == replace(facts(), schema=f"{major}.99")


@pytest.mark.parametrize("schema", ["2.0", "99.1", "0.9"])
def test_another_major_schema_is_refused(tmp_path: Path, schema: str) -> None:
    """A snapshot of another major schema says which it has, and what to do."""
    path, _ = written(tmp_path, schema=schema)
    with pytest.raises(SnapshotError, match=rf"has schema {schema}.*update mycnf") as caught:
        load(str(path))
    assert caught.value.code == USAGE


@pytest.mark.parametrize("share", [0.1, 0.5, 0.99])
def test_a_snapshot_cut_in_half_is_refused(tmp_path: Path, share: float) -> None:
    """Wherever a snapshot ends early, the message says cut off, on one line."""
    path, _ = written(tmp_path)
    path.write_bytes(path.read_bytes()[: int(path.stat().st_size * share)])
    with pytest.raises(SnapshotError, match=r"^[^\n]* is cut off or damaged [^\n]*$"):
        load(str(path))


REMEDIES = {"": "is empty; make one with mycnf collect", "[mysqld]\nport = 1\n": "mycnf lint reads option files"}


@pytest.mark.parametrize("text", REMEDIES)
def test_what_people_give_instead(tmp_path: Path, text: str) -> None:
    """An option file or a text never was a snapshot, so there is no advice to collect it again."""
    path = tmp_path / "other"
    path.write_text(text)
    with pytest.raises(SnapshotError, match=REMEDIES[text]):
        load(str(path))


OTHERS = {
    "empty": b"",
    "binary": bytes(range(256)) * 16,
    "text": b"[mysqld]\nport=3306\n",
    "list": b"[1, 2]",
    "number": b"12",
    "other JSON": b'{"schema": 1, "a": 2}',
    "no schema": b"{}",
    "odd schema": b'{"schema": "one"}',
    "deep": b"[" * 200_000,
    "deep object": b'{"a":' * 200_000,
    "only a schema": f'{{"schema": "{SCHEMA}"}}'.encode(),
    "wrong kinds": f'{{"schema": "{SCHEMA}", "tool": "x", "taken_at": "x", "server": 5}}'.encode(),
    "a huge number": f'{{"schema": "{SCHEMA}", "statements": {"9" * 5000}}}'.encode(),
}


@pytest.mark.parametrize("data", OTHERS.values(), ids=OTHERS)
def test_anything_else_is_refused(tmp_path: Path, data: bytes) -> None:
    """Other files, with any content, get one line that names the file."""
    path = tmp_path / "other"
    path.write_bytes(data)
    with pytest.raises(SnapshotError, match=r"^[^\n]+$") as caught:
        load(str(path))
    assert str(path) in str(caught.value)


def test_a_file_too_large_is_not_read_to_its_end(tmp_path: Path) -> None:
    """A file larger than any snapshot is refused for its size."""
    path = tmp_path / "large"
    with path.open("wb") as file:
        file.truncate((32 << 20) + 1)
    with pytest.raises(SnapshotError, match="larger than 32 MB"):
        load(str(path))


def test_what_is_no_file_is_not_opened(tmp_path: Path) -> None:
    """A missing file, a directory and a FIFO are refused without waiting."""
    os.mkfifo(tmp_path / "fifo")
    for path in (tmp_path / "none", tmp_path, tmp_path / "fifo"):
        with pytest.raises(SnapshotError):
            load(str(path))


@pytest.mark.parametrize("path", sorted(RECORDED.glob("*.json")), ids=lambda p: p.stem)
def test_released_schemas_still_load(path: Path) -> None:
    """A snapshot of each schema that was ever released still loads, with its server, host, workload and files."""
    found = load(str(path))
    assert path.stem.endswith(found.schema)
    assert found.server.variables["version"].startswith(found.server.version)
    assert found.workload is not None
    assert found.workload.seconds > 0
    assert found.host is not None
    assert found.host.memory is not None
    assert found.files is not None
    if found.schema != "1.0":
        assert found.probes
        assert all(result.rounds for result in found.probes)
    if found.schema not in ("1.0", "1.1"):
        assert found.sampled.hour("redo").workload.redo_rate > 0


def test_there_is_a_snapshot_of_this_schema() -> None:
    """The schema in force has its recorded snapshot."""
    assert (RECORDED / f"schema-{SCHEMA}.json").is_file()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(exclude_categories=())),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(JSON)
def test_it_is_laid_out_as_the_standard_library_does(document: object) -> None:
    """A name a line, and the same bytes from every version of mycnf: a snapshot that is kept twice is known by them."""
    assert format_json(document) == json.dumps(document, ensure_ascii=True, indent=1).encode("ascii")
