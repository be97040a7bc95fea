"""What is kept of catalogs and of answers about them: little, and never another answer."""

from __future__ import annotations

from advisor.catalog import MAX_ANSWERS, limit_cache, load
from advisor.catalog.targets import parse_target
from advisor.verdict import judge_value


def test_few_are_kept() -> None:
    """Who judges servers of hundreds of versions keeps a few catalogs; one that is gone is read again."""
    targets = [parse_target(f"mysql-8.0.{patch}") for patch in range(11, 16)]
    first = [load(target) for target in targets]
    limit_cache(1_000)
    assert load(targets[0]) is first[0]
    limit_cache(4)
    again = load(targets[0])
    assert again is not first[0]
    assert dict(again.options.items()) == dict(first[0].options.items())


def test_patches_share_what_none_of_them_changed() -> None:
    """Another patch of a series takes little memory, and its differences are in no other catalog."""
    first, second = load(parse_target("mysql-8.0.15")), load(parse_target("mysql-8.0.43"))
    assert first.options["port"] is second.options["port"]
    assert first.options["tls_version"]["default"] != second.options["tls_version"]["default"]
    assert "replica_parallel_workers" not in first.options
    assert "replica_parallel_workers" in second.options


def test_answers_that_are_kept_stay_few() -> None:
    """After any number of queries what a catalog keeps is bounded, and the answer is the same when it is kept."""
    catalog = load(parse_target("mysql-8.0.36"))
    answer = judge_value("max_connections", "500", catalog)
    for number in range(MAX_ANSWERS + 10):
        catalog.keep(("x", number), number)
    assert len(catalog.kept) <= MAX_ANSWERS
    assert judge_value("max_connections", "500", catalog) == answer == judge_value("max_connections", "500", catalog)
