"""Texts of other kinds that users often provide, with the remedy for each."""

from __future__ import annotations

import re
from itertools import islice

from advisor.collect.pasted.boxes import is_wrapped
from advisor.collect.pasted.classify import is_known
from advisor.collect.pasted.facts import FORMS, TextError
from advisor.collect.pasted.json import PARAMETER_GROUP_REMEDY
from advisor.collect.pasted.replicas import EMPTY_XML

_ASK = "give the text of SHOW GLOBAL VARIABLES and SHOW GLOBAL STATUS"
# A pattern that occurs only in that kind of text, its name, and the remedy.
_OTHERS = tuple(
    (re.compile(sign, re.IGNORECASE | re.MULTILINE), what, remedy)
    for sign, what, remedy in (
        (
            r"^Value \(after reading options\)|^Variables \(--variable-name=value\)",
            "the help of a server's program",
            _ASK,
        ),
        (
            r"^ParameterName|\bDBParameterGroup|^PARAMETERS\t|\| +ParameterName ",
            "a parameter group of Amazon RDS",
            PARAMETER_GROUP_REMEDY,
        ),
        (r"^ *databaseFlags:", "the settings of a Cloud SQL instance", PARAMETER_GROUP_REMEDY),
        (r">> +MySQLTuner", "a report of MySQLTuner, which rounds what it prints", _ASK),
        (r"^-- (?:MySQL|MariaDB) dump ", "a dump", _ASK),
        (
            EMPTY_XML.format("(?:SLAVE|REPLICA)"),
            "the answer of a server that is no replica, or on MariaDB has no connection without a name",
            "leave it out, or give that of SHOW ALL SLAVES STATUS",
        ),
        (r"^mysql_global_(?:variables|status)_\w+", "what mysqld_exporter measures, without texts and names", _ASK),
        (r"^# Time: .*\n# User@Host:", "a slow query log", _ASK),
        (r"^\[(?:mysqld|mariadbd?|server|client|mysql)[\w.-]*\]", "an option file", "mycnf lint FILE reads it"),
    )
)
# Settings in notes, and YAML as Ansible prints it.
_PAIR = re.compile(r"^[ \t>*\"'-]*([A-Za-z_]\w*)[\"']?[ \t]*[=:]", re.MULTILINE)
_LEAST_PAIRS, _MOST_PAIRS = 3, 1000


def refusal_reason(path: str, head: str) -> TextError:
    """Why a text with this beginning has no facts about a server, with its kind if it is recognized."""
    if not head.strip():
        return TextError(f"{path} is empty; give {FORMS}")
    if is_wrapped(head):
        return TextError(f"{path} has a table whose lines a terminal broke; give it as mysql -B or \\G prints it")
    what, remedy = next(((what, remedy) for sign, what, remedy in _OTHERS if sign.search(head)), ("", ""))
    if what:
        return TextError(f"{path} is {what}; {remedy}")
    if sum(is_known(pair[1]) for pair in islice(_PAIR.finditer(head), _MOST_PAIRS)) >= _LEAST_PAIRS:
        return TextError(
            f"{path} is a list of names and values with = or : between them, which may be an option file's "
            "(mycnf lint FILE reads that); give what the mysql client prints of SHOW GLOBAL VARIABLES, or JSON"
        )
    return TextError(f"{path} has no facts about a server; give {FORMS}")
