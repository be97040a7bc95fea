"""The app examines the definitions of tables only after a question."""

from __future__ import annotations

from pathlib import Path

import pytest
from app_driver import driven, screen_text, until
from real_servers import Start


@pytest.mark.servers("mysql-9.7", "mariadb-10.11")
async def test_tables_are_examined_after_a_question(server_name: str, start: Start, tmp_path: Path) -> None:
    """`S` asks; Enter and `n` read nothing, `y` reads once, and a refresh keeps what was read."""
    server, empty = start(server_name), tmp_path / "empty.cnf"
    empty.touch()
    connection = server.connect(autocommit=True)
    with connection, connection.cursor() as cursor:
        cursor.execute("CREATE DATABASE shop")
        cursor.execute("CREATE TABLE shop.t (id INT AUTO_INCREMENT PRIMARY KEY) AUTO_INCREMENT = 2147483000")
    words = ("--defaults-file", str(empty), "--socket", server.socket, "--user", "root")
    async with driven(*words, size=(120, 40)) as (app, pilot):

        def risks() -> object:
            return app.view.audited.facts.schema_risks if app.view else None

        assert risks() is None
        await pilot.press("S")
        await until(pilot, lambda: "y examines them" in screen_text(app))
        await pilot.press("enter")
        await pilot.press("n")
        await until(pilot, lambda: len(app.screen_stack) == 1)
        before = app.view
        await pilot.press("r")
        await until(pilot, lambda: app.view is not before)
        assert risks() is None
        await pilot.press("S")
        await until(pilot, lambda: len(app.screen_stack) > 1)
        await pilot.press("y")
        await until(pilot, lambda: risks() is not None)
        examined, before = risks(), app.view
        assert app.view is not None
        assert "SCH001" in {finding.code for finding in app.view.audited.findings}
        await pilot.press("r")
        await until(pilot, lambda: app.view is not before)
        assert risks() == examined
        assert "SCH001" in {finding.code for finding in app.view.audited.findings}


async def test_recording_has_no_tables_to_examine() -> None:
    """A recorded server can't be asked."""
    async with driven() as (app, pilot):
        await pilot.press("S")
        await until(
            pilot, lambda: any("audit a running server" in notification.message for notification in app._notifications)
        )
        assert len(app.screen_stack) == 1
