"""Real servers and the verdict side by side."""

from __future__ import annotations

import pytest
from verdict_agreement import Ask, Judge, asker, judge_lines

from advisor.catalog import Catalog, load
from probes.sandbox import Binary


@pytest.fixture(scope="session")
def catalog(binary: Binary) -> Catalog:
    """What is known of the server's very version."""
    return load(binary.target)


@pytest.fixture(scope="session")
def ask(binary: Binary, tmp_path_factory: pytest.TempPathFactory) -> Ask:
    """Puts lines of a [mysqld] group to the server."""
    return asker(binary, tmp_path_factory.mktemp("asked"))


@pytest.fixture(scope="session")
def judge(catalog: Catalog) -> Judge:
    """Judges lines of a [mysqld] group for the server's version."""
    return lambda lines: judge_lines(lines, catalog)
