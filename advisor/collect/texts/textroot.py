"""A host of which only a few texts are left, for the readers of hosts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.collect.host.formats import table

if TYPE_CHECKING:
    from advisor.collect.host.root import FileId
    from advisor.facts.storage import Space

_SETTINGS = "/proc/sys/"


class TextRoot:
    """/proc/meminfo and /proc/stat as they were copied, and /proc/sys as `sysctl -a` printed it."""

    def __init__(self, *, meminfo: str, stat: str, sysctl: str) -> None:
        self.files = {"/proc/meminfo": meminfo, "/proc/stat": stat}
        self.settings = table(sysctl, "=")

    def read(self, path: str, limit: int = 0) -> str | None:  # noqa: ARG002 - see Root
        """See Root."""
        if path.startswith(_SETTINGS):
            return self.settings.get(path.removeprefix(_SETTINGS).replace("/", "."))
        return self.files.get(path)

    def names(self, path: str) -> tuple[str, ...]:  # noqa: ARG002
        """See Root."""
        return ()

    def link(self, path: str) -> str | None:  # noqa: ARG002
        """See Root."""
        return None

    def real(self, path: str) -> str | None:  # noqa: ARG002
        """See Root."""
        return None

    def identify(self, path: str) -> FileId | None:  # noqa: ARG002
        """See Root."""
        return None

    def machine(self) -> str | None:
        """See Root."""
        return None

    def space(self, path: str) -> Space | None:  # noqa: ARG002
        """See Root."""
        return None
