"""Which server program an experiment runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from probes.experiment import Choice, ProbeError

if TYPE_CHECKING:
    from collections.abc import Callable

    from probes.experiment import Ground
    from probes.sandbox import Binary

SERVER = Choice("server", "word", "", "the server to start, such as mysql-8.0 or a program's path; the first one found")


def binary_for(
    ground: Ground, word: str, fits: Callable[[Binary], bool] = lambda _: True, why: str = "suits this probe"
) -> Binary:
    """The program that `word` means (its name, path, target or the start of one), or the first that `fits`.

    Raises ProbeError where there is none; `why` says what the ones that don't fit lack.
    """
    if not ground.binaries:
        raise ProbeError(
            "no MySQL or MariaDB server program was found on this host: install one (it is started on a scratch "
            "directory of its own), or name its path"
        )
    named = [binary for binary in ground.binaries if _means(word, binary)]
    if not named:
        known = ", ".join(binary.name for binary in ground.binaries)
        raise ProbeError(f"no server here is called {word!r}: there is {known}")
    fitting = [binary for binary in named if fits(binary)]
    if not fitting:
        raise ProbeError(f"{', '.join(binary.name for binary in named)}: none {why}")
    return fitting[0]


def _means(word: str, binary: Binary) -> bool:
    target = str(binary.target)
    return word in ("", binary.name, binary.program, target, binary.target.flavour) or target.startswith(word + ".")
