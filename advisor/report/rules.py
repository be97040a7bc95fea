"""A rule and an option as documents, and the reference of rules as Markdown."""

from __future__ import annotations

from advisor.catalog.targets import SERIES, catalog_for, lists_names
from advisor.core.model import BUILDS, size_in_units
from advisor.report.document import Code, Document, Facts, Items, OwnText, Paragraph, Section, list_words, plain_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from advisor.catalog import Option
    from advisor.catalog.presence import KnownSpan, Presence
    from advisor.core.model import Target
    from advisor.report.document import Block, Words
    from advisor.report.measurement_environment import Here
    from rules.core import Rule
    from rules.core.areas import Evidence


KINDS = {
    "bool": "boolean",
    "int": "whole number",
    "uint": "whole number",
    "double": "number",
    "enum": "one word of a list",
    "set": "words of a list",
    "flagset": "switches of a list",
    "string": "text",
    "flag": "switch without a value",
}
LONG = 40  # a list that is longer than a line of the table is broken at its commas
VERSIONS = 18  # columns of a version, at least
ARGUMENTS = {"none": "takes no value", "optional": "value optional", "required": "value required"}
NO_VALUE = ("", "(No default value)")  # as --verbose --help prints an option without a default
# Variables whose session value no statement sets: error 1621 on all six servers that were asked.
READ_ONLY_IN_SESSIONS = ("max_allowed_packet", "max_user_connections", "net_buffer_length")
FLAVOURS = {"mysql": "MySQL", "mariadb": "MariaDB"}
TOP = "Each rule with its evidence. `mycnf explain CODE` shows the same with charts, `mycnf rules` the list."


def of_rule(rule: Rule, evidence: Sequence[Evidence], near: Here | None = None) -> Document:
    """What a rule reports, and why; `evidence` is its own, in its order, `near` the host that it is compared with."""
    from advisor.report.evidence import passage

    docs = rule.docs
    needs = f"; looks at the option files and the {', the '.join(rule.needs)}" if rule.needs else ""
    blocks: tuple[Block, ...] = (
        Paragraph(OwnText(rule.summary)),
        Paragraph(f"{rule.severity.value}, {rule.confidence.value}; for {targets(rule)}{needs}"),
        _part("What happens", docs.why),
        *map(passage, evidence),
        Paragraph("" if evidence else "No measurement is known: this rule is an opinion."),
        *(_environment(evidence, near) if near else ()),
        _part("How to fix", docs.fix + (" It needs a restart." if docs.restart else "")),
        _part("Risk", docs.risk),
        _part("Exceptions", docs.exceptions),
        _part("Sources disagree", docs.disagree),
        _part("Reconsider when", docs.reconsider_when),
        _part("Measure it here", list_words(map(Code, measure(rule)), ", or ")),
        _part("Options", (*list_words(map(Code, rule.options)), ".") if rule.options else ""),
    )
    return Document((f"{rule.code} {rule.name}",), blocks)


def _part(title: str, words: Words) -> Section:
    return Section(title, (Paragraph(OwnText(words) if isinstance(words, str) else words),))


def _environment(evidence: Sequence[Evidence], near: Here) -> Iterator[Section]:
    """How far the sources' machines are from this one."""
    from advisor.report.measurement_environment import measured_sources, sentence

    lines = (f"Here: {near.words()}.", *(sentence(e, near) for e in measured_sources(evidence)))
    yield Section("How near this is", (Items(lines),))


def measure(rule: Rule) -> list[str]:
    """The commands that repeat the measurement, and that run what the rule claims; ab alone knows no option."""
    if rule.probe is None:
        return []
    from rules.measured.claims import CLAIMS

    repeat = [f"mycnf probe {rule.probe}"] if rule.probe != "ab" else []
    prove = [f"mycnf probe prove {rule.code}"] if rule.name in CLAIMS else []
    return [*repeat, *prove]


