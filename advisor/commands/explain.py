"""`mycnf explain`: a rule with its evidence and how comparable this host is, or an option in each series."""

from __future__ import annotations

import os
import time

from advisor.catalog import load
from advisor.catalog.presence import find_presence, nearest_option, nearest_vendor_option, vendor_of_option
from advisor.catalog.targets import BUILD_SERIES, SERIES, newest_target, parse_target, stand_in_note
from advisor.core import errors
from advisor.core.model import Target
from advisor.report.formats import render
from advisor.report.output import Paper, write
from rules import all_rules, find_rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator
    from typing import Any

    from advisor.catalog import Option
    from advisor.report.document import Document
    from advisor.report.measurement_environment import Here
    from rules.core import Rule


KNOWN = "it knows MySQL Community and MariaDB on Linux"
PREFIX_EFFECTS = {
    "skip": "which turns a switch off: the option gets the value 0",
    "disable": "which turns a switch off: the option gets the value 0",
    "enable": "which turns a switch on: the option gets the value 1",
    "maximum": "which limits what sessions can set; of some options it sets the value itself",
    "loose": "which lets a server without the option start",
}
LISTED = 4  # options named in a message
CLOSE = 0.84  # how alike an option must be that is not within a few slips of the word
CLOSER = 0.88  # the same for a rule or variable
OTHERS = "`mycnf rules` lists the rules; options of clients and of mysqld_safe are not explained"


def run(args: argparse.Namespace) -> int:
    """Explain the rule or option; raises MycnfError, with the nearest name, if it is neither."""
    target = parse_target(args.target) if args.target else None
    if target is not None and (sentence := stand_in_note(target)):
        from advisor.core.errors import print_notice

        print_notice(sentence)
    rule = find_rule(args.code)
    write(_explain_option(args, target) if rule is None else _explain_rule(rule, args, target), args.output)
    return errors.OK


def _explain_rule(rule: Rule, args: argparse.Namespace, target: Target | None) -> str:
    from rules.core.areas import find_evidence as evidence

    known = [e for e in map(evidence, rule.evidence) if e is not None]
    near = None
    if any(e.strength == "measured" for e in known):
        near = summarize_host(args, rule, target)

    def as_json() -> str:
        from advisor.commands.rules import fields
        from advisor.report.findings_json import dumps

        shown = [e._replace(table=e.table and e.table._asdict())._asdict() for e in known]  # type: ignore[arg-type]
        docs = {**rule.docs._asdict(), "options": list(rule.options)}
        docs["mind"] = docs.pop("reconsider_when")  # the name in the JSON format
        beside = near and near.fields(known)
        return dumps({"version": 1, "rule": {**fields(rule), **docs, "evidence": shown}, "here": beside})

    def document() -> Document:
        from advisor.report.rules import of_rule

        return of_rule(rule, known, near)

    return render("explain", args.format, Paper.to(args.output), document, {"json": as_json})


def _explain_option(args: argparse.Namespace, target: Target | None) -> str:
    from advisor.verdict.formats import describe_variable

    name, note = _explainable_name(args.code, target)
    everywhere = _options_everywhere(name)
    here = _find(name, target) if target else None
    if here is None and not any(everywhere.values()) and (text := describe_variable(name)):
        return _explain_variable(name, text, args, target)
    canonical = next((o.name for o in [here, *everywhere.values()] if o is not None), name)
    matching = [r for r in all_rules() if canonical in r.options or name in r.options]

    def as_json() -> str:
        from advisor.report.findings_json import dumps

        return dumps({"version": 1, "option": _fields(canonical, everywhere, here, target, matching)})

    def document() -> Document:
        from advisor.report.rules import of_option

        return of_option(
            canonical, everywhere, matching, here=here, target=target, presence=find_presence(name), note=note
        )

    return render("explain", args.format, Paper.to(args.output), document, {"json": as_json})


