"""Processors, with `lscpu` as the judge."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from advisor.collect.host.archive import open_tar
from advisor.collect.host.cpu import read_cpu
from advisor.collect.host.root import LiveRoot

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from advisor.collect.host.root import Root
    from advisor.facts.host import Cpu, CpuKind

UNITS = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
SAME = re.compile(
    r"CPU\(s\)|On-line CPU\(s\) list|Vendor ID|Model name|CPU family|Model|Thread\(s\) per core|Core\(s\) per socket|"
    r"Socket\(s\)|Socket\(s\) per book|Book\(s\)|Book\(s\) per drawer|Drawer\(s\)|Stepping|CPU max MHz|Virtualization|"
    r"Hypervisor|Hypervisor vendor|Virtualization type|L\d[di]? cache|NUMA node\(s\)|NUMA node\d+ CPU\(s\)"
)
Fields = list[tuple[str, str]]


def numbers(text: str) -> list[int]:
    """The processors of a list as lscpu writes it, such as 0-62:2."""
    found: list[int] = []
    for part in filter(None, text.split(",")):
        first, last, step = re.fullmatch(r"(\d+)(?:-(\d+))?(?::(\d+))?", part).groups()
        found += range(int(first), int(last or first) + 1, int(step or 1))
    return sorted(found)


def fields_of(cpu: Cpu) -> list[tuple[str, object]]:
    """The lines of lscpu's summary that these facts represent, in its order."""
    rows: list[tuple[str, object]] = [("CPU(s)", cpu.logical), ("On-line CPU(s) list", list(cpu.online))]
    rows += [("Vendor ID", cpu.kinds[0].vendor)]
    for kind in cpu.kinds:
        rows += kind_rows(kind)
    rows += [("Virtualization", cpu.virtualization)]
    if cpu.hypervisor:
        rows += [("Hypervisor", cpu.hypervisor.name), ("Hypervisor vendor", cpu.hypervisor.vendor)]
        rows += [("Virtualization type", cpu.hypervisor.kind)]
    rows += [(f"{cache.name} cache", (cache.total, cache.instances)) for cache in cpu.caches]
    rows += [("NUMA node(s)", len(cpu.nodes) or None)]
    rows += [(f"NUMA node{node.number} CPU(s)", list(node.cpus)) for node in cpu.nodes]
    return [(key, value) for key, value in rows if value is not None]


def kind_rows(kind: CpuKind) -> list[tuple[str, object]]:
    rows: list[tuple[str, object]] = [
        ("Model name", kind.model_name or "-"),
        ("CPU family", kind.family),
        ("Model", kind.model),
        ("Thread(s) per core", kind.threads_per_core),
        ("Core(s) per socket", kind.cores_per_socket),
        ("Socket(s) per book", kind.sockets_per_book),
        ("Book(s) per drawer", kind.books_per_drawer),
        ("Drawer(s)", kind.drawers),
        ("Book(s)", kind.books),
        ("Socket(s)", None if kind.sockets_per_book else kind.sockets),
        ("Stepping", kind.stepping),
        ("CPU max MHz", kind.max_mhz),
    ]
    return rows


def understood(fields: Fields) -> list[tuple[str, object]]:
    """lscpu's own lines, with numbers, lists and sizes read."""
    rows: list[tuple[str, object]] = []
    for key, text in fields:
        value: object = text
        if key.endswith("cache"):
            size, unit, count = re.fullmatch(r"([\d.]+) ?(\w*?)(?: \((\d+) instances?\))?", text).groups()
            value = (float(size) * UNITS[unit or "B"], int(count) if count else None)
        elif key.startswith("On-line") or re.fullmatch(r"NUMA node\d+ CPU\(s\)", key):
            value = numbers(text)
        elif key == "CPU max MHz":
            value = float(text)
        elif re.fullmatch(r"(CPU|Thread|Core|Socket|Book|Drawer|NUMA node)\(s\).*", key):
            value = int(text)
        rows.append((key, value))
    return rows


