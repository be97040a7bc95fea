"""`mycnf audit` on a terminal: the app for the server or snapshot on the command line."""

from __future__ import annotations

import dataclasses
from functools import cache, partial
from typing import TYPE_CHECKING

from msgspec.structs import replace

from advisor.core import errors
from advisor.core.errors import ConnectError
from advisor.tui.start import AuditSource, ProbeSite, StartOptions

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from advisor.analysis.audited import AuditResult
    from advisor.collect.connection.options import ConnectRequest
    from advisor.collect.server.schema import SchemaLimits
    from advisor.commands.judge_facts import AuditRequest
    from advisor.core.model import Finding
    from advisor.facts import Facts
    from advisor.tui.app import AuditApp


def run(args: argparse.Namespace) -> int:
    """Run the app and return its exit code."""
    import gc

    gc.disable()  # nothing loaded at startup is garbage; the app enables it once it is up
    from advisor.tui.app import AuditApp
    from advisor.tui.preferences import is_first_start, read_theme

    app = AuditApp(replace(make_opening(args), theme=read_theme(), first_start=is_first_start()))
    show_narration(app)
    code = app.run(mouse=not args.no_mouse)
    return errors.USAGE if code is None else code  # None after a crash, or without an exit code


def show_narration(app: AuditApp) -> None:
    """Show notices in the app, since it draws on the terminal that they would be written to."""
    from advisor.core.errors import redirect_notices
    from advisor.tui.text import replace_flags
    from advisor.tui.workers import Notice

    redirect_notices(lambda words: app.post_message(Notice(replace_flags(words))))


def make_opening(args: argparse.Namespace) -> StartOptions:
    """Return the app's start options from the command line; rules are selected once there are facts to judge."""
    from advisor.commands.collect import DEMO_SERIES
    from advisor.tui.preferences import read_keymap

    @cache
    def build_request() -> AuditRequest:
        from advisor.commands.judge_facts import make_request

        return make_request(args)

    def judge(facts: Facts) -> AuditResult:
        from advisor.commands.judge_facts import audit_facts

        return audit_facts(facts, build_request(), silent=True)

    def baseline() -> str:
        return build_request().args.baseline or ""

    def aside(finding: Finding, reason: str) -> None:
        from advisor.commands.judge_facts import suppress_in_baseline

        suppress_in_baseline(baseline(), finding, reason)

    whole = partial(StartOptions, keymap=read_keymap(), change_baseline=aside, baseline=baseline)
    if args.texts:
        from advisor.commands.collect import load_texts

        return whole(AuditSource("snapshot", ", ".join(args.texts), partial(load_texts, args), judge))
    if args.snapshot or args.demo:
        from advisor.commands.collect import load_snapshot

        read = partial(load_snapshot, args)
        if args.demo:
            source = AuditSource("demo", "a recorded server", read, judge, series=DEMO_SERIES)
        else:
            source = AuditSource("snapshot", args.snapshot, read, judge)
        return whole(source)

    def connect(request: ConnectRequest, password: str = "") -> AuditSource:
        return _live(request, password, judge, args)

    from advisor.commands.connection import request_of

    request = request_of(args)
    try:
        return whole(connect(request), connect, request, site=_site)
    except ConnectError as error:
        return whole(None, connect, request, str(error), site=_site)


def _site(directory: str | None) -> ProbeSite:
    """Return this host for probes; messages of the preparation are left to the app."""
    from advisor.commands.probe_place import choose_directory, make_environment

    place = choose_directory(directory)
    return ProbeSite(place.path, place.why, make_environment(place.path, None, lambda _: None))


def _live(
    request: ConnectRequest, password: str, judge: Callable[[Facts], AuditResult], args: argparse.Namespace
) -> AuditSource:
    from advisor.collect.collect import CollectRequest, collect_from_account
    from advisor.collect.connection.options import resolve_account
    from advisor.collect.connection.session import open_session
    from advisor.commands.collect import load_probe_results
    from advisor.commands.connection import apply_declared_host, schema_limits
    from advisor.commands.sample import load_samples, load_spaces

    chosen = resolve_account(request)
    if password:
        chosen = dataclasses.replace(chosen, password=password.encode(), credential_source="password as typed")

    limits = schema_limits(args)
    examined: Facts | None = None

    def collect(schema: SchemaLimits | None) -> Facts:
        facts = collect_from_account(chosen, CollectRequest(request, window=0, schema=schema))
        facts = replace(facts, sampled=load_samples(facts.server), spaces=load_spaces(facts))
        facts = replace(facts, probes=load_probe_results()) if facts.host is not None else facts
        return apply_declared_host(facts, args)

    def read() -> Facts:
        if examined is None:
            return read_schema() if args.schema else collect(None)
        return _keep_schema(examined, collect(None))

    def read_schema() -> Facts:
        nonlocal examined
        examined = collect(limits or schema_limits(args, requested=True))
        return examined

    return AuditSource("live", chosen.place, read, judge, partial(open_session, chosen), read_schema)


def _keep_schema(before: Facts, facts: Facts) -> Facts:
    """The facts with the definitions of tables that were read before."""
    from advisor.collect.server.schema import PART

    gaps = [gap for gap in facts.unavailable if not gap.part.startswith(PART)]
    gaps += [gap for gap in before.unavailable if gap.part.startswith(PART)]
    return replace(facts, schema_risks=before.schema_risks, unavailable=tuple(gaps))
