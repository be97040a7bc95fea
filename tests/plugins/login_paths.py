"""Write login path files like mysql_config_editor, encrypted by openssl."""

from __future__ import annotations

import shutil
import struct
import subprocess
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

KEY = bytes(range(1, 21))


def write_login_file(path: Path, text: str) -> None:
    """Write option lines as a login path file; skips the test with a reason if openssl is not installed."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed: apt-get install openssl")
    folded = bytearray(16)
    for at, byte in enumerate(KEY):
        folded[at % 16] ^= byte
    chunks = [_enciphered(line.encode(), bytes(folded)) for line in text.splitlines(keepends=True)]
    path.write_bytes(bytes(4) + KEY + b"".join(struct.pack("<i", len(chunk)) + chunk for chunk in chunks))
    path.chmod(0o600)


def _enciphered(line: bytes, key: bytes) -> bytes:
    command = ["openssl", "enc", "-aes-128-ecb", "-K", key.hex()]
    return subprocess.run(command, input=line, capture_output=True, check=True).stdout
