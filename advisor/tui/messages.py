"""What background threads tell the app: frozen values, never widgets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.message import Message

if TYPE_CHECKING:
    from advisor.facts import Sample
    from advisor.facts.probes import ProbeResult
    from advisor.tui.view import View


class Told(Message):
    """What came of a feed or a sampler; `source` is that one, so that the app can pass over what it has left since."""

    source: object | None = None


class Arrived(Told):
    """An audit is done."""

    def __init__(self, view: View) -> None:
        self.view = view
        super().__init__()


class Failed(Told):
    """An audit could not be had; `reason` is one line with the remedy, `code` the exit code that it stands for."""

    def __init__(self, reason: str, code: int) -> None:
        self.reason = reason
        self.code = code
        super().__init__()


class Sampled(Told):
    """The server's counters were read once more."""

    def __init__(self, sample: Sample) -> None:
        self.sample = sample
        super().__init__()


class Gone(Told):
    """The running server no longer answers; reading goes on being tried."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__()


class Measured(Message):
    """An experiment on this host has a result, which is kept already where it could be."""

    def __init__(self, result: ProbeResult) -> None:
        self.result = result
        super().__init__()


class Noted(Message):
    """One line for the user from a background thread; `severity` is information, warning or error."""

    def __init__(self, words: str, severity: str = "information") -> None:
        self.words = words
        self.severity = severity
        super().__init__()
