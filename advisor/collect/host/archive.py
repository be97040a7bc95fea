"""The tar of a host: the script that creates it without Python, and the reader of its few relevant files."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import posixpath
import tarfile
import zlib
from typing import IO, TYPE_CHECKING, NamedTuple, cast

from advisor.collect.host.root import MAX_READ, ArchiveError, FileId, decode, resolve

if TYPE_CHECKING:
    from advisor.facts.storage import Space


MAX_UNPACKED = 256 << 20
"""Maximum unpacked size of a tar in bytes; a machine with 64 processors needs 30 MB."""
MAX_MEMBERS = 400_000
MAX_KEPT = 64 << 20
MAX_PATH = 4096
"""Characters of a path, as in Linux: each directory above a longer one would take as much memory."""
MAX_FOLDERS = 64 << 20
"""Characters of the paths of all directories; a large machine has a tenth of it."""
MAX_FILE = 1 << 20
"""Bytes kept of one member; only /proc/cpuinfo can be longer, and only its first part is needed."""
_END = bytes(1024)
"""The end of every tar: two blocks of zeros."""

_SCRIPT = r"""#!/bin/sh
# Puts what says how this host is built (processors, memory, disks, limits of its database servers) into a tar:
#     ssh HOST sh -s < this-script > host.tar
# It reads a few files of /proc and /sys, writes to a directory of its own under ${TMPDIR:-/tmp}, and removes that.
# Of processes it takes database servers only, and neither their environment nor their command line. Run by root
# or by the server's own account it also sees which malloc a server uses.
set -u
umask 077
LC_ALL=C
export LC_ALL
if [ -t 1 ]; then
  echo "The tar goes to standard output: redirect it to a file." >&2
  exit 2
fi
top=${TMPDIR:-/tmp}/mycnf-host.$$
mkdir "$top" || exit 2
trap 'rm -rf "$top"' EXIT
trap 'exit 2' HUP INT TERM

# take DIRECTORY NAME...: such files do not know their length, so they are copied before they go into the tar.
take() {
  from=$1
  shift
  if [ -d "$from" ]; then
    mkdir -p "$top$from" && (cd "$from" && cp "$@" "$top$from/") 2>/dev/null
  fi
  return 0
}

take_link() {
  if [ -h "$1" ]; then
    mkdir -p "$top${1%/*}" && ln -s "$(readlink "$1")" "$top$1" 2>/dev/null
  fi
  return 0
}

real_path() {
  (cd "$1" 2>/dev/null && pwd -P)
}

