"""How disk probes issue requests: O_DIRECT and Linux AIO if the host supports them, with the resulting limits."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from advisor.core.model import exact_size
from probes.disk.aio import aio_available
from probes.disk.files import FILL_SECONDS, has_device, supports_o_direct
from probes.experiment import Choice, ProbeError

if TYPE_CHECKING:
    from probes.experiment import ChosenOptions, Environment, ProbeRequest

SECTOR = 512
LARGEST_BLOCK = 1 << 26
SMALLEST_FILE = 64 << 20
LARGEST_FILE = 1 << 40
OPEN = Choice("open", "word", "auto", "auto, direct (O_DIRECT) or buffered (page cache, evicted first)")
SIZE = Choice("size", "size", "1G", "size of the test file; choose far more than the device's cache")


class IoMethod(NamedTuple):
    """Whether files are opened with O_DIRECT, and the backend for concurrent requests: aio or threads."""

    direct: bool
    backend: str

    @property
    def driver(self) -> str:
        """The driver and its method, as text for the result."""
        many = "Linux AIO" if self.backend == "aio" else "threads"
        return f"mycnf ({many}, {'O_DIRECT' if self.direct else 'through the page cache'})"


def can_use_o_direct(environment: Environment, request: ProbeRequest) -> bool:
    """Whether O_DIRECT reaches a device from the directory; tmpfs accepts the flag but has no device."""
    return has_device(environment.host) and supports_o_direct(request.directory)


def choose_io_method(environment: Environment, request: ProbeRequest, chosen: ChosenOptions) -> IoMethod:
    """The method for random reads and writes; raises ProbeError if O_DIRECT is required but not supported."""
    word = chosen.word(OPEN.name, "auto", "direct", "buffered")
    direct = word != "buffered" and can_use_o_direct(environment, request)
    if word == "direct" and not direct:
        raise ProbeError(
            f"{request.directory} does not support O_DIRECT: use a directory on a disk with --dir, or "
            "choose --option open=buffered"
        )
    return IoMethod(
        direct, "aio" if direct and aio_available() else "threads"
    )  # on buffered files the kernel's AIO blocks


def io_method_limits(environment: Environment, way: IoMethod) -> tuple[str, ...]:
    """Sentences on the limits that the I/O method imposes on the result."""
    if not has_device(environment.host):
        return ("The directory is on tmpfs: this measures memory and the driver, not a disk.",)
    if not way.direct:
        return ("Without O_DIRECT the page cache serves some reads: the device may be slower than shown.",)
    if way.backend != "aio":
        return ("Linux AIO is not available here: threads of one process send the requests and limit deep queues.",)
    return ()


def block_sizes(chosen: ChosenOptions, name: str, step: int = SECTOR) -> list[int]:
    """Request sizes in bytes, ascending, multiples of `step`; raises ProbeError for invalid sizes."""
    sizes = sorted(chosen.sizes(name, step))
    for size in sizes:
        if size % step or size > LARGEST_BLOCK:
            raise ProbeError(
                f"invalid {name}={exact_size(size)}: use multiples of {exact_size(step)} up to "
                f"{exact_size(LARGEST_BLOCK)}"
            )
    return sizes


def file_size(chosen: ChosenOptions, name: str = SIZE.name) -> int:
    """The size of the scratch file, rounded down to whole MiB."""
    size = chosen.size(name, SMALLEST_FILE)
    if size > LARGEST_FILE:
        raise ProbeError(f"invalid {name}={exact_size(size)}: the maximum is {exact_size(LARGEST_FILE)}")
    return size >> 20 << 20


def sector_size(environment: Environment) -> int:
    """The smallest O_DIRECT write that the devices under the directory support, in bytes."""
    devices = environment.host.storage.devices if environment.host.storage else ()
    return max([SECTOR, *(device.logical_sector or 0 for device in devices)])


def preparation_seconds(size: int) -> float:
    """The estimated seconds to write that many bytes on an ordinary disk; writing ends after FILL_SECONDS."""
    return min(FILL_SECONDS, 1 + size / 150e6)
