"""Record a real server's packets during an audit, for the hostile server."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from hostile_server import ERROR, HEADER, MORE, OK, QUERY, Recording, is_end, key, read_packet

from advisor.collect.collect import CollectRequest, collect_from_account
from advisor.collect.connection.options import Account


def record(server: str, folder: Path) -> Recording:
    """The packets of the server at this socket during an audit as root."""
    hello: list[bytes] = []
    answers: dict[str, tuple[bytes, ...]] = {}
    place = str(folder / "listen.sock")
    with _between(place, server, hello, answers):
        facts = collect_from_account(Account("root", socket=place), CollectRequest(window=0.01))
    assert not facts.lost
    assert len(facts.server.variables) > 400
    return Recording(tuple(hello), answers)


@contextmanager
def _between(place: str, server: str, hello: list[bytes], answers: dict[str, tuple[bytes, ...]]) -> Iterator[None]:
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(place)
        listening.listen()

        def pass_on() -> None:
            with suppress(OSError), listening.accept()[0] as client, socket.socket(socket.AF_UNIX) as to:
                to.connect(server)
                _listen(client, to, hello, answers)

        thread = threading.Thread(target=pass_on, daemon=True)
        thread.start()
        yield
        thread.join(10)


def _listen(
    client: socket.socket, server: socket.socket, hello: list[bytes], answers: dict[str, tuple[bytes, ...]]
) -> None:
    asked, responses = client.makefile("rb"), server.makefile("rb")
    hello.append(read_packet(responses))
    client.sendall(hello[0])
    while hello[-1][HEADER] not in (OK, ERROR) or len(hello) == 1:
        if hello[-1][HEADER] != MORE:
            server.sendall(read_packet(asked))
        hello.append(read_packet(responses))
        client.sendall(hello[-1])
    while statement := read_packet(asked):
        server.sendall(statement)
        if statement[HEADER] != QUERY:
            return
        whole = tuple(_answer(responses))
        answers[key(statement[HEADER + 1 :].decode())] = whole
        client.sendall(b"".join(whole))


def _answer(responses: BinaryIO) -> Iterator[bytes]:
    """The packets of one answer: only a success or an error, or columns, an end packet, rows, and an end packet."""
    yield (first := read_packet(responses))
    ends = 0 if first[HEADER] in (OK, ERROR) else 2
    while ends:
        yield (whole := read_packet(responses))
        ends -= is_end(whole)
        if whole[HEADER] == ERROR:
            return
