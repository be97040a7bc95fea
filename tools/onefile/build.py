"""Build mycnf.pyz: the product and what it needs in one file that runs with `python3 mycnf.pyz` or by its own name.

usage: build.py [--no-deps] [--wheel FILE] OUT

The file unpacks itself once into the user's cache, because parts of its dependencies are compiled and the catalogs
are read as files; without dependencies it still lints, shows and explains.
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
import zipapp

HERE = os.path.dirname(os.path.abspath(__file__))
STARTER = os.path.join(HERE, "starter.py")


def main() -> None:
    """Install the wheel into a folder, put the starter beside it, and zip both."""
    args = _arguments()
    with tempfile.TemporaryDirectory() as folder:
        site = os.path.join(folder, "site")
        _install(args.wheel or _newest_wheel(), site, dependencies=not args.no_deps)
        _write_starter(folder, site)
        zipapp.create_archive(folder, args.out, interpreter="/usr/bin/env python3", compressed=True)
    os.chmod(args.out, 0o755)  # noqa: S103 - zipapp lets its owner alone run it, and it is for everybody
    print(f"{args.out} ({os.path.getsize(args.out) >> 10} K)")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="build mycnf.pyz from a wheel")
    parser.add_argument("--no-deps", action="store_true", help="leave audit's dependencies out")
    parser.add_argument("--wheel", help="the wheel to use (default: the one in dist/)")
    parser.add_argument("out")
    return parser.parse_args()


def _newest_wheel() -> str:
    found = glob.glob(os.path.join(os.path.dirname(os.path.dirname(HERE)), "dist", "*.whl"))
    if not found:
        sys.exit("zipapp: there is no wheel in dist/: make wheel")
    return max(found, key=os.path.getmtime)


def _install(wheel: str, site: str, *, dependencies: bool) -> None:
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--target", site]
    extra = [] if dependencies else ["--no-deps", "--no-index"]
    if subprocess.run([*pip, *extra, wheel], check=False).returncode:
        sys.exit("zipapp: pip could not install the wheel and what it needs (is there a network?)")
    shutil.rmtree(os.path.join(site, "bin"), ignore_errors=True)
    for cache in glob.glob(os.path.join(site, "**", "__pycache__"), recursive=True):
        shutil.rmtree(cache)


def _write_starter(folder: str, site: str) -> None:
    with open(STARTER, encoding="utf-8") as file:
        text = file.read()
    version = "{}.{}".format(*sys.version_info[:2])
    with open(os.path.join(folder, "__main__.py"), "w", encoding="utf-8") as file:
        file.write(text.replace("@DIGEST@", _digest(site)).replace("@PYTHON@", version))


def _digest(site: str) -> str:
    """A name for this content, so that two releases never share an unpacked folder."""
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
