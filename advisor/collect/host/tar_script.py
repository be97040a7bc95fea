"""The script that packs the files of a host into a tar without Python: those that the readers name, and few others."""

from __future__ import annotations

import posixpath
import shlex

from advisor.collect.host.cgroup import GROUP_FILES
from advisor.collect.host.devices import QUEUE_FILES, RAID_FILES
from advisor.collect.host.host import DMI_FILES, MEMORY_SETTINGS, SYSTEM_SETTINGS
from advisor.collect.host.process import PROCESS_FILES

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
  take "$at/queue" @QUEUE@
  take "$at/dm" name uuid
  take "$at/md" @RAID@
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
        take "$place$group" @GROUP@
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
take /proc/sys/kernel osrelease hostname arch
@SETTINGS@
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
take /sys/class/dmi/id @DMI@
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
      take "$process" @PROCESS@
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


def host_tar_script() -> str:
    """The script's text; it takes no arguments and writes the tar to standard output."""
    names = {
        "QUEUE": QUEUE_FILES,
        "RAID": RAID_FILES,
        "GROUP": GROUP_FILES,
        "DMI": DMI_FILES,
        "PROCESS": PROCESS_FILES,
    }
    script = _SCRIPT.replace("@SETTINGS@", "\n".join(_settings()))
    for name, files in names.items():
        script = script.replace(f"@{name}@", shlex.join(files))
    return script


def _settings() -> list[str]:
    """The commands that pack the files of MEMORY_SETTINGS and SYSTEM_SETTINGS, one for each directory."""
    by_folder: dict[str, list[str]] = {}
    for path in (*MEMORY_SETTINGS.values(), *SYSTEM_SETTINGS.values()):
        folder, name = posixpath.split(path)
        by_folder.setdefault(folder, []).append(name)
    return [f"take {shlex.join([folder, *files])}" for folder, files in by_folder.items()]
