"""Option files that Kubernetes keeps in base64: the `data` of a Secret, the `binaryData` of a ConfigMap."""

from __future__ import annotations

import base64
import binascii
from typing import TYPE_CHECKING

from advisor.carriers.blocks import holds_options, text_set
from advisor.carriers.yamltree import Mapping, Scalar
from advisor.optionfile.value import looks_templated

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.carriers.document import Document
    from advisor.carriers.sets import OptionSet

FIELDS = {"Secret": "data", "ConfigMap": "binaryData"}  # by kind, where its values are base64


def encoded_values(node: Mapping) -> Iterator[tuple[Scalar, Scalar]]:
    """The keys and values of a manifest that are base64."""
    kind = node.get("kind")
    field = node.get(FIELDS.get(kind.value, "")) if isinstance(kind, Scalar) else None
    if isinstance(field, Mapping):
        yield from ((k, v) for k, v in field.pairs if isinstance(k, Scalar) and isinstance(v, Scalar))


def encoded_set(document: Document, key: Scalar, value: Scalar) -> OptionSet | None:
    """The option file that a value decodes to, at the value or, where that begins on a later line, at its key.

    The value itself is never shown: whoever sees base64 can read it.
    """
    document.hide(value.start, value.end)
    text = _decoded(document, value)
    if text is None or not holds_options(key.value, text):
        return None
    beside = document.place(key.start)[0] == document.place(value.start)[0]
    return text_set(document, key.value, text, value.start if beside else key.start, f"the decoded {key.value}")


def _decoded(document: Document, value: Scalar) -> str | None:
    """The text, bytes that are no UTF-8 as surrogates; None for what a template will fill in, and what is no text."""
    if looks_templated(document.text[value.start : value.end]):
        return None
    try:
        data = base64.b64decode("".join(value.value.split()), validate=True)
    except (binascii.Error, ValueError):
        return None
    return None if b"\0" in data else data.decode("utf-8", "surrogateescape")