def _explainable_name(written: str, target: Target | None) -> tuple[str, str]:
    """Return the name of the option or variable, and a sentence about its prefix.

    Raises MycnfError, with a name that may be meant, if there is neither.
    """
    from advisor.verdict.formats import describe_variable
    from advisor.verdict.names import KEY_CACHE, PREFIXES

    name = written.strip().partition("=")[0].strip().lower().lstrip("-@").replace("-", "_")
    for scope in ("global.", "session."):
        name = name.removeprefix(scope)
    cache, _, own = name.rpartition(".")
    if _has_option(name, target):
        return name, ""
    if cache and own in KEY_CACHE:
        return own, f"{name} is {own} of the key cache {cache}."
    base, prefix = name, ""
    while (cut := next((p for p in PREFIXES if base.startswith(f"{p}_")), "")) and not _has_option(base, target):
        base, prefix = base[len(cut) + 1 :], cut
    if base != name and _has_option(base, target):
        return base, f"{name} is {base} with the prefix {name.removesuffix(base)}, {PREFIX_EFFECTS[prefix]}."
    if find_presence(name) is None and not describe_variable(name):
        raise errors.MycnfError(_unknown_message(written, name, target))
    return name, ""


def _has_option(name: str, target: Target | None) -> bool:
    return bool(target and _find(name, target)) or any(_options_everywhere(name).values())


def _explain_variable(name: str, text: str, args: argparse.Namespace, target: Target | None) -> str:
    """Explain a system variable without an option: `text` says so."""

    def as_json() -> str:
        from advisor.report.findings_json import dumps

        none = dict.fromkeys(map(str, [target] if target else _options_everywhere(name)))
        return dumps({"version": 1, "option": {"name": name, "targets": none, "rules": [], "description": text}})

    def document() -> Document:
        from advisor.report.document import Document, Paragraph

        return Document((name,), (Paragraph(text),))

    return render("explain", args.format, Paper.to(args.output), document, {"json": as_json})


def _options_everywhere(name: str) -> dict[Target, Option | None]:
    """Return the option in the newest known patch of every supported series, and in builds that differ from theirs."""
    options: dict[Target, Option | None] = {}
    for flavour, series in SERIES.items():
        options |= {t: _find(name, t) for _, patch in sorted(series.items()) for t in (Target(flavour, patch),)}
        if flavour == "mysql":
            options |= _options_of_builds(name)
    return options


def _options_of_builds(name: str) -> dict[Target, Option | None]:
    """Return the option in the builds of MySQL that have it otherwise: PXC where Percona Server differs from it."""
    options: dict[Target, Option | None] = {}
    for build, series in BUILD_SERIES.items():
        for _, patch in sorted(series.items()):
            target = Target("mysql", patch, build)
            base = target._replace(build="percona" if build == "pxc" else "")
            if (option := _find(name, target)) != _find(name, base):
                options[target] = option
    return options


def _find(name: str, target: Target) -> Option | None:
    catalog = load(target)
    return catalog.get(name) or catalog.find_variable(name)


def _option_json(option: Option) -> dict[str, object]:
    """Return the option as JSON data."""
    return {**option._asdict(), "asked": sorted(option.asked), "documented": sorted(option.documented)}


def _fields(
    name: str, everywhere: dict[Target, Option | None], here: Option | None, target: Target | None, matching: list[Rule]
) -> dict[str, Any]:
    known = {str(t): o for t, o in everywhere.items()}
    if target is not None:
        known = {str(target): here}
    targets = {t: None if o is None else _option_json(o) for t, o in known.items()}
    from advisor.catalog.presence import describe_option

    codes = [r.code for r in matching]
    shown = next((option for option in [here, *everywhere.values()] if option is not None), None)
    return {"name": name, "targets": targets, "rules": codes, "description": describe_option(name, shown)}


def _unknown_message(written: str, name: str, target: Target | None) -> str:
    from advisor.core.errors import nearest_word
    from advisor.verdict.formats import MARIADB, MYSQL, WITHOUT_OPTION

    catalogs = [load(target or newest_target("mysql")), load(newest_target("mariadb"))]
    community = newest_target("mysql")
    if vendor := vendor_of_option(name, community):
        why = f"no {vendor.build} that mycnf knows has it" if vendor.series else KNOWN
        return f"mycnf does not explain {vendor.describe(name)}: {why}"
    component, _, own = name.partition(".")
    if component.isidentifier() and own.isidentifier():
        return f"mycnf does not explain {name}: it would belong to the component {component}"
    unknown = f"{written!r} is neither a rule nor an option of any supported series"
    longer = sorted({n for catalog in catalogs for n in catalog.names_starting_with(f"{name}_" if name else "")})
    if len(longer) > 1:
        longer.sort(key=len)
        more = f" and {len(longer) - LISTED} more" if len(longer) > LISTED else ""
        return f"{unknown}; options that begin with it: {', '.join(longer[:LISTED])}{more}"
    option = next((near for catalog in catalogs if (near := nearest_option(name, catalog))), None)
    other = nearest_vendor_option(name, community, option)
    if other and (vendor := vendor_of_option(other, community)):
        option = vendor.describe(other)
    option = option or _like(name, [n for catalog in catalogs for n in catalog.options], CLOSE)
    if option is None:
        known = all_rules()
        option = _like(name, [*(r.name for r in known), *f"{WITHOUT_OPTION} {MYSQL} {MARIADB}".split()], CLOSER)
        option = option or nearest_word(written, [r.code for r in known])
    return f"{unknown}; {f'did you mean {option}?' if option else OTHERS}"


