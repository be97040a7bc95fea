"""Words typed faster than the app draws: a slow line hands over many keys at once."""

from __future__ import annotations

import pytest
from app_driver import driven, until
from textual.events import Key
from textual.widgets import Input


@pytest.mark.parametrize(
    ("digit", "field"), [("1", "#findings-filter"), ("2", "#variables-filter"), ("5", "#files-sought")]
)
async def test_what_is_typed_behind_the_slash_is_looked_for(digit: str, field: str) -> None:
    """No letter of it is taken for a key, `q` least of all; a second slash is a letter; so when it is used again."""
    async with driven() as (app, pilot):
        await pilot.press(digit)
        await until(pilot, lambda: app.focused is not None and app.focused.has_focus_within)
        for words in ("query/", "sync"):
            for letter in f"/{words}":
                app.post_message(Key("slash" if letter == "/" else letter, letter))
            await until(pilot, lambda: [box.value for box in app.query(field).results(Input)] == [words])  # noqa: B023
            await pilot.press("escape")
            await until(pilot, lambda: not app.query_one(field).has_focus)
        assert app.return_value is None
