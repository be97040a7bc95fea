"""Distribution, kernel, and the signs of a container or a cloud."""

from __future__ import annotations

import os
import platform
from typing import TYPE_CHECKING

import pytest

from advisor.collect.host.host import read_system
from advisor.collect.host.root import MAX_READ, LiveRoot

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from advisor.collect.host.root import Root

    Make = Callable[[dict[str, str]], Root]

KERNEL = {"/proc/sys/kernel/osrelease": "6.1.0-18-amd64\n"}


def test_this_machine_is_what_uname_says() -> None:
    """Kernel and name are uname's, the distribution the standard library's reading of os-release."""
    system = read_system(LiveRoot())
    assert (system.kernel, system.hostname) == (os.uname().release, os.uname().nodename)
    assert system.distribution_id == platform.freedesktop_os_release().get("ID")


def test_time_is_boot_time_and_uptime(tree: Make) -> None:
    """The clock of a recorded host is what its kernel counted when it was recorded."""
    root = tree({**KERNEL, "/proc/stat": "cpu 1 2\nbtime 1700000000\n", "/proc/uptime": "3600.25 7200.00\n"})
    assert (read_system(root).time, read_system(root).uptime) == (1700003600, 3600)


class ContainerOfLxc(LiveRoot):
    """A container whose uptime is its own, while the boot time is that of its host."""

    def read(self, path: str, limit: int = MAX_READ) -> str | None:
        """See Root."""
        return "1.00 1.00\n" if path == "/proc/uptime" else super().read(path, limit)


def test_time_of_a_live_host_is_its_clock(tmp_path: Path) -> None:
    """lxcfs replaces the uptime and leaves the boot time: the time is that of files written meanwhile."""
    before, after = tmp_path / "before", tmp_path / "after"
    before.touch()
    system = read_system(ContainerOfLxc())
    after.touch()
    assert system.uptime == 1
    assert int(before.stat().st_mtime) <= system.time <= after.stat().st_mtime + 1


@pytest.mark.parametrize(
    ("firmware", "cloud"),
    [
        ({"sys_vendor": "Amazon EC2", "product_name": "m6i.large"}, "Amazon EC2"),
        ({"sys_vendor": "Xen", "bios_version": "4.11.amazon"}, "Amazon EC2"),
        ({"sys_vendor": "Google", "product_name": "Google Compute Engine"}, "Google Cloud"),
        ({"sys_vendor": "Microsoft Corporation", "chassis_asset_tag": "7783-7084-3265-9085-8269-3286-77"}, "Azure"),
        ({"sys_vendor": "Microsoft Corporation", "product_name": "Virtual Machine"}, None),
        ({"sys_vendor": "Dell Inc.", "product_name": "PowerEdge R750"}, None),
    ],
)
def test_cloud_shows_in_the_firmware(tree: Make, firmware: dict[str, str], cloud: str | None) -> None:
    """Each cloud writes a sign of its own; the same hypervisor elsewhere is no cloud."""
    root = tree(KERNEL | {f"/sys/class/dmi/id/{name}": f"{text}\n" for name, text in firmware.items()})
    assert read_system(root).cloud == cloud


def test_os_release_is_read_without_its_quotes(tree: Make) -> None:
    """Values may be quoted either way or not at all; /usr/lib has the file where /etc has not."""
    text = "PRETTY_NAME='Rocky Linux 9.3'\nID=\"rocky\"\nVERSION_ID=9.3\n"
    system = read_system(tree({"/usr/lib/os-release": text}))
    assert (system.distribution, system.distribution_id, system.version) == ("Rocky Linux 9.3", "rocky", "9.3")


def test_container_is_hinted_at_from_inside(tree: Make) -> None:
    """The marks that container engines leave inside; a host that merely runs containers has none of them."""
    assert read_system(tree(KERNEL)).containers == ()
    root = tree({"/.dockerenv": "", "/proc/1/cgroup": "0::/kubepods.slice/pod1/abc\n"})
    assert read_system(root).containers == ("docker", "kubernetes")


@pytest.mark.parametrize(
    "mount",
    [
        "9 1 8:1 /var/lib/kubelet/pods/0a1b/containers/mysql/7c /dev/termination-log rw - ext4 /dev/sda1 rw",
        "9 1 8:1 /pods/0a1b/etc-hosts /etc/hosts rw - xfs /dev/sdb rw",
    ],
)
def test_pod_is_known_by_what_the_kubelet_mounts(tree: Make, mount: str) -> None:
    """A control group namespace hides the path that names Kubernetes; a node has such directories, but not there."""
    files = KERNEL | {"/proc/1/cgroup": "0::/\n"}
    assert read_system(tree(files | {"/proc/self/mountinfo": f"{mount}\n"})).containers == ("kubernetes",)
    node = "9 1 8:1 / /var/lib/kubelet/pods/0a1b/volumes/data rw - ext4 /dev/sdc rw\n"
    node += "8 1 8:1 /docker/containers/ab/hosts /etc/hosts rw - ext4 /dev/sda1 rw\n"
    assert read_system(tree(files | {"/proc/self/mountinfo": node})).containers == ()


def test_terminal_codes_in_names_are_not_passed_on(tree: Make) -> None:
    """A host name with an escape sequence can't reach a terminal as one."""
    root = tree({**KERNEL, "/proc/sys/kernel/hostname": "db1\x1b[2J\n"})
    assert read_system(root).hostname == "db1 [2J"


def test_root_without_a_system_is_none(tree: Make) -> None:
    """Neither kernel nor distribution: nothing to name."""
    assert read_system(tree({"/etc/os-release": ""})) is None
