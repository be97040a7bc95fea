"""Saved probe results: one JSON file per run in the user's state directory, readable only by its owner."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from advisor.core.errors import MycnfError
from advisor.facts.probes import PROBE_SCHEMA, ProbeResult
from advisor.facts.snapshot import ShapeError, to_plain, to_value
from advisor.redaction import escape_text
from advisor.state.directory import make_state_folder, state_folder
from advisor.state.private_file import PART, replace_private
from probes.experiment import ProbeError

if TYPE_CHECKING:
    from collections.abc import Iterable

MAXIMUM_BYTES = 64 << 20  # bytes; hours of per-second values of many variants take less than one megabyte
FOLDER = "probes"
WRITING_SECONDS = 60.0  # seconds; no write takes longer
SCHEMA_MAJOR = PROBE_SCHEMA.partition(".")[0]


class KeptResult(NamedTuple):
    """A result and its file; the user refers to it by `id`."""

    id: str
    path: str
    result: ProbeResult


class KeptResults(NamedTuple):
    """All saved results, newest first, and a line for each file that is not a valid result."""

    kept: tuple[KeptResult, ...]
    damaged: tuple[str, ...]


def results_folder() -> str:
    """The folder of results: $XDG_STATE_HOME/mycnf/probes or ~/.local/state/mycnf/probes."""
    return state_folder(FOLDER)


def make_results_folder() -> str:
    """Create the folder, closed to other users, and return it; raises ProbeError if it cannot be written."""
    try:
        return make_state_folder(FOLDER)
    except MycnfError as error:
        raise ProbeError(str(error)) from error


def write_result(result: ProbeResult, path: str | None = None) -> str:
    """Write a result, to `path` if given, and return its path; raises ProbeError."""
    place = path or os.path.join(make_results_folder(), f"{_file_stem(result)}.json")
    try:
        replace_private(place, result_json(result).encode("ascii"))
    except OSError as error:
        raise ProbeError(
            f"cannot save the result to {place} ({error.strerror}): free space there, or set XDG_STATE_HOME"
        ) from error
    return place


def remove_partial_files() -> None:
    """Remove incomplete result files that killed processes left."""
    with contextlib.suppress(OSError):
        for entry in list(os.scandir(results_folder())):
            if entry.name.endswith(PART) and time.time() - entry.stat(follow_symlinks=False).st_mtime > WRITING_SECONDS:
                os.unlink(entry.path)


def result_json(result: ProbeResult) -> str:
    """The result as JSON text for its file."""
    return json.dumps(result_fields(result), ensure_ascii=True, indent=1) + "\n"


def result_fields(result: ProbeResult) -> dict[str, Any]:
    """The result as plain values for JSON."""
    fields: dict[str, Any] = to_plain(result)
    return fields


def read_all() -> KeptResults:
    """All saved results, of all hosts, because a home directory may be shared."""
    kept: list[KeptResult] = []
    damaged: list[str] = []
    for path in _result_files():
        try:
            kept.append(KeptResult(result_id(path), path, read_result(path)))
        except ProbeError as error:
            damaged.append(str(error))
    return KeptResults(tuple(sorted(kept, key=lambda k: (k.result.began_at, k.id), reverse=True)), tuple(damaged))


def results_of_host(kept: Iterable[KeptResult], host: str) -> list[KeptResult]:
    """The results from the host with that id; empty if the id is unknown."""
    return [k for k in kept if k.result.place.host == host and host != "unknown"]


def latest_results(kept_results: KeptResults, host: str) -> tuple[ProbeResult, ...]:
    """The results of the host with that id, one per configuration, newest first, for rules and snapshots.

    A configuration is a probe with the same compared values and parameters, on one server program and disk. Its runs
    are pooled if possible (see `pool_runs`), so that a worse run does not replace a better one.
    """
    kinds: dict[tuple[object, ...], list[ProbeResult]] = {}
    for kept in results_of_host(kept_results.kept, host):
        kinds.setdefault(_configuration(kept.result), []).append(kept.result)
    if not any(len(runs) > 1 for runs in kinds.values()):
        return tuple(run for runs in kinds.values() for run in runs)
    from probes.pooling import pool_runs  # lazily: statistics take long to load

    return tuple(pool_runs(runs) for runs in kinds.values())


def read_result(path: str) -> ProbeResult:
    """One saved result; raises ProbeError with the file name if this version cannot read it."""
    try:
        with open(path, "rb") as file:
            data = file.read(MAXIMUM_BYTES + 1)
        document = json.loads(data) if len(data) <= MAXIMUM_BYTES else None
    except OSError as error:
        raise ProbeError(f"{path} can't be read ({error.strerror}); file ignored") from error
    except (ValueError, RecursionError) as error:
        raise ProbeError(f"{path} is truncated or damaged, file ignored; remove it") from error
    schema = document.get("schema") if isinstance(document, dict) else None
    if not isinstance(schema, str):
        raise ProbeError(f"{path} is not a probe result, file ignored; remove it")
    if schema.partition(".")[0] != SCHEMA_MAJOR:
        raise ProbeError(f"{path} has schema {escape_text(schema[:20])}, this mycnf reads {PROBE_SCHEMA}; file ignored")
    try:
        return to_value(document, ProbeResult)
    except ShapeError as error:
        raise ProbeError(f"{path} is damaged at {escape_text(error.place)[:100]!r}, file ignored; remove it") from error


def result_id(path: str) -> str:
    """The id of a saved result: the last part of its file name."""
    return os.path.basename(path).removesuffix(".json").rpartition("-")[2]


def find_result(kept: Iterable[KeptResult], name: str) -> KeptResult | None:
    """The result with that id, or the newest result of the probe with that name."""
    return next((k for k in kept if name in (k.id, k.result.probe)), None)


def _configuration(result: ProbeResult) -> tuple[object, ...]:
    compared = frozenset(arm.name for arm in result.arms)
    parameters = frozenset(result.parameters.items())
    return result.probe, result.server, result.place.path and result.place.device, compared, parameters


def _file_stem(result: ProbeResult) -> str:
    stamp = "".join(c for c in result.began_at if c.isalnum())
    return f"{result.probe}-{stamp}-{secrets.token_hex(3)}"


def _result_files() -> list[str]:
    place = results_folder()
    try:
        names = sorted(name for name in os.listdir(place) if name.endswith(".json"))
    except OSError:
        return []
    return [path for path in (os.path.join(place, name) for name in names) if os.path.isfile(path)]
