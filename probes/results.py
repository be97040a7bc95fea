"""Results of experiments as they are kept: one JSON file a run in the user's state directory, its owner's alone."""

from __future__ import annotations

import json
import os
import secrets
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import TypeAdapter, ValidationError

from advisor.facts.probes import PROBE_SCHEMA, ProbeResult
from advisor.privatefile import replace_private
from advisor.redact import clean
from probes.experiment import ProbeError

if TYPE_CHECKING:
    from collections.abc import Iterable

LARGEST = 64 << 20  # bytes: hours of per-second values of many variants take less than one megabyte
PRIVATE = 0o700
MAJOR = PROBE_SCHEMA.partition(".")[0]
_RESULT: TypeAdapter[ProbeResult] = TypeAdapter(ProbeResult)


class Kept(NamedTuple):
    """A result with the file that keeps it; `id` is how the user names it."""

    id: str
    path: str
    result: ProbeResult


class Shelf(NamedTuple):
    """All kept results, the newest first, and a line on each file that holds none."""

    kept: tuple[Kept, ...]
    damaged: tuple[str, ...]


def folder() -> str:
    """Where results are kept: $XDG_STATE_HOME/mycnf/probes, ~/.local/state/mycnf/probes without it."""
    state = os.environ.get("XDG_STATE_HOME", "")
    if not os.path.isabs(state):  # the standard wants anything else to be passed over
        state = os.path.expanduser("~/.local/state")
    return os.path.join(state, "mycnf", "probes")


def make_folder() -> str:
    """The folder, made where it isn't there, closed to others. Raises ProbeError where it can't be written."""
    place = folder()
    try:
        os.makedirs(place, mode=PRIVATE, exist_ok=True)
        if os.stat(place).st_mode & 0o077:
            os.chmod(place, PRIVATE)
        reason = "" if os.access(place, os.W_OK | os.X_OK) else "it may not be written"
    except OSError as error:
        reason = error.strerror or "no reason given"
    if reason:
        raise ProbeError(f"results can't be kept in {place} ({reason}): set XDG_STATE_HOME to a directory of yours")
    return place


def keep(result: ProbeResult, path: str | None = None) -> str:
    """Write a result, over the one at `path` where that is given, and return where it is. Raises ProbeError."""
    place = path or os.path.join(make_folder(), f"{_stem(result)}.json")
    try:
        replace_private(place, written(result).encode("ascii"))
    except OSError as error:
        raise ProbeError(
            f"the result can't be kept at {place} ({error.strerror}): free some space there, or set XDG_STATE_HOME"
        ) from error
    return place


def written(result: ProbeResult) -> str:
    """The result as the JSON that is kept."""
    return json.dumps(fields(result), ensure_ascii=True, indent=1) + "\n"


def fields(result: ProbeResult) -> dict[str, Any]:
    """The result as plain values, as JSON has them."""
    plain: dict[str, Any] = _RESULT.dump_python(result, mode="json")
    return plain


def shelf() -> Shelf:
    """Every result that is kept, whichever host it is of (a home directory may be shared)."""
    kept: list[Kept] = []
    damaged: list[str] = []
    for path in _files():
        try:
            kept.append(Kept(identity(path), path, read(path)))
        except ProbeError as error:
            damaged.append(str(error))
    return Shelf(tuple(sorted(kept, key=lambda k: (k.result.began_at, k.id), reverse=True)), tuple(damaged))


def of_host(kept: Iterable[Kept], host: str) -> list[Kept]:
    """Those that were measured on the host of that id; none for a host that can't be told from others."""
    return [k for k in kept if k.result.place.host == host and host != "unknown"]


def latest(found: Shelf, host: str) -> tuple[ProbeResult, ...]:
    """The newest result of each kind of experiment on the host of that id, for rules and snapshots.

    One kind is one experiment with the same values compared under the same parameters, on one server program and disk.
    """
    newest: dict[tuple[object, ...], ProbeResult] = {}
    for kept in of_host(found.kept, host):
        newest.setdefault(_kind(kept.result), kept.result)
    return tuple(newest.values())


def read(path: str) -> ProbeResult:
    """One kept result. Raises ProbeError with the file's name where it holds none that this version reads."""
    try:
        with open(path, "rb") as file:
            data = file.read(LARGEST + 1)
        found = json.loads(data) if len(data) <= LARGEST else None
    except OSError as error:
        raise ProbeError(f"{path} can't be read ({error.strerror}); it was passed over") from error
    except (ValueError, RecursionError) as error:
        raise ProbeError(f"{path} is cut off or damaged and was passed over; remove it") from error
    schema = found.get("schema") if isinstance(found, dict) else None
    if not isinstance(schema, str):
        raise ProbeError(f"{path} is no result of a probe and was passed over; remove it")
    if schema.partition(".")[0] != MAJOR:
        raise ProbeError(f"{path} has schema {clean(schema[:20])}, this mycnf reads {PROBE_SCHEMA}; it was passed over")
    try:
        return _RESULT.validate_python(found)
    except ValidationError as error:
        where = clean(".".join(map(str, error.errors()[0]["loc"])))[:100]
        raise ProbeError(f"{path} is damaged at {where!r} and was passed over; remove it") from error


def identity(path: str) -> str:
    """How the user names a kept result: the last word of its file's name."""
    return os.path.basename(path).removesuffix(".json").rpartition("-")[2]


def find(kept: Iterable[Kept], name: str) -> Kept | None:
    """The result of that id, or the newest of the experiment of that name."""
    return next((k for k in kept if name in (k.id, k.result.probe)), None)


def _kind(result: ProbeResult) -> tuple[object, ...]:
    compared = frozenset(arm.name for arm in result.arms)
    parameters = frozenset(result.parameters.items())
    return result.probe, result.server, result.place.path and result.place.device, compared, parameters


def _stem(result: ProbeResult) -> str:
    stamp = "".join(c for c in result.began_at if c.isalnum())
    return f"{result.probe}-{stamp}-{secrets.token_hex(3)}"


def _files() -> list[str]:
    place = folder()
    try:
        names = sorted(name for name in os.listdir(place) if name.endswith(".json"))
    except OSError:
        return []
    return [path for path in (os.path.join(place, name) for name in names) if os.path.isfile(path)]
