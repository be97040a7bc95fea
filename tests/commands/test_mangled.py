"""Files after accidents: what `make fuzz MANGLED=1` does with a hundred thousand."""

from __future__ import annotations

from pathlib import Path

import mangling


def test_no_accident_breaks_lint(shared: Path) -> None:
    """Lint says what it finds, or that it can't read the file, and never that it broke."""
    texts = mangling.sources(str(shared / "corpus" / "files"))
    assert [ended for ended in mangling.run(texts, 300, "tests") if mangling.broke(ended)] == []
