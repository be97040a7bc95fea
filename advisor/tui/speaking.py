"""Sentences of the command line in the app's own words: what is a flag there is a field, a key or a screen here."""

from __future__ import annotations

import re

# What is said of flags, and the same of the dialogs before a run and a connection; in this order, the closer first.
WORDS = (
    (r"give at least --time (\S+)", r"give it a time of at least \1"),
    (r"give it more with --time", "give it more time"),
    (r"with a longer --time", "with a longer time"),
    (r" \(--time\)", ""),
    (r"--time (\w+)", r"a time of \1"),
    (r"--dir (\S+) is no directory", r"\1 is no directory"),
    (r"another --dir", "another directory"),
    (r"a disk's --dir", "a directory on a disk"),
    (r"the first one is --dir", "the first one is the one at the top"),
    (r"give --option (\w+)=\w+ beside --dir", r"write it in the field \1"),
    (r"--option (\w+=)", r"\1"),
    (r": see --dir", ": the dialog before a run takes another directory"),
    (r" with --dir", ""),
    (r", or --force (\w+)", r", or write \1 into 'in spite of'"),
    (r"--resume goes on with (them|one that broke off)", r"the dialog before the next run offers to go on with \1"),
    (r"ask for more with --rounds or --time", "ask for more time"),
    (r"add --ask-password, or put the password", "type it here, or put it"),
    (r"or give another account with --user and --ask-password", "or give another account"),
    (r", or see --user", ", or name another user"),
    (r"leave --ssl-mode out", "leave TLS empty"),
    (r"--ssl-mode (required|disabled|verify-ca)", r"TLS \1"),
    (r"^ssl-mode ", "TLS "),
    (r"--ssl-ca, --ssl-cert and --ssl-key", "the TLS CA"),
    (r"--ssl-ca ", "the TLS CA "),
    (r"--login-path ", "login path "),
    (r" \(--defaults-file\)", ""),
    (r"give --socket or --host", "name another socket, or a host"),
    (r"or use --host", "or name a host"),
    (r"; give --defaults-file instead", ""),
    (r"kept: mycnf probe results (\S+)", r"kept as \1, for mycnf probe results"),
)


def spoken(text: str) -> str:
    """The text without flags that nobody can give here."""
    for said, here in WORDS:
        text = re.sub(said, here, text)
    return text