def targets(rule: Rule) -> str:
    """The flavours and versions that a rule is for, in words."""
    names = {**FLAVOURS, **BUILDS}
    words = [(str(s), s.build or s.flavour) for s in rule.targets]
    return " and ".join(text.replace(name, names.get(name, name), 1) for text, name in words)


def of_option(
    name: str,
    everywhere: Mapping[Target, Option | None],
    rules: Sequence[Rule],
    *,
    here: Option | None = None,
    target: Target | None = None,
    presence: Presence | None = None,
    note: str = "",
) -> Document:
    """What an option does and takes, its default in every series, and the rules about it.

    `here` is the option of the target that was asked about, None where it has none or none was named. `presence` says
    which versions knew it, of an option that the target lacks, or all supported series. `note` is about the name as it
    was written.
    """
    from advisor.catalog.presence import describe_option

    newest = _newest_of_flavours(everywhere)
    shown = here or next(iter(newest.values()), None)
    if target is not None and here is not None:
        newest = {target: here}
    headed = target is not None or _differs(everywhere)
    missing = target is not None and here is None
    own = {target: here} if target is not None and here is not None and target not in everywhere else {}
    listed = {**own, **everywhere}
    defaults = tuple((version.label, _default_of(version, option)) for version, option in listed.items())
    about = tuple((Code(r.code), OwnText(f" {r.name}: {r.summary}")) for r in rules)
    blocks: tuple[Block, ...] = (
        Paragraph(OwnText(note)),
        Paragraph(OwnText(describe_option(name, shown))),
        Paragraph(_lacks(target) if missing and target else "" if shown else "No supported series has this option."),
        Items(tuple(_before(presence)) if shown is None or missing else ()),
        *_as_known(newest, headed, tuple(_on_platform(target, here))),
        *(_defaults(defaults) if shown else ()),
        Section("Rules about it", (Items(about),)),
    )
    return Document((name,), blocks)


def _defaults(rows: tuple[tuple[str, str], ...]) -> Iterator[Section]:
    yield Section("Default", (Facts(rows, max(VERSIONS, *(len(label) + 2 for label, _ in rows))),))


def _newest_of_flavours(everywhere: Mapping[Target, Option | None]) -> dict[Target, Option]:
    """The option in the newest series of MySQL and of MariaDB that has it; in a vendor's build if no other has it."""
    newest: dict[str, Target] = {}
    for target in sorted((t for t, option in everywhere.items() if option is not None), key=lambda t: not t.build):
        newest[target.flavour] = target
    return {target: option for _, target in sorted(newest.items(), reverse=True) if (option := everywhere[target])}


def _as_known(
    newest: Mapping[Target, Option], headed: bool, platform: tuple[tuple[str, str], ...]
) -> Iterator[Section]:
    """What the option takes, by the servers that tell; servers with the same facts share a section."""
    alike: dict[tuple[tuple[str, str], ...], list[str]] = {}
    for target, option in newest.items():
        alike.setdefault(tuple(_details(option, target.flavour)), []).append(target.label)
    for details, labels in alike.items():
        title = f"As {' and '.join(labels)} {'knows' if len(labels) == 1 else 'know'} it" if headed else ""
        yield Section(title, (Facts((*details, *platform)),))


def _differs(everywhere: Mapping[Target, Option | None]) -> bool:
    """Whether the option is not the same in all series: then what is shown holds for one of them."""
    return len({tuple(_details(option, t.flavour)) for t, option in everywhere.items() if option is not None}) > 1


def _default_of(version: Target, option: Option | None) -> str:
    """The default in one series, and whether it is known from documents, not from a server."""
    from advisor.catalog.host_defaults import LOWERED

    read_as = catalog_for(version)
    source = "from documents" if read_as == version else f"as of {read_as.label}"
    usual = usual_default(option, version)
    shown = f"{usual}, {LOWERED}" if usual else _default(option, version)
    return shown + ("" if option is None or lists_names(version) else f" ({source})")


