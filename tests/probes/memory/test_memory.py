"""The memory probes on this machine, compared with what lscpu reports for it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from process_checks import alive, eventually

from advisor.collect.host import open_root, read_host
from advisor.facts.host import Host
from advisor.facts.probes import ProbeResult
from probes.experiment import Environment, ProbeError, ProbeRequest
from probes.memory import drivers
from probes.memory.bandwidth import EXPERIMENT as BANDWIDTH
from probes.memory.latency import EXPERIMENT as LATENCY
from probes.memory.latency import MemoryLatency
from probes.rounds import run_experiment
from probes.stop import StopSignal

FORCED = frozenset({"busy", "neighbour", "full"})
needs_compiler = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler (cc)")
needs_lscpu = pytest.mark.skipif(shutil.which("lscpu") is None, reason="no lscpu to judge by")


def _run(experiment: object, host: Host, seconds: float, said: list[str] | None = None, **choices: str) -> ProbeResult:
    ground = Environment(host, "here", report=(said if said is not None else []).append)
    wanted = ProbeRequest("/", seconds=seconds, rounds=3, choices=choices, force=FORCED)
    return run_experiment(experiment, ground, wanted, StopSignal())


@pytest.fixture(scope="module")
def host() -> Host:
    """This machine."""
    return read_host(open_root("/"))


@needs_compiler
@needs_lscpu
def test_largest_boundary_is_a_cache(host: Host) -> None:
    """The largest boundary said to be resolved is L2 or L3, by lscpu, within a factor of two; /sys plays no part."""
    asked = subprocess.run(["lscpu", "--caches", "--json", "--bytes"], capture_output=True, text=True, check=True)
    sizes = [int(cache["one-size"]) for cache in json.loads(asked.stdout)["caches"] if cache["level"] in (2, 3)]
    if not sizes:
        pytest.skip("lscpu knows no cache here")
    result = _run(LATENCY, host, 9, largest="128M")
    boundary = result.facts["boundary"]
    found = any(size / 2 <= boundary <= size * 2 for size in sizes)
    if not found and os.getloadavg()[0] > (os.cpu_count() or 1):
        pytest.skip("other programs at work share the caches whose sizes this is about")
    assert found, (result.facts, result.notes)
    assert result.facts["measured_by"] == "compiled program"


@needs_compiler
def test_sysfs_is_labelled_and_not_needed() -> None:
    """On a host that reports nothing of its caches the probe infers all the same, and claims nothing of /sys."""
    result = _run(LATENCY, Host(), 3, largest="8M")
    assert "boundary" in result.facts
    assert not [name for name in result.facts if name.startswith("sysfs")]


@needs_compiler
def test_bandwidth_by_buffer() -> None:
    """Every buffer has its three figures, and a malloc too large for any cache of freed blocks costs page faults."""
    result = _run(BANDWIDTH, Host(), 3, buffers="16K,128K,64M")
    assert [arm.name for arm in result.arms] == ["16K", "128K", "64M"]
    assert all(set(block.metrics) == {"through", "read", "allocate"} for arm in result.arms for block in arm.blocks)
    assert result.baseline == "128K"
    if os.confstr("CS_GNU_LIBC_VERSION"):
        assert result.facts["allocation_cliff"] == 64 << 20


@pytest.mark.parametrize("experiment", [LATENCY, BANDWIDTH], ids=["latency", "bandwidth"])
def test_python_measures_without_a_compiler(experiment: object, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there is no compiler Python measures, leaves out what it can't see, and says so."""
    monkeypatch.setenv("PATH", "/nowhere")
    choices = {"largest": "1M"} if experiment is LATENCY else {"buffers": "16K,1M"}
    result = _run(experiment, Host(), 2, **choices)
    assert (result.driver, result.facts["measured_by"]) == ("python", "python")
    assert all(block.metrics and "allocate" not in block.metrics for arm in result.arms for block in arm.blocks)
    assert "without a c compiler" in " ".join((*result.notes, *result.limits)).lower()


def test_compiler_asked_for_and_absent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Asked for, an absent compiler is one line with the ways out."""
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(ProbeError, match="by=python"):
        _run(LATENCY, Host(), 2, by="compiled")


def test_compiler_that_fails(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A compiler that fails leaves the work to Python, and its first line is reported."""
    broken = tmp_path / "cc"
    broken.write_text("#!/bin/sh\necho 'stdio.h: not found' >&2\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    messages: list[str] = []
    result = _run(LATENCY, Host(), 2, messages, largest="64K")
    assert result.facts["measured_by"] == "python"
    assert any("stdio.h: not found" in line for line in messages)


@needs_compiler
def test_program_that_is_ended(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A program that something kills is one line, and its directory is gone."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with drivers.memory_driver(drivers.COMPILED, print) as answers:
        assert os.listdir(tmp_path)
        os.kill(answers._process.pid, signal.SIGKILL)  # type: ignore[attr-defined]
        with pytest.raises(ProbeError, match="choose smaller sizes"):
            answers.measure("chase", 4096, 0.01)
    assert os.listdir(tmp_path) == []


@needs_compiler
def test_nothing_outlives_a_kill(tmp_path: Path) -> None:
    """Killed by force, a run's program is gone with it, and the next run removes its directory."""
    code = (
        "from probes.memory import drivers\n"
        "with drivers.memory_driver(drivers.COMPILED, print) as answers:\n"
        "    print(answers._process.pid, flush=True); answers.measure('chase', 4096, 60)"
    )
    env = os.environ | {"TMPDIR": str(tmp_path)}
    with subprocess.Popen([sys.executable, "-c", code], env=env, stdout=subprocess.PIPE, text=True) as run_of_it:
        program = int(run_of_it.stdout.readline())
        run_of_it.kill()
    eventually(lambda: not alive(program), what="the end of the program")
    assert len(os.listdir(tmp_path)) == 1
    subprocess.run([sys.executable, "-c", code.replace("60", "0.01")], env=env, check=True, capture_output=True)
    assert os.listdir(tmp_path) == []


@needs_compiler
@pytest.mark.parametrize("line", ["", "chase", "chase 1 0.1", "nonsense 4096 0.1", "chase -5 0.1"])
def test_program_bears_any_line(line: str) -> None:
    """A line that is no question is answered with -1, and the next question is heard."""
    with drivers.memory_driver(drivers.COMPILED, print) as answers:
        assert isinstance(answers, drivers.CompiledDriver)
        assert answers.send(line) == -1
        assert answers.measure("chase", 4096, 0.01)


def test_memory_bounds_the_working_set(host: Host) -> None:
    """All chains together take no more than an eighth of what is available."""
    plan = MemoryLatency().plan(Environment(host, "here"), ProbeRequest("/", choices={"largest": "1P"}))
    assert sum(int(variant.settings["bytes"]) for variant in plan.variants) <= host.memory.available // 8
