"""Which kind of document a file is, by its name and first bytes, and its option sets."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from advisor.carriers.document import CarrierError, Document, document_of
from advisor.carriers.foreign import refuse_content, refuse_language, refuse_list

if TYPE_CHECKING:
    from advisor.carriers.sets import Carrier

_PERSISTED = r"\s*\{\s*\"(?:Version|mysql_server)\""
_UNIT = r"(?m)^\[(?:Service|Unit)\]\s*$"
_IMAGE_NAME = r"(?s)(?:docker|container)file.*|.*\.(?:docker|container)file"
_OPTION_FILES = (".cnf", ".ini")
_YAML_NAMES = (".yml", ".yaml", ".json")


def carrier_of(data: bytes, path: str, name: str, root: str | None = None) -> Carrier | None:
    """The document's sets; None where it is an option file after all.

    `name` is the file's name without a template's ending, `root` stands before absolute paths that the document names.
    Raises CarrierError where it can't be read.
    """
    from advisor.carriers.words import TooLongError

    try:
        return _carrier_of(data, path, name, root)
    except TooLongError as error:
        raise CarrierError(f"{path}: {error}") from error


def _carrier_of(data: bytes, path: str, name: str, root: str | None) -> Carrier | None:
    refuse_language(path, name)
    head = data[:4096].decode("utf-8", "replace").removeprefix("\ufeff")
    if "mysqld-auto" in name or re.match(_PERSISTED, head):
        return _persisted(document_of(data, path))
    if name.endswith(_YAML_NAMES):
        from advisor.carriers.yamlfile import read_yaml

        carrier = read_yaml(document_of(data, path))
        if not carrier.sets:
            refuse_content(path, carrier.document.text)
        return carrier
    text = data.decode("utf-8", "replace")
    refuse_list(path, name, text)
    if name.endswith(".service") or re.search(_UNIT, text):
        from advisor.carriers.unitfile import read_unit

        return read_unit(document_of(data, path), root)
    if re.fullmatch(_IMAGE_NAME, name) and not name.endswith(_OPTION_FILES):
        from advisor.carriers.dockerfile import read_dockerfile

        return read_dockerfile(document_of(data, path))
    return None


def _persisted(document: Document) -> Carrier:
    from advisor.carriers.jsontree import check_json
    from advisor.carriers.persisted import read_persisted

    check_json(document)
    return read_persisted(document)
