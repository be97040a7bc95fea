"""Write docs/rules, the reference of all rules, from the rules; --check reports whether it is current (exit 1 if not).

usage: rulepages.py [--check]
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rules.core import Rule

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOLDER = os.path.join(TOP, "docs", "rules")
SUBJECTS = {
    "blocking": "Blocked sessions", "connections": "Connections and threads",
    "durability": "Durability and the binary log",
    "engines": "MyISAM and Aria", "errorlog": "Error log", "innodb": "InnoDB",
    "memory": "Memory, caches and temporary tables",
    "optionfile": "Option files", "policy": "House rules", "replication": "Replication, Galera and Group Replication",
    "schema": "Schema", "security": "Security", "sql": "SQL modes, statements and logs",
    "system": "Operating system and storage", "versions": "Versions",
}  # fmt: skip
INTRO = """# Rules

Made from the rules by `make docs`. `mycnf rules` prints the list, `mycnf explain CODE` a rule with its charts, and
`mycnf rules --format markdown` all of this on one page.
"""


def main() -> int:
    """Write or check the pages."""
    sys.path.insert(0, TOP)
    wanted = pages()
    there = {name: _read(name) for name in os.listdir(FOLDER)} if os.path.isdir(FOLDER) else {}
    if sys.argv[1:] == ["--check"]:
        stale = sorted(n for n in wanted.keys() | there.keys() if wanted.get(n) != there.get(n))
        if stale:
            print(f"docs/rules is not what the rules say ({', '.join(stale)}): make docs")
        return int(bool(stale))
    os.makedirs(FOLDER, exist_ok=True)
    for name in there.keys() - wanted.keys():
        os.remove(os.path.join(FOLDER, name))
    for name, text in wanted.items():
        with open(os.path.join(FOLDER, name), "w", encoding="utf-8") as file:
            file.write(text)
    return 0


def pages() -> dict[str, str]:
    """The pages by file name: one for each subject, and the list of all rules by code."""
    from advisor.report.rules import reference, table_of
    from rules import all_rules
    from rules.core.areas import FAMILIES, all_evidence

    families: dict[str, list[Rule]] = {}
    subjects: dict[str, list[Rule]] = {}
    for rule in all_rules():
        families.setdefault(rule.family, []).append(rule)
        subjects.setdefault(rule.subject, []).append(rule)
    made = {
        f"{subject}.md": reference(rules, all_evidence(), title=SUBJECTS[subject])
        for subject, rules in subjects.items()
    }
    lists = [
        f"## {FAMILIES[family].title} ({family})\n\n{table_of(rules, './')}\n" for family, rules in families.items()
    ]
    return {**made, "README.md": "\n".join([INTRO, *lists])}


def _read(name: str) -> str:
    with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
        return file.read()


if __name__ == "__main__":
    sys.exit(main())
