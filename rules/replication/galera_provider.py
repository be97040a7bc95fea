"""GAL: rules about the options of a Galera node's provider, and the lines that set them."""

from __future__ import annotations

from advisor.core.model import Confidence, Severity
from advisor.verdict.names import PROVIDER_OPTIONS, PROVIDER_SINCE
from advisor.verdict.outcome import REFUSED
from rules.core import Docs, Span, rule
from rules.core.network import uses_galera
from rules.core.subject import variable_subject, verdict_subject, written_name
from rules.replication.galera import MARIADB, OPTIONS, USED, provider_options

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.core.model import Finding
    from rules.core.context import RuleContext

TIMEOUTS = {"EVS.SUSPECT_TIMEOUT": "PT5S", "EVS.KEEPALIVE_PERIOD": "PT1S"}  # the provider's defaults
MESSAGES = 3  # keepalive messages that must fit in the timeout before a node is suspected
PREFIX = "wsrep_provider_"


@rule(
    "GAL010",
    "refused-galera-timeout",
    severity=Severity.ERROR,
    confidence=Confidence.LIKELY,
    summary="The provider refuses its timeouts, so the server does not start.",
    targets=MARIADB,
    options=(OPTIONS,),
    evidence=("ASK-GAL-02",),
    docs=Docs(
        why="A node is suspected after evs.suspect_timeout without a message, and sends one every "
        "evs.keepalive_period. The provider requires at least three keepalive periods within the suspect timeout. With "
        "evs.suspect_timeout = PT1S and the default of PT1S for evs.keepalive_period it refused, and the server "
        "stopped with an error.",
        fix="Remove evs.suspect_timeout: the default is PT5S. Or lower evs.keepalive_period to a third of it or less.",
        risk="A lost node is noticed later.",
        restart=True,
        exceptions="None known. One version of the provider was tested.",
        reconsider_when="A node that starts with these lines.",
    ),
)
def refused_galera_timeout(context: RuleContext) -> Iterator[Finding]:
    """Report evs.suspect_timeout shorter than three keepalive periods."""
    given = provider_options(context)
    suspect, alive = (_duration_seconds(given.get(name, default)) for name, default in TIMEOUTS.items())
    if uses_galera(context) and context.is_set(OPTIONS) and suspect and alive and suspect < MESSAGES * alive:
        yield refused_galera_timeout.finding(
            f"The provider refuses evs.suspect_timeout = {suspect:g} s with evs.keepalive_period = {alive:g} s: the "
            "timeout must be at least three times the period. The server does not start.",
            variable_subject(context, OPTIONS),
            help="remove evs.suspect_timeout, or lower evs.keepalive_period to a third of it or less",
        )


def _duration_seconds(text: str) -> float | None:
    """Seconds of a duration such as PT1.5S; None for other notations."""
    number = text.removeprefix("PT").removesuffix("S")
    parts = number.split(".")
    digits = len(parts) <= 2 and all(p.isascii() and p.isdigit() and len(p) < 10 for p in parts)  # noqa: PLR2004
    return float(number) if digits and text == f"PT{number}S" else None


@rule(
    "GAL029",
    "galera-option-line-without-effect",
    confidence=Confidence.LIKELY,
    summary="The provider does not get the option: only wsrep_provider_options in an option file reaches it.",
    targets=(Span(PROVIDER_SINCE[0], since=PROVIDER_SINCE[1:]),),
    options=USED,
    evidence=("ASK-GAL-20",),
    docs=Docs(
        why="MariaDB 11.4 and later have a variable for each option of the provider, such as "
        "wsrep_provider_gcache_size, and accept option lines with these names on a node. The variable then shows what "
        "the line asks for, but the provider kept its default: galera.cache had 128M with 64M asked for, and "
        "wsrep_provider_options listed the default.",
        fix="Write the option into wsrep_provider_options, with a dot after its group: "
        'wsrep_provider_options = "gcache.size=64M". Separate several with semicolons.',
        risk="The option takes effect at the next start, perhaps for the first time.",
        restart=True,
        exceptions="None known. Galera 26.4.23 with MariaDB 11.4.5 and 11.8.9 was tested.",
        reconsider_when="wsrep_provider_options of the running node that lists the value of the line.",
    ),
)
def galera_option_line_without_effect(context: RuleContext) -> Iterator[Finding]:
    """Report lines that set an option of the provider by a name of its own."""
    if not uses_galera(context):
        return
    for line in context.file_verdict.lines:
        name = written_name(line.placed.line).removeprefix("loose_")
        group = next((known for known in PROVIDER_OPTIONS if name.startswith(known)), None)
        if group is not None and line.outcome not in REFUSED:
            option = f"{group.removeprefix(PREFIX).rstrip('_')}.{name.removeprefix(group)}"
            subject = verdict_subject(line)
            yield galera_option_line_without_effect.finding(
                f"The line changes the variable, but the provider does not get {option}: it keeps its default.",
                subject,
                help=f"write {option}={subject.value or '…'} into wsrep_provider_options",
            )
