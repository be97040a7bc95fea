"""The shapes of /proc/cpuinfo, one an architecture; the blocks are cut from real ones."""

from __future__ import annotations

from advisor.collect.host import cpuinfo

X86 = "processor\t: {0}\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 143\nmodel name\t: Xeon\n\n"
ARM64 = "processor\t: {0}\nBogoMIPS\t: 38.40\nCPU implementer\t: 0x41\nCPU part\t: {1}\nCPU variant\t: 0x1\n\n"
POWER = (
    "processor\t: {0}\ncpu\t\t: POWER9, altivec supported\nclock\t\t: 3800.0MHz\nrevision\t: 2.3 (pvr 004e 1203)\n\n"
)
POWER_END = "timebase\t: 512000000\nplatform\t: pSeries\nmodel\t\t: IBM,9009-42A\nmachine\t\t: CHRP IBM,9009-42A\n"


def test_processors_of_one_kind_are_one_kind() -> None:
    """A block a processor, all alike, is one kind that all processors are of."""
    info = cpuinfo.parse("".join(X86.format(n) for n in range(3)))
    assert [kind.get("name") for kind in info.kinds] == ["Xeon"]
    assert info.kind_of == {0: 0, 1: 0, 2: 0}


def test_big_and_little_cores_are_two_kinds() -> None:
    """Processors that differ by part number are of two kinds, each with its own processors."""
    info = cpuinfo.parse(ARM64.format(0, "0xd46") + ARM64.format(1, "0xd4d") + ARM64.format(2, "0xd46"))
    assert [kind.get("model") for kind in info.kinds] == ["0xd46", "0xd4d"]
    assert info.kind_of == {0: 0, 1: 1, 2: 0}


def test_facts_of_the_whole_power_machine_make_no_kind() -> None:
    """POWER's closing lines hold the machine's model, which must not make a kind of the last processor."""
    info = cpuinfo.parse(POWER.format(0) + POWER.format(1) + POWER_END)
    assert [kind.get("revision") for kind in info.kinds] == ["2.3 (pvr 004e 1203)"]
    assert set(info.kind_of.values()) == {0}


def test_kind_that_comes_after_the_processors_is_theirs() -> None:
    """Old ARM kernels list processors first and their kind once, at the end."""
    processors = "".join(f"processor\t: {n}\nBogoMIPS\t: 48\n\n" for n in range(2))
    info = cpuinfo.parse(processors + "Features\t: swp\nCPU implementer\t: 0x41\nCPU part\t: 0xc0f\n")
    assert [kind.get("model") for kind in info.kinds] == ["0xc0f"]
    assert {info.kind_index(cpu) for cpu in (0, 1)} == {0}


def test_shared_caches_of_s390_are_read_and_private_ones_left_to_sysfs() -> None:
    """Only caches with a shared scope come from here, since /sys has the others."""
    text = (
        "cache0 : level=1 type=Data scope=Private size=128K line_size=256 associativity=8\n"
        "cache4 : level=3 type=Unified scope=Shared size=65536K line_size=256 associativity=16\n"
    )
    assert cpuinfo.parse(text).caches == (cpuinfo.SharedCache("L3", 3, 64 << 20),)


def test_arm_numbers_have_names() -> None:
    """Implementer and part name the core; what isn't in the table has no name, and only ARM's own release is rXpY."""
    assert cpuinfo.vendor_name("0x41") == "ARM"
    assert cpuinfo.core_name("0x41", "0xd0c") == "Neoverse-N1"
    assert cpuinfo.core_name("0x41", "0xfff") is None
    assert cpuinfo.core_name("GenuineIntel", "143") is None
    assert cpuinfo.stepping_name("0x41", "0x3", "1") == "r3p1"
    assert cpuinfo.stepping_name("0xc0", "0x3", "1") == "0x3"
