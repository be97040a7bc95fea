"""Drivers of the memory probes: a small compiled program if there is a C compiler, otherwise Python itself."""

from __future__ import annotations

import contextlib
import random
import shutil
import subprocess
import time
from array import array
from collections.abc import Callable
from importlib.resources import files
from typing import TYPE_CHECKING, Protocol

from probes.experiment import Choice, ProbeError
from probes.sandbox.cleanup import register, unregister
from probes.sandbox.scratch import Scratch, sweep

if TYPE_CHECKING:
    from collections.abc import Iterator

    from probes.experiment import ChosenOptions
    from probes.stop import StopSignal


COMPILED, PLAIN = "compiled program", "python"
BY_CHOICE = Choice("by", "word", "auto", "measuring program: compiled (needs a C compiler), python, or auto")
COMPILERS = ("cc", "gcc", "clang")
COMPILE_TIMEOUT = 60.0  # seconds that a compiler may take
SLICE_SECONDS = 0.5  # seconds per measurement; a request to stop is checked between them
Pass = Callable[[], None]
CACHE_LINE = 64
STEPS = 1000
LARGEST_CHAIN = 64 << 20  # bytes of a chain; creating a larger one in Python takes too long
SOURCE_BYTES = 128 << 20
PASS_BYTES = 1 << 20  # minimum bytes per pass, so that it can be timed accurately


class MemoryDriver(Protocol):
    """A driver of memory measurements; `name` is shown in the result."""

    name: str

    def measure(self, what: str, size: int, seconds: float) -> float | None:
        """One measurement, as described in kernel.c; None if this driver does not support it."""


class CompiledDriver:
    """The compiled program, connected by pipes."""

    name = COMPILED

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def measure(self, what: str, size: int, seconds: float) -> float | None:
        """One measurement; raises ProbeError if the program has ended."""
        answer = self.send(f"{what} {size} {seconds:.6f}")
        return answer if answer > 0 else None

    def send(self, line: str) -> float:
        """The answer to one line; -1 means that there is none."""
        assert self._process.stdin is not None  # noqa: S101 - both are pipes, which types don't show
        assert self._process.stdout is not None  # noqa: S101
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(line + "\n")
            self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            raise ProbeError("the measuring program ended, possibly killed for lack of memory: choose smaller sizes")
        return float(answer)


def choose_driver(chosen: ChosenOptions) -> str:
    """The driver to use; raises ProbeError if `compiled` is requested without a compiler."""
    by = chosen.word("by", "auto", "compiled", "python")
    if by == "python" or (by == "auto" and _compiler() is None):
        return PLAIN
    if _compiler() is None:
        raise ProbeError("no C compiler found: install gcc or clang, or use by=python")
    return COMPILED


def created_files(driver: str) -> tuple[str, ...]:
    """Descriptions of the files that the driver creates."""
    return ("a small compiled program in a scratch directory",) if driver == COMPILED else ()


@contextlib.contextmanager
def memory_driver(driver: str, report: Callable[[str], None]) -> Iterator[MemoryDriver]:
    """Compile and start the program in a scratch directory that is removed afterwards; Python if that fails."""
    if driver != COMPILED:
        yield PythonDriver()
        return
    sweep()  # remove what a killed run left
    with contextlib.ExitStack() as leaving:
        scratch = Scratch(needed=0)
        leaving.callback(scratch.remove)
        register(leaving)
        try:
            with _start_compiled(scratch, report) as answers:
                yield answers
        finally:
            unregister(leaving)


@contextlib.contextmanager
def _start_compiled(scratch: Scratch, report: Callable[[str], None]) -> Iterator[MemoryDriver]:
    program = scratch.file("kernel")
    try:
        _compile(program)
        process = subprocess.Popen(
            [program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
        )
    except (OSError, subprocess.SubprocessError) as error:
        report(f"cannot compile the measuring program ({_failure_text(error)}): Python measures, less precisely")
        yield PythonDriver()
        return
    try:
        yield CompiledDriver(process)
    finally:  # if mycnf is killed, the program ends by itself because its pipe is closed
        process.kill()
        with contextlib.suppress(BrokenPipeError), process:
            pass


def measure_in_slices(answers: MemoryDriver, what: str, size: int, seconds: float, stop: StopSignal) -> list[float]:
    """Repeat the same measurement for `seconds` or until stopped; at least once, unless it is not supported."""
    pieces = max(1, round(seconds / SLICE_SECONDS))
    given: list[float] = []
    for _ in range(pieces):
        answer = answers.measure(what, size, seconds / pieces)
        given += [] if answer is None else [answer]
        if stop.is_set() or answer is None:
            break
    return given


def _compiler() -> str | None:
    return next((found for found in map(shutil.which, COMPILERS) if found), None)


def _compile(program: str) -> None:
    source = files("probes.memory").joinpath("kernel.c").read_bytes()  # not by path: the package may be in a zip file
    command = [_compiler() or COMPILERS[0], "-O2", "-x", "c", "-o", program, "-"]
    subprocess.run(command, input=source, check=True, capture_output=True, timeout=COMPILE_TIMEOUT)


def _failure_text(error: Exception) -> str:
    if isinstance(error, subprocess.CalledProcessError):
        output = error.stderr.decode(errors="replace").strip().splitlines()
        return output[0] if output else f"the compiler ended with {error.returncode}"
    return getattr(error, "strerror", None) or type(error).__name__


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
