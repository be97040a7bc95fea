"""Option files in base64: a Secret's data, a ConfigMap's binaryData."""

from __future__ import annotations

import base64

import pytest

from tests.carriers.conftest import Reader


def encoded(text: bytes) -> str:
    """The text as manifests keep it."""
    return base64.b64encode(text).decode()


OPTIONS = encoded(b"[mysqld]\nport=1\n")
APART = b"[mysqld]\n\nport=1"
LATIN = b"[mysqld]\ninit-connect=SET @a='\xff'\nport=1\n"
OTHER = encoded(b"[mysqld]\nport=2\n")


def manifest(kind: str, field: str, *lines: str) -> str:
    """A manifest of one field with its lines."""
    return "\n".join([f"kind: {kind}", "# mysql", f"{field}:", *lines, ""])


def test_on_the_line_of_the_key(carried: Reader) -> None:
    """An option stands at the value beside its key, or at the key where the value begins on a later line."""
    lines = (f"  a.cnf: {OPTIONS}", "  b.cnf: |", f"    {OTHER[:8]}", f"    {OTHER[8:]}", "  c.cnf:", f"    {OTHER}")
    document = carried(manifest("Secret", "data", *lines))
    assert [document.options(at=i) for i in range(3)] == [{"port": "1"}, {"port": "2"}, {"port": "2"}]
    assert [(line.number, line.column) for i in range(3) for line in document.lines(at=i)] == [(4, 10), (5, 10), (8, 3)]


def test_lines_of_the_decoded_text(carried: Reader) -> None:
    """The set knows the lines as the decoded text counts them."""
    document = carried(manifest("ConfigMap", "binaryData", f"  x: {encoded(APART)}"))
    assert [line.number for line in document.lines()] == [4]
    assert [line.number for line in document.within().order] == [3]


@pytest.mark.parametrize("before", ["", "#", "# ", "# x"])
def test_a_manifest_that_names_no_server(before: str, carried: Reader) -> None:
    """A Secret that mentions a server only within base64 is read, at any alignment of the word in it."""
    data = encoded(f"{before}\n[mysqld]\nport=1\n".encode())
    document = carried(f"kind: Secret\ndata:\n  x: |\n    {data[:9]}\n    {data[9:]}\n")
    assert [document.options(at=i) for i in range(len(document.labels))] == [{"port": "1"}]
    assert carried(f"kind: Other\ndata:\n  x: {data}\n").labels == []


@pytest.mark.parametrize(
    "value",
    [
        *('"??"', "W215", "{{ x | b64enc }}", "{ a: b }", encoded(b"\0[mysqld]\nport=1\n"), encoded(b"hello"), '""'),
        *(encoded(b"[client]\nport=1\n"), OPTIONS[:-3]),
    ],
)
def test_other_values(value: str, carried: Reader) -> None:
    """What is no base64, no text, not known yet or no option file of a server is skipped."""
    assert carried(manifest("Secret", "data", f"  x: {value}")).labels == []


@pytest.mark.parametrize(("kind", "field"), [("ConfigMap", "data"), ("Secret", "stringData"), ("Pod", "data")])
def test_other_fields(kind: str, field: str, carried: Reader) -> None:
    """Only fields that Kubernetes decodes are decoded."""
    assert carried(manifest(kind, field, f"  x: {OPTIONS}")).labels == []


def test_bytes_that_are_no_utf8(carried: Reader) -> None:
    """They are no reason to leave the rest unread."""
    document = carried(manifest("Secret", "data", f"  x: {encoded(LATIN)}"))
    assert document.options() == {"init-connect": "SET @a='\udcff'", "port": "1"}
