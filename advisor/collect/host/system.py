"""The operating system: distribution, kernel, memory and its settings, and signs of a container or a cloud."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from advisor.collect.host.formats import (
    bracketed_choice,
    key_values,
    parse_number,
    parse_size,
    printable_line,
    read_line,
    read_number,
)
from advisor.facts.host import Memory, OperatingSystem

if TYPE_CHECKING:
    from advisor.collect.host.root import Root


_DMI = "/sys/class/dmi/id"
_DMI_FIELDS = ("sys_vendor", "product_name", "board_vendor", "bios_vendor", "bios_version", "chassis_asset_tag")

_CLOUDS = (
    ("Amazon EC2", "Amazon EC2"), ("amazon", "Amazon EC2"), ("Google Compute Engine", "Google Cloud"),
    ("7783-7084-3265-9085-8269-3286-77", "Azure"), ("OracleCloud.com", "Oracle Cloud"),
    ("Alibaba Cloud", "Alibaba Cloud"),
    ("Tencent Cloud", "Tencent Cloud"), ("DigitalOcean", "DigitalOcean"), ("Hetzner", "Hetzner"), ("Vultr", "Vultr"),
    ("Scaleway", "Scaleway"), ("UpCloud", "UpCloud"), ("Exoscale", "Exoscale"),
    ("Linode", "Akamai"), ("Akamai", "Akamai"), ("OpenStack", "OpenStack"), ("CloudStack", "CloudStack"),
)  # fmt: skip
"""Strings in the firmware of cloud machines; cloud-init's ds-identify uses the same ones."""

_IN_CGROUP = (
    ("docker", "docker"), ("kubepods", "kubernetes"), ("libpod", "podman"), ("lxc", "lxc"), ("machine.slice", "nspawn"),
)  # fmt: skip
_HUGE = "/sys/kernel/mm/transparent_hugepage"


def read_system(root: Root) -> OperatingSystem | None:
    """The operating system; None without even a kernel version."""
    kernel = read_line(root, "/proc/sys/kernel/osrelease") or _kernel_of(root.read("/proc/version", 4096))
    release = _release(root)
    if kernel is None and not release:
        return None
    firmware = {field: read_line(root, f"{_DMI}/{field}") or "" for field in _DMI_FIELDS}
    uptime = parse_number((root.read("/proc/uptime", 64) or "").partition(".")[0])
    boot = parse_number(key_values(root.read("/proc/stat"), " ").get("btime"))
    return OperatingSystem(
        kernel=kernel,
        hostname=read_line(root, "/proc/sys/kernel/hostname"),
        distribution=release.get("PRETTY_NAME") or release.get("NAME"),
        distribution_id=release.get("ID"),
        version=release.get("VERSION_ID"),
        time=boot + uptime if boot is not None and uptime is not None else None,
        uptime=uptime,
        clocksource=read_line(root, "/sys/devices/system/clocksource/clocksource0/current_clocksource"),
        product=" ".join(filter(None, (firmware["sys_vendor"], firmware["product_name"]))) or None,
        cloud=next((name for sign, name in _CLOUDS if any(sign in value for value in firmware.values())), None),
        containers=_containers(root),
        aio_max=read_number(root, "/proc/sys/fs/aio-max-nr"),
        aio_used=read_number(root, "/proc/sys/fs/aio-nr"),
        open_files_max=read_number(root, "/proc/sys/fs/file-max"),
        listen_backlog_max=read_number(root, "/proc/sys/net/core/somaxconn"),
    )


def _kernel_of(version: str | None) -> str | None:
    found = re.match(r"Linux version (\S+)", version or "")
    return printable_line(found[1]) if found else None


def _release(root: Root) -> dict[str, str]:
    """The assignments in os-release(5), without quotes."""
    rows = key_values(root.read("/etc/os-release", 1 << 16) or root.read("/usr/lib/os-release", 1 << 16), "=")
    return {key: shown for key, value in rows.items() if (shown := printable_line(value.strip("\"'")))}


def _containers(root: Root) -> tuple[str, ...]:
    """Signs that this is a container, not only a machine that runs containers."""
    signs = ["docker"] if root.real("/.dockerenv") else []
    signs += ["podman"] if root.real("/run/.containerenv") else []
    signs += filter(None, [read_line(root, "/run/systemd/container")])
    groups = root.read("/proc/1/cgroup", 1 << 16) or ""
    signs += [name for sign, name in _IN_CGROUP if sign in groups]
    return tuple(dict.fromkeys(signs))


def read_memory(root: Root) -> Memory | None:
    """Read /proc/meminfo and the settings under /proc/sys/vm; None without a total."""
    rows = key_values(root.read("/proc/meminfo"))
    sizes = {key: parse_size(value) for key, value in rows.items()}
    total = sizes.get("MemTotal")
    if not total:
        return None

    def setting(name: str) -> int | None:
        return read_number(root, f"/proc/sys/{name}")

    return Memory(
        total=total,
        available=sizes.get("MemAvailable"),
        free=sizes.get("MemFree"),
        swap_total=sizes.get("SwapTotal") or 0,
        swap_free=sizes.get("SwapFree") or 0,
        huge_page=sizes.get("Hugepagesize"),
        huge_pages_total=sizes.get("HugePages_Total") or 0,
        huge_pages_free=sizes.get("HugePages_Free") or 0,
        anonymous_huge=sizes.get("AnonHugePages"),
        committed=sizes.get("Committed_AS"),
        commit_limit=sizes.get("CommitLimit"),
        thp=bracketed_choice(root.read(f"{_HUGE}/enabled", 256)),
        thp_defrag=bracketed_choice(root.read(f"{_HUGE}/defrag", 256)),
        swappiness=setting("vm/swappiness"),
        dirty_ratio=setting("vm/dirty_ratio"),
        dirty_background_ratio=setting("vm/dirty_background_ratio"),
        dirty_bytes=setting("vm/dirty_bytes"),
        dirty_background_bytes=setting("vm/dirty_background_bytes"),
        overcommit_memory=setting("vm/overcommit_memory"),
        overcommit_ratio=setting("vm/overcommit_ratio"),
        zone_reclaim_mode=setting("vm/zone_reclaim_mode"),
        numa_balancing=setting("kernel/numa_balancing"),
    )
