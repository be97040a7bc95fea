"""Signals while a run draws: the screen is never left half drawn, and the second one still ends the run."""

from __future__ import annotations

import os
import signal
import threading

import pytest

from advisor.commands.probe_run import handle_signals
from probes.stop import StopSignal


def test_a_second_signal_waits_for_what_is_being_drawn() -> None:
    """Both come in mid-draw: the drawing is finished, then the run ends; a third changes nothing."""
    stop, notices, drawn = StopSignal(), list[str](), list[str]()

    def draw(text: str) -> None:
        drawn.append(f"begun {text}")
        for _ in range(3):
            os.kill(os.getpid(), signal.SIGINT)
        drawn.append(f"ended {text}")

    with pytest.raises(KeyboardInterrupt), handle_signals(stop, notices.append) as signals:
        signals.block_signals(draw)("bar")
    assert drawn == ["begun bar", "ended bar"]
    assert stop.reason == "cancelled"
    assert len(notices) == 1
    assert signals.clearing


def test_a_second_signal_between_drawings_ends_it_there() -> None:
    """What follows the signal is not reached."""
    reached: list[str] = []

    def go_on() -> None:
        os.kill(os.getpid(), signal.SIGTERM)
        reached.append("stopping")
        os.kill(os.getpid(), signal.SIGTERM)
        reached.append("too far")

    with handle_signals(StopSignal(), lambda _: None) as signals:
        signals.block_signals(reached.append)("drawn")
        with pytest.raises(KeyboardInterrupt):
            go_on()
    assert reached == ["drawn", "stopping"]


def test_drawings_within_drawings_are_one() -> None:
    """The inner one does not let the signal through."""
    drawn: list[str] = []

    def outer(text: str) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)
        signals.block_signals(drawn.append)(f"inner {text}")
        drawn.append(text)

    with pytest.raises(KeyboardInterrupt), handle_signals(StopSignal(), lambda _: None) as signals:
        signals.block_signals(outer)("bar")
    assert drawn == ["inner bar", "bar"]


def test_other_threads_draw_as_they_please() -> None:
    """No interrupt is raised in a thread that gets no signals."""
    drawn: list[str] = []
    with handle_signals(StopSignal(), lambda _: None) as signals:
        os.kill(os.getpid(), signal.SIGINT)
        thread = threading.Thread(target=signals.block_signals(drawn.append), args=("elsewhere",))
        thread.start()
        thread.join()
    assert drawn == ["elsewhere"]
