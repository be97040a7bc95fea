"""What the user chose for an experiment is read by its kind, or refused in one line."""

from __future__ import annotations

import pytest

from probes.experiment import Choice, ChosenOptions, ProbeError, ProbeRequest, list_names

OFFERED = (
    Choice("sizes", "sizes", "8200,128K,1.5M", "sizes"),
    Choice("threads", "number", "4", "a number"),
    Choice("word", "word", "one", "a word"),
)


def chosen(**choices: str) -> ChosenOptions:
    """The choices of a run."""
    return ChosenOptions(OFFERED, ProbeRequest("/tmp", choices=choices))


def test_defaults_stand_where_nothing_was_chosen() -> None:
    """Sizes take suffixes and fractions, and numbers are numbers."""
    assert chosen().sizes("sizes") == [8200, 131072, 1572864]
    assert chosen().number("threads") == 4
    assert chosen().word("word", "one", "two") == "one"


def test_a_choice_outranks_the_default_and_repeats_count_once() -> None:
    """The user's values replace the default's, and the same value twice is one."""
    assert chosen(sizes=" 1k , 1024,2KiB").sizes("sizes") == [1024, 2048]
    assert chosen(threads="8,8,2").numbers("threads") == [8, 2]


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("sizes", "12Q", "use a number with K, M or G, such as 128M"),
        ("sizes", "1K,,x", "use a number with K"),
        ("sizes", ",", "is empty"),
        ("threads", "many", "use an integer"),
        ("threads", "0", "minimum 1"),
        ("word", "three", "use one of one, two"),
        ("wrod", "one", "no option 'wrod'; its options: sizes, threads, word"),
    ],
)
def test_what_cannot_be_read_is_refused_in_one_line(name: str, value: str, message: str) -> None:
    """The refusal names the choice and the accepted values."""
    with pytest.raises(ProbeError, match=message) as refused:
        read_all(**{name: value})
    assert "\n" not in str(refused.value)


def read_all(**choices: str) -> None:
    """Read everything that is offered."""
    it = chosen(**choices)
    it.sizes("sizes")
    it.number("threads", 1)
    it.word("word", "one", "two")


@pytest.mark.parametrize(
    ("names", "text"),
    [
        (("a",), "a"),
        (("a", "b", "c"), "a, b and c"),
        (("storm, TCP", "storm, TLS", "kept, TLS"), "storm, TCP; storm, TLS and kept, TLS"),
    ],
)
def test_names_with_commas_are_separated_by_semicolons(names: tuple[str, ...], text: str) -> None:
    """Four parts with commas could be two variants or four."""
    assert list_names(names, "and") == text
    assert list_names(names) == text.replace(" and ", "; " if ";" in text else ", ")