take_device() {
  at=$(real_path "$1") || return 0
  take "$at" dev size ro hidden start alignment_offset
  take "$at/queue" rotational scheduler nr_requests read_ahead_kb max_sectors_kb minimum_io_size optimal_io_size \
    logical_block_size physical_block_size write_cache discard_granularity discard_max_bytes
  take "$at/dm" name uuid
  take "$at/md" level raid_disks chunk_size layout array_state degraded sync_action
  for link in "$at"/slaves/*; do take_link "$link"; done
  if hardware=$(real_path "$at/device"); then
    take_link "$at/device"
    take "$hardware" type model vendor transport
  fi
}

# take_groups FILE: the control groups named in a process's cgroup file, and those above them.
take_groups() {
  sed -n 's/^[0-9]*:\([^:]*\):\(.*\)$/\2 \1/p' "$1" 2>/dev/null | while read -r path names; do
    for name in $(echo "${names:-.}" | tr ',' ' ') unified .; do
      place=$(real_path "/sys/fs/cgroup/$name") || continue
      group=${path%/}
      while :; do
        take "$place$group" memory.max memory.high memory.swap.max memory.current memory.events \
          memory.limit_in_bytes memory.memsw.limit_in_bytes memory.usage_in_bytes memory.oom_control \
          memory.stat memory.swappiness \
          cpu.max cpu.cfs_quota_us cpu.cfs_period_us cpu.stat pids.max io.max \
          blkio.throttle.read_iops_device blkio.throttle.write_iops_device \
          blkio.throttle.read_bps_device blkio.throttle.write_bps_device
        if [ -z "$group" ]; then break; fi
        group=${group%/*}
      done
    done
  done
}

take /proc cpuinfo meminfo version uptime stat swaps sysinfo iSeries
take /proc/self mountinfo cgroup
take /proc/1 cgroup
take /proc/bus/pci devices
take /proc/xen capabilities
take /proc/device-tree compatible ibm,partition-name 'hmc-managed?'
take /proc/sys/kernel osrelease hostname arch numa_balancing
take /proc/sys/vm swappiness dirty_ratio dirty_background_ratio dirty_bytes dirty_background_bytes overcommit_memory \
  overcommit_ratio zone_reclaim_mode
take /proc/sys/fs aio-max-nr aio-nr file-max
take /proc/sys/net/core somaxconn
take /etc os-release
take /run/systemd container
for sign in /.dockerenv /run/.containerenv; do
  if [ -e "$sign" ]; then mkdir -p "$top${sign%/*}" && : > "$top$sign"; fi
done
if [ ! -f "$top/proc/sys/kernel/arch" ]; then uname -m > "$top/proc/sys/kernel/arch"; fi

take /sys/kernel cpu_byteorder
take /sys/kernel/mm/transparent_hugepage enabled defrag
take /sys/devices/system/clocksource/clocksource0 current_clocksource available_clocksource
take /sys/hypervisor/properties features
take /sys/class/dmi/id sys_vendor product_name board_vendor bios_vendor bios_version chassis_asset_tag
take /sys/devices/system/cpu online present possible
take /sys/devices/system/cpu/hotplug states
for cpu in /sys/devices/system/cpu/cpu[0-9]*; do
  take "$cpu" l1_icache_size l1_dcache_size l2_cache_size
  take "$cpu/topology" thread_siblings core_siblings book_siblings drawer_siblings
  take "$cpu/cpufreq" cpuinfo_max_freq scaling_governor scaling_driver
  take "$cpu/hotplug" state
  for cache in "$cpu"/cache/index[0-9]*; do take "$cache" level type id size shared_cpu_map; done
done
for node in /sys/devices/system/node/node[0-9]*; do take "$node" cpumap cpulist meminfo; done

for disk in /sys/block/*; do
  take_link "$disk"
  take_device "$disk"
  for part in "$disk"/*/start; do take_device "${part%/start}"; done
done
for system in /sys/fs/ext4/*; do take "$system" errors_count; done
for volume in /sys/fs/btrfs/*/devices/*; do take_link "$volume"; done

take_groups /proc/self/cgroup
for comm in /proc/[0-9]*/comm; do
  read -r name 2>/dev/null < "$comm" || continue
  case $name in
    mysqld | mysqld-debug | mysqld-bin | mariadbd | mariadbd-debug)
      process=${comm%/comm}
      take "$process" comm stat status limits cgroup mountinfo oom_score_adj maps
      # Its first bytes: for the whole of it the kernel would walk all pages of the server.
      dd if="$process/numa_maps" of="$top$process/numa_maps" bs=128 count=1 2>/dev/null
      take_link "$process/exe"
      take_link "$process/cwd"
      take_groups "$process/cgroup"
      ;;
  esac
done

cd "$top" && tar cf - .
"""


class TarContents(NamedTuple):
    """The contents of a tar by absolute path: files with their bytes, links with their targets, directories."""

    files: dict[str, bytes]
    links: dict[str, str]
    folders: set[str]

    def paths(self) -> set[str]:
        """All paths."""
        return {*self.files, *self.links, *self.folders}


class TarRoot:
    """The files of a host from a tar; see Root for its methods. Raises ValueError if there are too many directories."""

    def __init__(self, contents: TarContents) -> None:
        self._files = contents.files
        self._links = contents.links
        self._folders: dict[str, set[str]] = {"/": set()}
        self._room = MAX_FOLDERS
        for path in contents.folders:
            self._add_to_folder(path, None)
        for path in (*contents.files, *contents.links):
            self._add_to_folder(*posixpath.split(path))

    def read(self, path: str, limit: int = MAX_READ) -> str | None:
        """See Root."""
        data = self._files.get(self.real(path) or "")
        return None if data is None else decode(data[:limit])

    def names(self, path: str) -> tuple[str, ...]:
        """See Root."""
        return tuple(sorted(self._folders.get(self.real(path) or "", ())))

    def link(self, path: str) -> str | None:
        """See Root."""
        parent, name = posixpath.split(posixpath.normpath(path))
        real = self.real(parent)
        return None if real is None else self._links.get(posixpath.join(real, name))

    def real(self, path: str) -> str | None:
        """See Root."""
        return resolve(path, self._entry)

    def identify(self, path: str) -> FileId | None:  # noqa: ARG002 - the name is Root's
        """See Root: the identity of the original file is unknown in a copy."""
        return None

    def machine(self) -> str | None:
        """See Root: the copy may come from another machine."""
        return None

    def space(self, path: str) -> Space | None:  # noqa: ARG002 - the tar has room of its own
        """See Root: unknown in a tar."""
        return None

    def _entry(self, path: str) -> str | None:
        if path in self._links:
            return self._links[path]
        return "" if path in self._files or path in self._folders else None

    def _add_to_folder(self, folder: str, child: str | None) -> None:
        """Add a child to its directory, and the directory to its own parents, up to a known one."""
        while True:
            known = folder in self._folders
            self._room -= 0 if known else len(folder)
            if self._room < 0:
                raise ValueError("it holds more directories than a host")
            names = self._folders.setdefault(folder, set())
            if child is not None:
                names.add(child)
            if known:
                return
            folder, child = posixpath.split(folder)


def open_tar(path: str) -> TarRoot:
    """Read a host's tar (plain, gzip, bzip2 or xz).

    The tree may be in a single top-level directory, as in NAME/proc and NAME/sys. Raises ArchiveError if the file is
    not a tar, is truncated, or unpacks to more than a host's files can take.
    """
    try:
        with open(path, "rb") as raw:
            contents = _read_contents(_decompress(raw))
    except (OSError, tarfile.TarError, EOFError, zlib.error, lzma.LZMAError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ArchiveError(f"{path}: can't be read as the tar of a host: {reason}") from error
    top = _top(contents)
    if top is None:
        raise ArchiveError(f"{path}: holds neither proc nor sys, so it is not the tar of a host")
    try:
        return TarRoot(_contents_below(top, contents))
    except ValueError as error:
        raise ArchiveError(f"{path}: can't be read as the tar of a host: {error}") from error


class _LimitedStream(io.RawIOBase):
    """A stream that fails beyond the size of any real host's tar: a few kB can unpack to terabytes."""

    def __init__(self, source: IO[bytes]) -> None:
        self._source = source
        self._left = MAX_UNPACKED
        self._tail = b""

    def read(self, size: int = -1) -> bytes:
        most = self._left + 1
        data = self._source.read(most if size < 0 else min(size, most))
        self._left -= len(data)
        if self._left < 0:
            raise ValueError(f"it unpacks to more than {MAX_UNPACKED >> 20} MB")
        self._tail = (self._tail + data)[-len(_END) :]
        return data

    def finish(self) -> None:
        """Read the rest; raises ValueError if it is not the end of a tar, which means that the tar is truncated."""
        while self.read(1 << 16):
            pass
        if self._tail != _END:
            raise ValueError("it is cut short")


