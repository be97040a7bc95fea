"""Settings made up over all options of each server: how often server and verdict agree.

MYCNF_FUZZ_EXAMPLES says how many settings are put to each server (200 without it), MYCNF_FUZZ_SEED which.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator

import pytest
from asking_servers import Ask, Judge, disagreement

from probes.sandbox import Binary
from probes.sandbox.ask import ask_help
from probes.sandbox.placement import help_values

EXAMPLES = int(os.environ.get("MYCNF_FUZZ_EXAMPLES", "200"))
SEED = os.environ.get("MYCNF_FUZZ_SEED", "1")
# Options that end the program, or whose values are looked up on this host.
NOT_ASKED = (
    "help", "verbose", "version", "bootstrap", "initialize", "daemonize", "defaults", "chroot", "debug", "keyring_",
    "plugin_load", "early_plugin", "ssl_", "tls_", "init_file", "log_error", "validate_config", "standalone", "datadir",
    "basedir", "tmpdir", "lc_messages_dir", "character_sets_dir", "plugin_dir", "secure_file_priv", "bind_address",
    "lower_case_file_system", "user", "capath",
)  # fmt: skip
NUMBERS = [
    "0",
    "1",
    "-1",
    "7",
    "100",
    "1000",
    "4095",
    "65536",
    "99999999",
    "1K",
    "3M",
    "2G",
    "5T",
    "1.5G",
    "10GB",
    "abc",
    "18446744073709551615",
    "9223372036854775808",
    "99999999999999999999999",
    "0x10",
    "1e3",
    "+5",
    "4294967296",
    "2147483648",
    "12k",
    "1P",
    "20E",
]
WORDS = ["ON", "OFF", "on", "0", "1", "maybe", "true", "FALSE", "yes", "ROW", "default", "x", "2"]


def settings(options: dict[str, str], chance: random.Random) -> Iterator[str]:
    """Lines that set options to values of the kind that they print, and to some of another."""
    names = [name for name in options if not name.startswith(NOT_ASKED)]
    while True:
        name = chance.choice(names)
        plain = options[name].lstrip("-").isdigit()
        value = chance.choice([*NUMBERS, ""] if plain else [*WORDS, "", options[name]])
        if "(No" in value or " " in value:
            value = "x"
        written = name.replace("_", "-") if chance.random() < 0.3 else name
        form = chance.random()
        if form < 0.04:
            yield written
        elif form < 0.08:
            yield f"{chance.choice(['skip', 'enable', 'disable'])}-{written}"
        else:
            yield f"{written}={value}"


def test_made_up_settings(binary: Binary, ask: Ask, judge: Judge) -> None:
    """Of settings that were made up without a look at the verdict, the server takes 97 in 100 as foretold."""
    printed = help_values(ask_help(binary, placed=True).stdout)
    options = {name.replace("-", "_"): value for name, value in printed.items()}
    made = settings(options, random.Random(f"{SEED} {binary.name}"))  # noqa: S311 - no secrets here
    wrong = [told for _ in range(EXAMPLES) if (told := disagreement(line := next(made), ask(line), judge(line)))]
    print("\n".join(wrong))
    assert len(wrong) <= 0.03 * EXAMPLES, f"{len(wrong)} of {EXAMPLES} disagree"


@pytest.mark.parametrize("kind", ["number", "word"])
def test_the_settings_are_spread(kind: str) -> None:
    """The made-up settings reach every option and both kinds of values."""
    options = {f"option_{n}": "5" if kind == "number" else "ON" for n in range(20)}
    made = settings(options, random.Random(1))  # noqa: S311
    lines = [next(made) for _ in range(400)]
    assert len({line.replace("-", "_").partition("=")[0] for line in lines}) >= len(options)