def compare(ours: list[tuple[str, object]], theirs: list[tuple[str, object]]) -> None:
    assert [key for key, _ in ours] == [key for key, _ in theirs]
    for (key, mine), (_, value) in zip(ours, theirs, strict=True):
        if key.endswith("cache"):
            # lscpu rounds to one digit behind the point.
            assert mine[1] == value[1], key
            assert mine[0] == pytest.approx(value[0], rel=0.05), key
        else:
            assert mine == value, key


def summary(text: str) -> Fields:
    """The first paragraph of a recorded expectation, cut down to what the reader returns."""
    lines = (line.partition(":") for line in text.partition("\n\n")[0].split("\n"))
    return [(key, value.strip()) for key, _, value in lines if SAME.fullmatch(key)]


def expected_of(machine: Path) -> str:
    return machine.with_name(machine.name.replace(".tar.gz", ".expected.txt")).read_text()


def test_recorded_machine_is_counted_as_lscpu_counts_it(lscpu_machine: Path) -> None:
    """Every line of lscpu's summary that the facts cover agrees, for any recorded machine in the folder."""
    ours = fields_of(read_cpu(open_tar(str(lscpu_machine))))
    compare(ours, understood(summary(expected_of(lscpu_machine))))


def test_recorded_caches_are_shared_as_lscpu_parse_says(lscpu_machine: Path) -> None:
    """The number of instances and the most processors on one agree with lscpu's table of processors."""
    _, paragraph, _ = expected_of(lscpu_machine).split("\n\n", 2)
    lines = paragraph.strip().split("\n")
    names = lines[3].removeprefix("# ").split(",")
    table = [line.split(",") for line in lines[4:]]
    caches = {cache.name: cache for cache in read_cpu(open_tar(str(lscpu_machine))).caches if cache.instances}
    online = {int(row[0]) for row in table}
    for name, cache in caches.items():
        users = Counter(row[names.index(name)] for row in table)
        assert len(users) <= cache.instances
        if online == set(range(len(online))):
            assert (len(users), max(users.values())) == (cache.instances, cache.shared_by), name


def test_recorded_totals_follow_from_the_kinds(lscpu_machine: Path) -> None:
    """The machine's cores are the kinds' cores together, and no socket is counted without a core."""
    cpu = read_cpu(open_tar(str(lscpu_machine)))
    assert cpu
    assert cpu.cores == sum(kind.cores for kind in cpu.kinds)
    assert 0 < cpu.sockets <= cpu.cores <= cpu.logical


@pytest.mark.skipif(not shutil.which("lscpu"), reason="lscpu is not installed")
def test_this_machine_is_counted_as_lscpu_counts_it() -> None:
    """The live reader and lscpu say the same of the machine that the test runs on."""
    out = subprocess.run(
        ["lscpu", "-B", "-J"], env={**os.environ, "LC_ALL": "C"}, capture_output=True, text=True, check=True
    )
    fields = [(key, value) for key, value in flat(json.loads(out.stdout)["lscpu"]) if SAME.fullmatch(key) and value]
    ours = fields_of(cpu := read_cpu(LiveRoot()))
    if cpu.hypervisor is None or cpu.hypervisor.vendor == "unknown":
        # lscpu asks the processor itself, which files don't always repeat.
        rows = ("Hypervisor", "Hypervisor vendor", "Virtualization type")
        ours = [(key, value) for key, value in ours if key not in rows]
        fields = [(key, value) for key, value in fields if key not in rows]
    compare(ours, understood(fields))
    assert cpu.architecture == os.uname().machine


def flat(rows: list[dict[str, object]]) -> Fields:
    """The rows of lscpu's JSON; newer versions nest them."""
    found: Fields = []
    for row in rows:
        found.append((str(row["field"]).rstrip(":"), str(row["data"] or "")))
        found += flat(row.get("children", []))
    return found


def cpus(count: int, **files: str) -> dict[str, str]:
    """A machine of single-threaded cores in one socket, with more files for each processor."""
    every = f"{(1 << count) - 1:x}\n"
    base = "/sys/devices/system/cpu"
    made = {f"{base}/{name}": f"0-{count - 1}\n" for name in ("online", "present", "possible")}
    for cpu in range(count):
        made[f"{base}/cpu{cpu}/topology/thread_siblings"] = f"{1 << cpu:x}\n"
        made[f"{base}/cpu{cpu}/topology/core_siblings"] = every
        made |= {f"{base}/cpu{cpu}/{name.replace('__', '/')}": text for name, text in files.items()}
    return made


