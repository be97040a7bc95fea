"""Formulas of parameter groups give what Amazon's manual says."""

from __future__ import annotations

import pytest

from advisor.catalog.managed import find_instance_class
from advisor.core.errors import MycnfError
from advisor.verdict.declared import FormulaError, Instance, evaluate_formula, is_formula

GIB = 1 << 30
MACHINE = Instance(memory=64 * GIB, processors=8, storage=100 * GIB, port=3306, replica=True)


@pytest.mark.parametrize(
    ("formula", "result"),
    [
        # The manual's syntax and examples.
        ("{DBInstanceClassMemory}", 64 * GIB),
        ("{DBInstanceClassMemory*3}", 192 * GIB),
        ("{DBInstanceClassMemory*3/4}", 48 * GIB),
        ("{DBInstanceClassMemory/12582880}", 5461),
        ("{AllocatedStorage/1024}", 104857600),
        ("{log(DBInstanceClassMemory/8187281418)*1000}", 3000),
        ("GREATEST({DBInstanceClassMemory/9868951},80)", 6963),
        ("LEAST({DBInstanceClassMemory/256},10485760)", 10485760),
        ("SUM({DBInstanceClassMemory/12582880},{EndPointPort})", 8767),
        # Those of default parameter groups.
        ("GREATEST({log(DBInstanceClassMemory/805306368)*45},{log(DBInstanceClassMemory/8187281408)*1000})", 3000),
        ("least({DBInstanceClassMemory/393040}, 20000)", 20000),
        ("{TrueIfReplica}", 1),
        ("{DBInstanceVCPU*2}", 16),
        ("greatest(least({DBInstanceClassMemory/1179121},6000),10)", 6000),
    ],
)
def test_the_manual_s_examples(formula: str, result: int) -> None:
    """Each formula has the value that its description gives for 64 GiB of memory and 8 processors."""
    assert is_formula(formula)
    assert evaluate_formula(formula, MACHINE) == result


@pytest.mark.parametrize(
    ("classes", "result"),
    [
        ("t2.small t3.small", 45),
        ("t2.medium t3.medium t4g.medium", 90),
        ("t3.large t4g.large", 135),
        ("r3.large r4.large r5.large r6g.large", 1000),
        ("r3.xlarge r4.xlarge r5.xlarge r6g.xlarge x2g.large", 2000),
        ("r3.2xlarge r4.2xlarge r5.2xlarge r6g.2xlarge x2g.xlarge", 3000),
        ("r3.4xlarge r4.4xlarge r5.4xlarge r6g.4xlarge x2g.2xlarge", 4000),
        ("r3.8xlarge r4.8xlarge r5.8xlarge r6g.8xlarge x2g.4xlarge", 5000),
        ("r4.16xlarge r5.12xlarge r5.16xlarge r6g.12xlarge r6g.16xlarge x2g.8xlarge", 6000),
        ("r5.24xlarge x2g.12xlarge x2g.16xlarge", 7000),
    ],
)
def test_the_default_connections_of_aurora(classes: str, result: int) -> None:
    """The default formula of max_connections gives what the manual of Aurora says for each instance class."""
    formula = "GREATEST({log(DBInstanceClassMemory/805306368)*45},{log(DBInstanceClassMemory/8187281408)*1000})"
    for name in classes.split():
        processors, memory = find_instance_class(f"db.{name}")
        assert evaluate_formula(formula, Instance(memory, processors)) == result, name


def test_unknown_instance_classes_are_refused() -> None:
    """A mistyped class is refused with one that is meant."""
    with pytest.raises(MycnfError, match=r"did you mean db\.r6g\.2xlarge\?"):
        find_instance_class("db.r6g.2xlrge")


def test_an_unknown_variable_makes_the_result_unknown() -> None:
    """Without an instance class, a formula of its memory has no value, and one without it has."""
    assert evaluate_formula("LEAST({DBInstanceClassMemory/256},10)", Instance()) is None
    assert evaluate_formula("SUM({EndPointPort},1)", Instance()) == 3307


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{DBInstanceMemory/4}", "DBInstanceClassMemory"),
        ("{dbinstanceclassmemory/4}", "DBInstanceClassMemory"),
        ("{DBInstanceClassMemory/0}", "divides by 0"),
        ("{DBInstanceClassMemory*3/4", "is missing"),
        ("GREATEST({DBInstanceClassMemory},,80)", "a number or a formula"),
        ("LEAST()", "a number or a formula"),
        ("{DBInstanceClassMemory-1}", "is missing"),
        ("{log(DBInstanceClassMemory*0)}", "logarithm"),
        ("{DBInstanceClassMemory}G", "unexpected at the end"),
        ("LEAST(" * 40 + "1" + ")" * 40, "nested"),
        ("{1" + "*1" * 1000 + "}", "characters"),
        ("{DBInstanceClassMemory;DROP}", "cannot be part"),
        ("{log(" + "9" * 400 + "/2)*1.5}", "too large"),
    ],
)
def test_invalid_formulas_are_refused_in_one_sentence(text: str, message: str) -> None:
    """A text that is no formula is refused with the reason."""
    with pytest.raises(FormulaError, match=message):
        evaluate_formula(text, MACHINE)


@pytest.mark.parametrize("value", ["1073741824", "/rdsdbdata/log/mysql-{EndPointPort}.pid", "ROW", "leastwise"])
def test_other_values_are_no_formulas(value: str) -> None:
    """A path with a variable in it and a word that begins like a function are plain texts."""
    assert not is_formula(value)