def usual_default(option: Option | None, version: Target) -> str:
    """The default that a low limit of open files lowers; empty for other options."""
    from advisor.catalog.host_defaults import LIMITED_BY_FILES

    if option is None or option.name not in LIMITED_BY_FILES:
        return ""
    from advisor.verdict.settings import DEFAULT_CONNECTIONS, default_tables

    return str(DEFAULT_CONNECTIONS if option.name == LIMITED_BY_FILES[0] else default_tables(version))


def _lacks(target: Target) -> str:
    """Which version lacks the option: for a target beyond the catalogs, the one by which it is read."""
    read_as = catalog_for(target)
    if read_as == target:
        return f"{target.label} has no such option."
    return f"{read_as.label}, which mycnf uses for {target.label}, has no such option."


def _before(presence: Presence | None) -> Iterator[str]:
    for span in presence.spans if presence else ():
        yield f"known to {FLAVOURS[span.flavour]}{_last_version(span)}{_history(span)}"
    if presence and presence.replaced_by:
        yield f"replaced by {presence.replaced_by}"


def _last_version(span: KnownSpan) -> str:
    """The newest version known to have the option, where that is older than the supported series."""
    last = tuple(map(int, span.last.split(".")))
    return f" {span.last}" if last[:2] < min(SERIES[span.flavour]) else ""


def _history(span: KnownSpan) -> str:
    """The manuals' statements on the option's past."""
    came = [f"introduced in {' and '.join(span.came)}"] if span.came else []
    events = [*came, *([f"removed in {span.gone}"] if span.gone else [])]
    return f" ({', '.join(events)})" if events else ""


def _details(option: Option, flavour: str) -> Iterator[tuple[str, str]]:
    yield "takes", _argument(option)
    yield "values", ", ".join(value for value in option.values if not value.startswith("NOT_USED"))
    yield "range", _range(option)
    yield "variable", _variable(option, flavour)
    yield "since", option.since or "" if "since" in option.documented else ""
    yield "deprecated", _deprecated_words(option)
    yield "plugin", option.plugin or ""
    yield "another name of", option.alias_of or ""
    yield "note", "accepted, but ignored" if option.ignored else ""


def _on_platform(target: Target | None, option: Option | None) -> Iterator[tuple[str, str]]:
    """What users of a managed service can do with the option."""
    if target is not None and option is not None and target.is_managed:
        from rules.core.statements import platform_note

        yield "service", platform_note(target, option)


def _argument(option: Option) -> str:
    """What may follow the name: servers take a value of each boolean, also where their help shows none."""
    if option.kind == "flag":
        return KINDS["flag"] if option.arg == "none" else f"{KINDS['string']}, {ARGUMENTS[option.arg]}"
    if option.name == "log_bin":  # the variable of MariaDB is a boolean, the option takes a file name
        return f"{KINDS['string']}, {ARGUMENTS['optional']}"
    argument = "optional" if option.kind == "bool" and option.arg == "none" else option.arg
    return f"{KINDS.get(option.kind, option.kind)}, {ARGUMENTS.get(argument, argument)}"


def _range(option: Option) -> str:
    """The limits that are known: a missing one need not mean that there is none."""
    if option.min is None and option.max is None:
        return ""
    if option.min is None or option.max is None:
        limits = f"at most {option.max:,}" if option.max is not None else f"at least {option.min:,}"
    else:
        limits = f"{option.min:,} to {option.max:,}"
    return limits + (f", in steps of {option.block:,}" if option.block > 1 else "")