def _like(name: str, known: list[str], least: float) -> str | None:
    """Return the known name that has most in common with this one, such as one with another word; None if none has."""
    from difflib import get_close_matches

    by_key = {text.lower().replace("-", "_"): text for text in known}
    return next((by_key[key] for key in get_close_matches(name, by_key, 1, least)), None)


NO_DISKS = ("loop", "ram", "zram", "dm-", "md", "sr", "fd", "nbd", "bcache")
GUESTS = ("QEMU", "VMware", "Msft", "VBOX", "Google", "Amazon Elastic Block Store", "Virtual")


def summarize_host(args: argparse.Namespace, rule: Rule, target: Target | None, root: str = "/") -> Here:
    """Return the host described by the user, else this one; raises MycnfError for an invalid size or count."""
    from advisor.commands.connection import is_declared
    from advisor.report.measurement_environment import Here

    server = target or next(
        (t for t in map(newest_target, ("mysql", "mariadb")) if rule.concerns(t)), newest_target("mysql")
    )
    machine = _declared_summary(args) if is_declared(args) else (cpus(root), memory(root), disks(root))
    return Here(server, target is None, time.gmtime().tm_year, *machine)


def cpus(root: str) -> int | None:
    """Return the number of online processors."""
    total = 0
    for part in _read(root, "sys/devices/system/cpu/online").split(","):
        first, _, last = part.partition("-")
        if first.isdigit():
            total += int(last or first) - int(first) + 1
    return total or None


def memory(root: str) -> int | None:
    """Return the bytes of memory, or our control group's limit if lower."""
    lines = dict(line.partition(":")[::2] for line in _read(root, "proc/meminfo").splitlines())
    total = lines.get("MemTotal", "").split()
    limit = _read(root, "sys/fs/cgroup/memory.max")
    known = [int(total[0]) << 10] if total and total[0].isdigit() else []
    return min(known + ([int(limit)] if limit.isdigit() and known else []), default=None)


def disks(root: str) -> tuple[str, ...]:
    """Return the kinds of the host's disks."""
    try:
        names = sorted(os.listdir(os.path.join(root, "sys/block")))
    except OSError:
        return ()
    return tuple(dict.fromkeys(_kinds(root, [name for name in names if not name.startswith(NO_DISKS)])))


def _kinds(root: str, names: list[str]) -> Iterator[str]:
    for name in names:
        maker = _read(root, f"sys/block/{name}/device/vendor") + _read(root, f"sys/block/{name}/device/model")
        rotational = _read(root, f"sys/block/{name}/queue/rotational")
        kind = _kind(name, maker, rotational == "1" if rotational else None)
        if kind:
            yield kind


def _kind(name: str, maker: str, rotational: bool | None) -> str | None:
    """Return the kind of a disk, None if unknown: the rotational flag of a virtual disk is unreliable."""
    from advisor.report.measurement_environment import VIRTUAL

    if name.startswith(("vd", "xvd")) or any(guest in maker for guest in GUESTS):
        return VIRTUAL
    if name.startswith("nvme"):
        return "NVMe"
    return {True: "rotating disks", False: "SSD"}.get(rotational) if rotational is not None else None


def _declared_summary(args: argparse.Namespace) -> tuple[int | None, int | None, tuple[str, ...]]:
    """Return processors, memory and disks of a host described by the user, without facts of this one."""
    from advisor.commands.connection import declared_host

    host = declared_host(args)
    kinds = [_kind(d.name, d.model or "", d.rotational) for d in (host.storage.disks if host.storage else ())]
    count = host.usable_cpus
    return (
        max(1, int(count)) if count else None,
        host.usable_memory,
        tuple(dict.fromkeys(kind for kind in kinds if kind)),
    )


def _read(root: str, path: str) -> str:
    try:
        with open(os.path.join(root, path), encoding="utf-8", errors="replace") as file:
            return file.read(65536).strip()
    except OSError:
        return ""
