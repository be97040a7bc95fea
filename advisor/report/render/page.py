"""The frame of a page: its head, which lets nothing in but its own style and script, and what surrounds the parts."""

from __future__ import annotations

import base64
import hashlib
import os
from functools import cache
from typing import TYPE_CHECKING

from advisor import __version__
from advisor.report.render.markup import Html, tag

if TYPE_CHECKING:
    from collections.abc import Sequence

FOLDER = os.path.dirname(os.path.abspath(__file__))
THEMES = (("", "as the system has it"), ("light", "light"), ("dark", "dark"))


def document(title: str, head: Sequence[str], parts: Sequence[str], foot: str) -> str:
    """The whole page; `head` is what stands beside the title, `parts` are sections, `foot` the last line."""
    style, script = _asset("page.css"), _asset("page.js")
    about = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=Html(_policy(style, script))),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="generator", content=f"mycnf {__version__}"),
        tag("link", rel="icon", href="data:,"),
        tag("title", title),
        tag("style", style),
    )
    body = tag(
        "body",
        tag("a", "Skip to the content", class_="skip", href="#content"),
        tag("header", _theme(), tag("h1", title), *head),
        tag("main", *parts, id="content", tabindex="-1"),
        tag("footer", tag("p", foot)),
        tag("script", script),
    )
    return f"<!doctype html>\n{tag('html', about, body, lang='en')}\n"


def _policy(style: str, script: str) -> str:
    """Nothing may be fetched, sent or framed; of styles and scripts, these two alone are in force."""
    return (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(content: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}"


@cache
def _asset(name: str) -> Html:
    with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
        return Html(file.read())


def _theme() -> Html:
    """The switch of colours, which the script shows."""
    options = [tag("option", words, value=value) for value, words in THEMES]
    return tag("div", tag("label", "Colours ", tag("select", *options, id="theme")), class_="theme", hidden=True)
