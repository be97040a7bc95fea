"""Whether the packages `rules` and `probes` that Python finds are ours: others in the world have the same names."""

from __future__ import annotations

from advisor.exits import MycnfError

PRODUCT = "mycnf-advisor"
OURS = ("rules", "probes")


def check_packages() -> None:
    """Raise one clear MycnfError where another distribution's package stands in the place of ours."""
    for name in OURS:
        package = __import__(name)
        if getattr(package, "PRODUCT", None) != PRODUCT:
            raise MycnfError(
                f"the Python package {name!r} at {getattr(package, '__file__', 'an unknown place')} is not mycnf's: "
                "another distribution is installed beside it. Install mycnf by itself: pipx install mycnf-advisor"
            )
