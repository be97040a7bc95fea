"""The small JSON file beside each provisioned server that says what stands where."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from provisioning.shelf import ProvisionError, shelf

FORMAT = 1
FILE = "manifest.json"


@dataclass(frozen=True)
class Manifest:
    """One provisioned server; paths are relative to its folder on the shelf.

    `server` and `print_defaults` are shell launchers that set the library path; `print_defaults` is None
    where the server comes without that program.
    """

    name: str
    version: str
    source: str
    basedir: str
    share: str
    plugins: str | None
    executable: str
    server: str
    print_defaults: str | None
    libraries: list[str]
    format: int = FORMAT

    def write(self, folder: Path) -> None:
        """Write the manifest into the folder that it describes."""
        text = json.dumps(asdict(self), indent=2, sort_keys=True) + "\n"
        (folder / FILE).write_text(text, encoding="utf-8")


def read(name: str) -> Manifest | None:
    """The manifest of a server on the shelf, None where there is none or an older provisioner wrote it."""
    file = shelf() / name / FILE
    try:
        fields = json.loads(file.read_text(encoding="utf-8"))
        manifest = Manifest(**fields)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (ValueError, TypeError):
        return None
    except OSError as error:
        raise ProvisionError(f"{file} can't be read ({error.strerror})") from error
    return manifest if manifest.format == FORMAT else None
