"""Measure memory in Python, without a compiler; its overhead exceeds the latency of the first cache levels."""

from __future__ import annotations

import random
import time
from array import array
from collections.abc import Callable

Pass = Callable[[], None]

CACHE_LINE = 64
STEPS = 1000
LARGEST_CHAIN = 64 << 20  # bytes of a chain; creating a larger one in Python takes too long
SOURCE_BYTES = 128 << 20
PASS_BYTES = 1 << 20  # minimum bytes per pass, so that it can be timed accurately


class PythonDriver:
    """Measures with loops over arrays, and with copying and searching, which Python does in C."""

    name = "python"

    def __init__(self) -> None:
        self._chains: dict[int, array[int]] = {}
        self._far: bytearray | None = None

    def measure(self, what: str, size: int, seconds: float) -> float | None:
        """One measurement, as described in kernel.c.

        None for malloc, which Python hides, and for chains that are too large.
        """
        if what == "chase":
            return self._chain_latency(size, seconds) if size <= LARGEST_CHAIN else None
        if what == "through":
            return self._copy_rate(size, seconds)
        return _measure_rate(_read_pass(size), size, seconds) if what == "read" else None

    def _chain_latency(self, size: int, seconds: float) -> float:
        if size not in self._chains:
            self._chains[size] = _make_chain(size)
        chain = self._chains[size]
        at, turns = 0, []
        end = time.perf_counter() + seconds
        while True:
            began = time.perf_counter()
            for _ in range(STEPS // 10):
                at = chain[chain[chain[chain[chain[chain[chain[chain[chain[chain[at]]]]]]]]]]
            done = time.perf_counter()
            turns.append((done - began) * 1e9 / STEPS)
            if done >= end:
                return _best_tenth(turns)

    def _copy_rate(self, size: int, seconds: float) -> float:
        far = self._far = self._far or bytearray(b"\1" * SOURCE_BYTES)
        view, buffer = memoryview(far), bytearray(size)
        places = range(0, SOURCE_BYTES - size + 1, size)
        step = 0

        def turn() -> None:
            nonlocal step
            for _ in range(max(1, PASS_BYTES // size)):
                place = places[step % len(places)]
                buffer[:] = view[place : place + size]
                buffer.find(b"\0")
                step += 1

        return _measure_rate(turn, size, seconds)


def _read_pass(size: int) -> Pass:
    buffer = bytearray(b"\1" * size)

    def turn() -> None:
        for _ in range(max(1, PASS_BYTES // size)):
            buffer.find(b"\0")

    return turn


def _measure_rate(turn: Pass, size: int, seconds: float) -> float:
    turns = []
    end = time.perf_counter() + seconds
    while True:
        began = time.perf_counter()
        turn()
        done = time.perf_counter()
        turns.append(done - began)
        if done >= end:
            return max(1, PASS_BYTES // size) * size / _best_tenth(turns)


def _make_chain(size: int) -> array[int]:
    """An array whose entries form a cycle through all of its cache lines, in random order."""
    lines = list(range(0, size // 8, CACHE_LINE // 8))
    random.Random(size).shuffle(lines)  # noqa: S311 - an order, no secret
    chain = array("q", bytes(size))
    for here, there in zip(lines, lines[1:] + lines[:1], strict=True):
        chain[here] = there
    return chain


def _best_tenth(turns: list[float]) -> float:
    return sorted(turns)[len(turns) // 10]
