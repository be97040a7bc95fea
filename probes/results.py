"""Results of experiments as they are kept: one JSON file a run in the user's state directory, its owner's alone."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from advisor.core.errors import MycnfError
from advisor.facts.codec import ShapeError, to_plain, to_value
from advisor.facts.probes import PROBE_SCHEMA, ProbeResult
from advisor.redaction.secrets import escape_text
from advisor.state.directory import make_state_folder, state_folder
from advisor.state.private_file import PART, replace_private
from probes.experiment import ProbeError

if TYPE_CHECKING:
    from collections.abc import Iterable

MAXIMUM_BYTES = 64 << 20  # bytes: hours of per-second values of many variants take less than one megabyte
FOLDER = "probes"
WRITING_SECONDS = 60.0  # seconds after which nobody is still writing
SCHEMA_MAJOR = PROBE_SCHEMA.partition(".")[0]


class KeptResult(NamedTuple):
    """A result with the file that keeps it; `id` is how the user names it."""

    id: str
    path: str
    result: ProbeResult


class KeptResults(NamedTuple):
    """All kept results, the newest first, and a line on each file that holds none."""

    kept: tuple[KeptResult, ...]
    damaged: tuple[str, ...]


def results_folder() -> str:
    """Where results are kept: $XDG_STATE_HOME/mycnf/probes, ~/.local/state/mycnf/probes without it."""
    return state_folder(FOLDER)


def make_results_folder() -> str:
    """The folder, made where it isn't there, closed to others. Raises ProbeError where it can't be written."""
    try:
        return make_state_folder(FOLDER)
    except MycnfError as error:
        raise ProbeError(str(error)) from error


def write_result(result: ProbeResult, path: str | None = None) -> str:
    """Write a result, over the one at `path` where that is given, and return where it is. Raises ProbeError."""
    place = path or os.path.join(make_results_folder(), f"{_file_stem(result)}.json")
    try:
        replace_private(place, result_json(result).encode("ascii"))
    except OSError as error:
        raise ProbeError(
            f"cannot save the result to {place} ({error.strerror}): free space there, or set XDG_STATE_HOME"
        ) from error
    return place


def remove_partial_files() -> None:
    """Remove the parts of results that a kill -9 kept from becoming whole."""
    with contextlib.suppress(OSError):
        for entry in list(os.scandir(results_folder())):
            if entry.name.endswith(PART) and time.time() - entry.stat(follow_symlinks=False).st_mtime > WRITING_SECONDS:
                os.unlink(entry.path)


def result_json(result: ProbeResult) -> str:
    """The result as the JSON that is kept."""
    return json.dumps(result_fields(result), ensure_ascii=True, indent=1) + "\n"


def result_fields(result: ProbeResult) -> dict[str, Any]:
    """The result as plain values, as JSON has them."""
    told: dict[str, Any] = to_plain(result)
    return told


def read_all() -> KeptResults:
    """Every result that is kept, whichever host it is of (a home directory may be shared)."""
    kept: list[KeptResult] = []
    damaged: list[str] = []
    for path in _result_files():
        try:
            kept.append(KeptResult(result_id(path), path, read_result(path)))
        except ProbeError as error:
            damaged.append(str(error))
    return KeptResults(tuple(sorted(kept, key=lambda k: (k.result.began_at, k.id), reverse=True)), tuple(damaged))


def results_of_host(kept: Iterable[KeptResult], host: str) -> list[KeptResult]:
    """Those that were measured on the host of that id; none for a host that can't be told from others."""
    return [k for k in kept if k.result.place.host == host and host != "unknown"]


def latest_results(found: KeptResults, host: str) -> tuple[ProbeResult, ...]:
    """What the host of that id measured in each kind of experiment, the newest kind first, for rules and snapshots.

    One kind is one experiment with the same values compared under the same parameters, on one server program and disk.
    Its runs are one result as far as they can be (see `pooled`), so that a worse run takes nothing from a better one.
    """
    kinds: dict[tuple[object, ...], list[ProbeResult]] = {}
    for kept in results_of_host(found.kept, host):
        kinds.setdefault(_configuration(kept.result), []).append(kept.result)
    if not any(len(runs) > 1 for runs in kinds.values()):
        return tuple(run for runs in kinds.values() for run in runs)
    from probes.pooling import pool_runs  # imported lazily: statistics take longer to load than one run of a kind needs

    return tuple(pool_runs(runs) for runs in kinds.values())


def read_result(path: str) -> ProbeResult:
    """One kept result. Raises ProbeError with the file's name where it holds none that this version reads."""
    try:
        with open(path, "rb") as file:
            data = file.read(MAXIMUM_BYTES + 1)
        found = json.loads(data) if len(data) <= MAXIMUM_BYTES else None
    except OSError as error:
        raise ProbeError(f"{path} can't be read ({error.strerror}); file ignored") from error
    except (ValueError, RecursionError) as error:
        raise ProbeError(f"{path} is truncated or damaged, file ignored; remove it") from error
    schema = found.get("schema") if isinstance(found, dict) else None
    if not isinstance(schema, str):
        raise ProbeError(f"{path} is not a probe result, file ignored; remove it")
    if schema.partition(".")[0] != SCHEMA_MAJOR:
        raise ProbeError(f"{path} has schema {escape_text(schema[:20])}, this mycnf reads {PROBE_SCHEMA}; file ignored")
    try:
        return to_value(found, ProbeResult)
    except ShapeError as error:
        raise ProbeError(f"{path} is damaged at {escape_text(error.place)[:100]!r} file ignored; remove it") from error


def result_id(path: str) -> str:
    """How the user names a kept result: the last word of its file's name."""
    return os.path.basename(path).removesuffix(".json").rpartition("-")[2]


def find_result(kept: Iterable[KeptResult], name: str) -> KeptResult | None:
    """The result of that id, or the newest of the experiment of that name."""
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
