"""Which kinds of accounts a server has: counts, and a few names, never a password or its hash."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.collect.asking import ask, number
from advisor.collect.statements import ACCOUNTS_MARIADB, ACCOUNTS_MYSQL
from advisor.facts.server import Accounts

if TYPE_CHECKING:
    from advisor.collect.asking import Notes
    from advisor.collect.send import Row, Session


def read_accounts(session: Session, notes: Notes, *, mariadb: bool) -> tuple[Accounts, ...] | None:
    """The accounts that are not locked, by kind; None, with the reason noted, where the account may not read them."""
    answer = ask(session, ACCOUNTS_MARIADB if mariadb else ACCOUNTS_MYSQL, "server.accounts", notes)
    return None if answer is None else tuple(map(_kind, answer.rows))


def _kind(row: Row) -> Accounts:
    plugin, anonymous, bare, supreme, files, reach, count, names = row
    return Accounts(
        plugin=plugin or "",
        anonymous=anonymous == "1",
        passwordless=bare == "1",
        supreme=supreme == "1",
        reach=reach or "",
        count=number(count) or 0,
        names=names or "",
        files=files == "1",
    )