def _variable(option: Option, flavour: str) -> str:
    if option.variable is None:
        return "" if option.plugin or option.ignored else "none: only an option for the command line and option files"
    change = "can be changed while the server runs" if option.dynamic else "needs a restart"
    if option.variable in READ_ONLY_IN_SESSIONS:
        change += ", with SET GLOBAL only"
    if option.variable == "max_user_connections" and flavour == "mariadb":
        change += ", unless it was 0 at the start"  # error 1290 on 10.11.19, 11.4.5 and 11.8.9
    scope = {"both": "global and session"}.get(option.scope or "", option.scope or "")
    return ", ".join(part for part in (option.variable, scope, "" if option.dynamic is None else change) if part)


def _deprecated_words(option: Option) -> str:
    instead = f", use {option.replaced_by}" if option.replaced_by else ""
    since = f"since {option.deprecated}" if "deprecated" in option.documented else "yes"
    return f"{since}{instead}" if option.deprecated else ""


def _default(option: Option | None, version: Target) -> str:
    """The value of a server that no file and no argument sets, and what --verbose --help prints, if that differs."""
    if option is None:
        return "no such option"
    if option.ignored:
        return "accepted, but ignored"
    if option.running is None or option.running == option.default:
        return _default_value(option, option.default, version)
    value = _default_value(option, option.running, version)
    if (option.default or "") in NO_VALUE or len(option.default or "") > LONG:
        return value
    return f"{value} (--verbose --help prints {option.default})"


def _default_value(option: Option, value: str | None, version: Target) -> str:
    """A default as people write it."""
    from advisor.catalog.host_defaults import SAME_EVERYWHERE, default_on_host

    if value is None and not option.host:
        return "not known" if option.shown else "off" if option.kind == "flag" and option.arg == "none" else "no value"
    if value is None:
        return default_on_host(option, version)
    if value == NO_VALUE[1]:
        return SAME_EVERYWHERE.get(option.name, "no value")
    value = {"TRUE": "ON", "FALSE": "OFF"}.get(value, value) if option.kind == "bool" else value
    size = size_in_units(value)
    value = f"{value} ({size})" if size else value or "(empty)"
    return value.replace(",", ", ") if len(value) > LONG else value


def reference(rules: Iterable[Rule], store: Mapping[str, Evidence], *, title: str = "Rules") -> str:
    """All of the rules on one page: a table of them, then each with its reasons and evidence."""
    listed = list(rules)
    return "\n\n".join([f"# {title}", TOP, table_of(listed), *(section(rule, store) for rule in listed)]) + "\n"


def table_of(rules: Iterable[Rule], folder: str = "") -> str:
    """Code, name, severity, confidence and needs, a row a rule; links lead to the page of the subject in `folder`."""
    from advisor.report.render.markdown import prose

    head = ["| rule | | severity | confidence | besides option files |", "|---|---|---|---|---|"]
    rows = [
        f"| [{r.code}]({_page(r, folder)}#{anchor(r)}) {r.name} | {prose(r.summary)} | {r.severity.value} | "
        f"{r.confidence.value} | {', '.join(r.needs)} |"
        for r in rules
    ]
    return "\n".join([*head, *rows])


def anchor(rule: Rule) -> str:
    """The anchor that renderers create for the heading of a rule."""
    return f"{rule.code} {rule.name}".lower().replace(" ", "-")


def section(rule: Rule, store: Mapping[str, Evidence]) -> str:
    """One rule under a heading of its own."""
    from advisor.report.output import Paper
    from advisor.report.render.markdown import write

    evidence = [store[identity] for identity in rule.evidence if identity in store]
    document = of_rule(rule, evidence)
    return write(document._replace(blocks=tuple(map(_without_heading, document.blocks))), Paper()).rstrip("\n")


def _without_heading(block: Block) -> Block:
    """A section with its title at the beginning of its first paragraph: a page of many rules has headings enough."""
    match block:
        case Section(title=title, blocks=(Paragraph(words=words), *rest)) if words:
            return Section("", (Paragraph(words, lead=f"{plain_text(title)}:"), *rest))
    return block


def _page(rule: Rule, folder: str) -> str:
    return f"{folder}{rule.subject}.md" if folder else ""
