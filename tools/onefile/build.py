"""Build mycnf.pyz: the product and its dependencies in one file that runs with `python3 mycnf.pyz` or directly.

usage: build.py [--no-deps] [--wheel FILE] OUT

The file unpacks itself once into the user's cache, because some dependencies are compiled and the catalogs are read as
files; without dependencies it still lints, shows and explains.
"""

from __future__ import annotations

import argparse
import glob
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
STARTER = os.path.join(HERE, "starter.py")
PINS = os.path.join(os.path.dirname(os.path.dirname(HERE)), "requirements", "product.txt")
OLDEST = 315532800  # 1980 in seconds since 1970; the earliest time in a zip file
# pip's installation records, which contain the builder's paths and are not needed at run time.
NOTES = ("RECORD", "INSTALLER", "REQUESTED", "direct_url.json")


def main() -> None:
    """Install the wheel into a folder, add the starter, and zip both."""
    args = _arguments()
    with tempfile.TemporaryDirectory() as folder:
        site = os.path.join(folder, "site")
        _install(args.wheel or _newest_wheel(), site, dependencies=not args.no_deps)
        _write_starter(folder, site)
        _zip(folder, args.out)
    os.chmod(args.out, 0o755)  # noqa: S103 - zipapp lets its owner alone run it, and it is for everybody
    print(f"{args.out} ({os.path.getsize(args.out) >> 10} K)")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="build mycnf.pyz from a wheel")
    parser.add_argument("--no-deps", action="store_true", help="leave audit's dependencies out")
    parser.add_argument("--wheel", help="the wheel to use (default: the one in dist/)")
    parser.add_argument("out")
    return parser.parse_args()


def _newest_wheel() -> str:
    wheels = glob.glob(os.path.join(os.path.dirname(os.path.dirname(HERE)), "dist", "*.whl"))
    if not wheels:
        sys.exit("zipapp: there is no wheel in dist/: make wheel")
    return max(wheels, key=os.path.getmtime)


def _install(wheel: str, site: str, *, dependencies: bool) -> None:
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--target", site]
    if dependencies and subprocess.run([*pip, "--require-hashes", "--requirement", PINS], check=False).returncode:
        sys.exit("zipapp: pip could not install what mycnf needs (is there a network?)")
    shutil.rmtree(os.path.join(site, "bin"), ignore_errors=True)  # otherwise pip would warn that it exists
    if subprocess.run([*pip, "--no-deps", "--no-index", wheel], check=False).returncode:
        sys.exit("zipapp: pip could not install the wheel")
    shutil.rmtree(os.path.join(site, "bin"), ignore_errors=True)
    shutil.rmtree(os.path.join(site, "share"), ignore_errors=True)
    for cache in glob.glob(os.path.join(site, "**", "__pycache__"), recursive=True):
        shutil.rmtree(cache)
    for note in (n for name in NOTES for n in glob.glob(os.path.join(site, "*.dist-info", name))):
        os.unlink(note)


def _zip(folder: str, out: str) -> None:
    """Write an executable zip; the same files always give the same bytes."""
    at = time.gmtime(max(OLDEST, int(os.environ.get("SOURCE_DATE_EPOCH") or 0)))
    paths = sorted(os.path.join(above, name) for above, _, names in os.walk(folder) for name in names)
    with open(out, "wb") as file:
        file.write(b"#!/usr/bin/env python3\n")
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in paths:
                entry = zipfile.ZipInfo(os.path.relpath(path, folder), at[:6])
                entry.compress_type = zipfile.ZIP_DEFLATED
                entry.external_attr = 0o100644 << 16
                with open(path, "rb") as source:
                    archive.writestr(entry, source.read())


def _write_starter(folder: str, site: str) -> None:
    with open(STARTER, encoding="utf-8") as file:
        text = file.read()
    version = "{}.{}".format(*sys.version_info[:2])
    with open(os.path.join(folder, "__main__.py"), "w", encoding="utf-8") as file:
        file.write(text.replace("@DIGEST@", _digest(site)).replace("@PYTHON@", version))


def _digest(site: str) -> str:
    """A hash of the content, so that two releases never share an unpacked folder."""
    digest = hashlib.sha256()
    for folder, folders, names in os.walk(site):
        folders.sort()
        for name in sorted(names):
            path = os.path.join(folder, name)
            digest.update(os.path.relpath(path, site).encode())
            with open(path, "rb") as file:
                digest.update(hashlib.sha256(file.read()).digest())
    return digest.hexdigest()[:16]


if __name__ == "__main__":
    main()
