"""A fleet before servers that mean harm: each is a row with its reason, and the others are audited all the same."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import ExitStack

from fleet_run import Ground
from hostile_recording import record
from hostile_server import Cut, Mischief, Recording, hostile, key
from live_server import Live
from real_servers import Server

from advisor.facts.snapshot import load
from tests.hostile.conftest import TURNS
from tests.hostile.endless import TOO_LITTLE, TOO_MUCH, endless_rows
from tests.hostile.framing import Packets, later, only, sized
from tests.hostile.heavy import HEAVY
from tests.hostile.noanswer import NO_ANSWER

NAME = "mariadb-10.11"


def _cut(_: str, __: Packets) -> Iterable[bytes]:
    raise Cut


# A server's mischief, how its host ends, and what is said of it.
HARM: dict[str, tuple[Mischief, str, str]] = {
    "endless": (endless_rows(sized(b"x" * 5000) * 4), "lost", "its answer is larger than 8M"),
    "silent": (TOO_LITTLE["silence"], "silent", "did not answer properly in time"),
    "cut": (only(later, _cut), "lost", "the connection was lost during 'SHOW GLOBAL VARIABLES'"),
    "curious": (only(later, NO_ANSWER["asks for a file"]), "lost", "it asks for a file of this host, and got none"),
    "heavy": (HEAVY["names of columns at length"], "audited", ""),
}


def others(recording: Recording) -> dict[str, Mischief]:
    """All other kinds of harm, and a cut at each statement; with MYCNF_TURNS they are tried too."""
    asked = enumerate(recording.answers)
    cuts = {f"cut at {at}": only(lambda answer, one=one: key(answer) == one, _cut) for at, one in asked}  # type: ignore[misc] # the loop's
    return {**TOO_MUCH, **TOO_LITTLE, **NO_ANSWER, **HEAVY, **cuts}


def test_hostile_servers_are_rows(ground: Ground, server: Server, local: Callable[[Live], dict[str, object]]) -> None:
    """Rows without end, silence, a cut, requests for files, too much to keep: the good one among them is audited."""
    live = Live(NAME, server(NAME))
    recording = record(live.sandbox.socket, ground.place)
    harm = {**({} if TURNS == 1 else others(recording)), **{name: mischief for name, (mischief, _, _) in HARM.items()}}
    hosts = {"good": local(live)}
    with ExitStack() as stack:
        heard = {}
        for number, (name, mischief) in enumerate(harm.items()):
            place = str(ground.place / f"{number}.sock")
            heard[name], _ = stack.enter_context(hostile(recording, place, mischief))
            hosts[name] = {**hosts["good"], "mycnf_socket": place}
        ground.inventory({"db": hosts})
        # Longer than the silent one is listened to, for the others may need it on a busy host.
        ended = ground.fleet("--window", "0", "--timeout", "120", "--forks", "6")
    assert ended.code == 2, ended
    rows = ground.rows()
    assert rows.keys() == hosts.keys()
    assert (rows["good"]["status"], rows["good"]["reason"]) == ("audited", None)
    assert [name for name, row in rows.items() if (row["status"] == "audited") is bool(row["reason"])] == []
    for name, (_, status, why) in HARM.items():
        assert (rows[name]["status"], why in (rows[name]["reason"] or "")) == (status, True), rows[name]
    assert not any(b"root:" in packet for one in heard.values() for packet in one.packets)
    assert "Traceback" not in ended.err
    lacking = load(str(ground.run_directory / rows["heavy"]["snapshot"])).reason_missing("server.replication")
    assert "too many rows and columns" in lacking
