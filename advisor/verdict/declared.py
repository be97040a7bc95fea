"""Types for options that a document declares for a server: parameter groups, database flags, operators' fields."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from advisor.core.model import Location, Target


# Words of Amazon and Azure for a value that a user set.
BY_USERS = ("user", "user-override")


class DeclaredOption(NamedTuple):
    """A name and a value with their places.

    `value` is None if it is not in the document: an expression, a variable, or the empty text that stands for the
    default of the platform. Then only the name can be judged. `apply_method` is immediate, pending-reboot, or empty if
    the platform has no such choice. `prefix` precedes the name in the document, as in mysql_max_connections. `is_key`
    means that the document has the name as a key with the value beside it, instead of a key for each of the two.
    """

    name: str
    value: str | None
    name_place: Location
    value_place: Location
    apply_method: str = ""
    prefix: str = ""
    is_key: bool = False

    @property
    def written(self) -> str:
        """The name as the document has it."""
        return f"{self.prefix}{self.name}"


class ProviderParameter(NamedTuple):
    """What a provider's own list shows about a parameter.

    `value` is the current value, None if the list has none; `source` says who set it (user, system, engine-default; for
    Azure user-override or system-default), empty if unknown. `allowed` is the provider's notation: `1-100` or
    `ON,OFF`, empty if anything is allowed. `modifiable` is None if the list does not say. `apply_type` is static,
    dynamic or empty. `data_type` is in lower case: integer, boolean, string, list, float, enumeration, set, numeric.
    """

    name: str
    value: str | None = None
    default: str | None = None
    source: str = ""
    allowed: str = ""
    modifiable: bool | None = None
    apply_type: str = ""
    data_type: str = ""

    @property
    def is_set_by_user(self) -> bool | None:
        """Whether a user set the value; None if the list does not show it."""
        return self.source in BY_USERS if self.source else None


class DeclaredSet(NamedTuple):
    """The options that a document declares together for one server.

    `kind` is what the platform calls the whole: DB parameter group, DB cluster parameter group, database flags, server
    parameters. `scope` is instance or cluster for Amazon's groups, else empty. `target` is None if the document does
    not name the server. `ranges` are the provider's own parameters by name if the document lists them, else empty.
    `notation` is the document's language: terraform, json, yaml, or empty for an option file.
    """

    kind: str
    target: Target | None
    options: tuple[DeclaredOption, ...]
    scope: str = ""
    ranges: Mapping[str, ProviderParameter] = {}
    notation: str = ""