def test_processor_on_its_way_offline_is_not_counted(tree: Callable[[dict[str, str]], Root]) -> None:
    """A processor whose hot-plug state isn't the final one still shows siblings, which must not count."""
    files = cpus(4, hotplug__state="238\n")
    files["/sys/devices/system/cpu/hotplug/states"] = "  0: offline\n238: online\n"
    files["/sys/devices/system/cpu/cpu3/hotplug/state"] = "137\n"
    cpu = read_cpu(tree(files))
    assert (cpu.cores, cpu.logical) == (3, 4)


def test_cache_without_number_is_distinguished_by_its_users(tree: Callable[[dict[str, str]], Root]) -> None:
    """Old kernels give caches no id: two caches that share no processor are two."""
    files = cpus(4)
    for cpu in range(4):
        base = f"/sys/devices/system/cpu/cpu{cpu}/cache/index0"
        files |= {f"{base}/level": "2\n", f"{base}/type": "Unified\n", f"{base}/size": "1024K\n"}
        files[f"{base}/shared_cpu_map"] = "3\n" if cpu < 2 else "c\n"
    cache = read_cpu(tree(files)).cache("L2")
    assert (cache.instances, cache.size, cache.total, cache.shared_by) == (2, 1 << 20, 2 << 20, 2)


def test_caches_of_different_sizes_add_up(tree: Callable[[dict[str, str]], Root]) -> None:
    """Big and little cores have caches of one name and two sizes: the total is their sum, the size the largest."""
    files = cpus(2, cache__index0__level="1\n", cache__index0__type="Data\n")
    for cpu, size in ((0, "32K"), (1, "64K")):
        files[f"/sys/devices/system/cpu/cpu{cpu}/cache/index0/size"] = size
        files[f"/sys/devices/system/cpu/cpu{cpu}/cache/index0/shared_cpu_map"] = f"{1 << cpu:x}"
    cache = read_cpu(tree(files)).cache("L1d")
    assert (cache.instances, cache.size, cache.total) == (2, 64 << 10, 96 << 10)


@pytest.mark.parametrize(
    ("files", "vendor", "kind"),
    [
        ({"available_clocksource": "kvm-clock tsc\n"}, "KVM", "full"),
        ({"available_clocksource": "hyperv_clocksource_tsc_page acpi_pm\n"}, "Microsoft", "full"),
        ({"sys_vendor": "VMware, Inc.\n"}, "VMware", "full"),
        ({"sys_vendor": "Amazon EC2\n", "product_name": "m7i.metal-24xl\n"}, "unknown", "full"),
        ({}, "unknown", "full"),
    ],
)
def test_guest_names_its_hypervisor_where_a_file_does(
    tree: Callable[[dict[str, str]], Root], files: dict[str, str], vendor: str, kind: str
) -> None:
    """A clock source or the firmware names the hypervisor; the processor's flag alone says only that there is one."""
    where = {"available_clocksource": "/sys/devices/system/clocksource/clocksource0/"}
    made = {where.get(name, "/sys/class/dmi/id/") + name: text for name, text in files.items()}
    found = read_cpu(tree({**cpus(1), **made, "/proc/cpuinfo": "processor: 0\nflags: lm hypervisor\n"})).hypervisor
    assert (found.vendor, found.kind) == (vendor, kind)


def test_bare_metal_has_no_hypervisor(tree: Callable[[dict[str, str]], Root]) -> None:
    """A maker's name without the processor's flag is a machine of that maker."""
    files = {"/proc/cpuinfo": "processor: 0\nflags: lm\n", "/sys/class/dmi/id/sys_vendor": "Amazon EC2\n"}
    assert read_cpu(tree({**cpus(1), **files})).hypervisor is None


def test_root_without_processors_gives_none(tree: Callable[[dict[str, str]], Root]) -> None:
    """Where /sys lists no processor there is nothing to count."""
    assert read_cpu(tree({"/proc/cpuinfo": "processor: 0\n"})) is None