def _decompress(raw: IO[bytes]) -> _LimitedStream:
    magic = raw.read(6)
    raw.seek(0)
    if magic.startswith(b"\x1f\x8b"):
        return _LimitedStream(cast("IO[bytes]", gzip.open(raw)))
    if magic.startswith(b"BZh"):
        return _LimitedStream(bz2.open(raw))
    if magic == b"\xfd7zXZ\0":
        return _LimitedStream(lzma.open(raw))
    return _LimitedStream(raw)


def _read_contents(plain: _LimitedStream) -> TarContents:
    """The files, links and directories; devices, FIFOs and names with .. are left out."""
    contents = TarContents({}, {}, set())
    kept = 0
    with tarfile.open(fileobj=plain, mode="r|") as archive:
        for count, member in enumerate(archive):
            path = _absolute(member.name)
            if count >= MAX_MEMBERS or kept >= MAX_KEPT:
                raise ValueError("it holds more than the files of a host")
            if path is None:
                continue
            if member.issym():
                contents.links[path] = member.linkname[:MAX_PATH]
            elif member.islnk():
                contents.files[path] = contents.files.get(_absolute(member.linkname) or "", b"")
            elif member.isdir():
                contents.folders.add(path)
            elif member.isreg() and (content := archive.extractfile(member)):
                contents.files[path] = content.read(MAX_READ if path.endswith("/proc/cpuinfo") else MAX_FILE)
                kept += len(contents.files[path])
    plain.finish()
    return contents


def _absolute(name: str) -> str | None:
    """A member's name as an absolute path; None for the top itself, for a name that leaves it, and for a longer one."""
    if len(name) > MAX_PATH:
        return None
    parts = [part for part in name.split("/") if part not in ("", ".")]
    return None if not parts or ".." in parts else "/" + "/".join(parts)


def _top(contents: TarContents) -> str | None:
    """The directory that contains proc or sys: "" or the first one that has either."""
    steps = [path.split("/", 3)[1:3] for path in sorted(contents.paths())]
    if any(step[0] in ("proc", "sys") for step in steps):
        return ""
    return next(("/" + step[0] for step in steps if step[1:] in (["proc"], ["sys"])), None)


def _contents_below(top: str, contents: TarContents) -> TarContents:
    """The contents below a directory, with paths relative to it."""
    size, inside = len(top), top + "/"
    return TarContents(
        {path[size:]: data for path, data in contents.files.items() if path.startswith(inside)},
        {path[size:]: target for path, target in contents.links.items() if path.startswith(inside)},
        {path[size:] for path in contents.folders if path.startswith(inside)},
    )


def host_tar_script() -> str:
    """The script's text; it takes no arguments and writes the tar to standard output."""
    return _SCRIPT
