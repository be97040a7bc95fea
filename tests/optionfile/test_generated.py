"""Generated files, hundreds at a time: what `make fuzz READER=1` does with a hundred thousand."""

from __future__ import annotations

import itertools

import reading

from tests.optionfile.judges import PrintDefaults


def test_hundreds_are_read_alike(print_defaults: PrintDefaults) -> None:
    """The reader finds the options in generated files that my_print_defaults finds."""
    differ = [wrong for _, batch in reading.run(print_defaults.program, 2000, "tests") for wrong in batch]
    assert differ == []


def test_a_difference_is_counted(print_defaults: PrintDefaults) -> None:
    """A program that reads nothing disagrees about every file that has an option."""
    made = list(itertools.islice(reading.files("tests"), 50))
    assert len(reading.compare_batch(made, "true")) > 25
