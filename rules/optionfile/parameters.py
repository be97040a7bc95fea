"""PAR: rules about parameters of managed services, which the service refuses, ignores or cannot apply."""

from __future__ import annotations

from advisor.core.model import Confidence, Severity
from rules.core import Docs, rule
from rules.core.subject import verdict_subject

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.core.model import Finding
    from rules.core import Rule
    from rules.core.context import RuleContext

NEEDS = ("parameters",)


def _findings(speaker: Rule, context: RuleContext) -> Iterator[Finding]:
    """The problems of the set that this rule reports."""
    for problem in context.parameters:
        if problem.rule == speaker.name:
            yield speaker.finding(
                problem.message,
                verdict_subject(problem.line),
                severity=problem.severity,
                confidence=problem.confidence,
                help=problem.help,
            )


@rule(
    "PAR001",
    "unknown-parameter",
    severity=Severity.WARNING,
    confidence=Confidence.LIKELY,
    needs=NEEDS,
    summary="Unknown parameter: the service has no parameter of this name in this family.",
    evidence=("AWS-01", "AWS-02", "AWS-03"),
    docs=Docs(
        why="A service refuses the whole change if one parameter is unknown to its family, so the other values are not "
        "applied either. If the provider's own list is at hand, an unknown name is an error; if not, the name is "
        "compared with the variables of a server of the same version, and the finding is likely.",
        fix="Correct the name, or remove a parameter that this version no longer has.",
        risk="A corrected parameter takes effect: read what it does before you correct one that never worked.",
        exceptions="Parameters that the service has added since mycnf's facts were collected.",
        reconsider_when="The provider's list for this family has the parameter (mycnf lint --parameters).",
    ),
)
def unknown_parameter(context: RuleContext) -> Iterator[Finding]:
    """Report parameters that the family does not have."""
    yield from _findings(unknown_parameter, context)


@rule(
    "PAR002",
    "unchangeable-parameter",
    severity=Severity.WARNING,
    confidence=Confidence.LIKELY,
    needs=NEEDS,
    summary="Parameter that the service does not let its users change.",
    evidence=("AWS-01", "AWS-02", "AWS-03", "GCP-01"),
    docs=Docs(
        why="Services manage some parameters themselves: paths, ports, and settings that their storage and "
        "replication depend on. The service refuses a change of one of these.",
        fix="Remove the parameter from the document.",
        risk="None: the service decides its value in any case.",
        exceptions="A parameter that the provider has made modifiable since mycnf's facts were collected; see the "
        "provider's own list.",
        reconsider_when="The provider's list marks the parameter as modifiable (mycnf lint --parameters).",
    ),
)
def unchangeable_parameter(context: RuleContext) -> Iterator[Finding]:
    """Report parameters that cannot be changed on the service."""
    yield from _findings(unchangeable_parameter, context)


@rule(
    "PAR003",
    "refused-parameter-value",
    severity=Severity.WARNING,
    confidence=Confidence.LIKELY,
    needs=NEEDS,
    summary="Value that the service refuses: a suffix, a number out of range, an unknown word, an invalid formula.",
    evidence=("AWS-01", "AWS-04", "AWS-05", "AWS-07", "GCP-01"),
    docs=Docs(
        why="Parameter groups and database flags are checked by the service before the server reads them. Numbers are "
        "plain numbers of bytes, seconds or units, without K, M or G, and each parameter has its own allowed values, "
        "which can be narrower than those of the server.",
        fix="Write a value from the provider's list; write sizes as a number of bytes.",
        risk="The corrected value takes effect, for static parameters at the next reboot.",
        exceptions="Formulas whose variables the manual does not name.",
        reconsider_when="The provider's list allows the value.",
    ),
)
def refused_parameter_value(context: RuleContext) -> Iterator[Finding]:
    """Report values that the service does not allow."""
    yield from _findings(refused_parameter_value, context)


@rule(
    "PAR004",
    "immediate-static-parameter",
    severity=Severity.WARNING,
    confidence=Confidence.LIKELY,
    needs=NEEDS,
    summary="Static parameter that the document applies immediately.",
    evidence=("AWS-06",),
    docs=Docs(
        why="Amazon RDS refuses to apply a static parameter immediately. Terraform's aws_db_parameter_group applies "
        "each parameter immediately unless apply_method is set, so the change fails when it is applied, although the "
        "plan succeeds.",
        fix='Write apply_method = "pending-reboot" next to the value, and plan a reboot of the instance.',
        risk="The value takes effect at the next reboot, which may be one that the service starts.",
        exceptions="None.",
        reconsider_when="The provider's list calls the parameter dynamic.",
        restart=True,
    ),
)
def immediate_static_parameter(context: RuleContext) -> Iterator[Finding]:
    """Report static parameters that are to be applied immediately."""
    yield from _findings(immediate_static_parameter, context)


@rule(
    "PAR005",
    "parameter-without-effect",
    severity=Severity.WARNING,
    confidence=Confidence.LIKELY,
    needs=NEEDS,
    summary="Parameter that has no effect on this service.",
    evidence=("AWS-03",),
    docs=Docs(
        why="Amazon Aurora replaces InnoDB's storage: it has no doublewrite buffer, no redo log files and no flushing "
        "of dirty pages, and parameters for these have no effect. A value here suggests protection or speed that does "
        "not exist.",
        fix="Remove the parameter from the document.",
        risk="None: it has no effect.",
        exceptions="A document that is shared with servers that are not on Aurora.",
        reconsider_when="Amazon's manual lists the parameter among those that apply.",
    ),
)
def parameter_without_effect(context: RuleContext) -> Iterator[Finding]:
    """Report parameters that the service ignores."""
    yield from _findings(parameter_without_effect, context)


@rule(
    "PAR006",
    "parameter-at-wrong-level",
    severity=Severity.WARNING,
    confidence=Confidence.LIKELY,
    needs=NEEDS,
    summary="Cluster-level parameter of Aurora in the parameter group of an instance.",
    evidence=("AWS-03",),
    docs=Docs(
        why="Aurora has two kinds of parameter groups. Parameters that must be the same on all instances, such as the "
        "binary log, character sets and time zone, exist only in the cluster's group; an instance's group does not "
        "have them.",
        fix="Move the parameter to the DB cluster parameter group (aws_rds_cluster_parameter_group).",
        risk="The value then applies to all instances of the cluster.",
        exceptions="None.",
        reconsider_when="Amazon's manual lists the parameter at instance level.",
    ),
)
def parameter_at_wrong_level(context: RuleContext) -> Iterator[Finding]:
    """Report cluster-level parameters in the group of an instance."""
    yield from _findings(parameter_at_wrong_level, context)
