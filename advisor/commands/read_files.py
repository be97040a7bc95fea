"""Reads the files named by the user with their includes, or stdin in place of a file."""

from __future__ import annotations

import os

from advisor.core.errors import MycnfError, stdin_buffer
from advisor.optionfile import MAX_BYTES, load, resolve
from advisor.optionfile.lines import LineKind, is_template

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Mapping, Sequence

    from advisor.carriers.document import Carrier
    from advisor.core.model import Target
    from advisor.optionfile.lines import ResolvedFiles

# Endings of documents that may contain options; a .conf may be an option file as well.
CARRIERS = (
    *(".yml", ".yaml", ".json", ".sls", ".tf", ".tofu", ".hcl", ".nomad", ".tfstate"),
    *(".service", ".container", ".conf", ".dockerfile", ".containerfile"),
)
# Endings of documents with parameters in a refused form, of files of other programs, and of lists that may be option
# files as well.
FOREIGN = (
    *(".tfvars", ".pp", ".nix", ".md", ".rst", ".html", ".xml", ".py", ".rb", ".sh", ".sql"),
    *(".bicep", ".ts", ".js", ".php", ".go", ".java", ".cs", ".jsonnet", ".libsonnet", ".cue"),
    *("proxysql.cnf", "maxscale.cnf", "openssl.cnf"),
    *(".txt", ".list", ".params", ".parameters", ".properties", ".csv", ".env"),
)
OPTION_FILES = (".cnf", ".ini")
IMAGES = ("dockerfile", "containerfile")
PERSISTED = "mysqld-auto"
# First bytes of such documents, for texts without a name.
STARTS = {
    b"services:": ".yml", b"apiVersion:": ".yml", b'{"': ".json", b'{ "': ".json", b'[{"': ".json",
    b'job "': ".nomad", b'resource "': ".tf", b'module "': ".tf", b"AWSTemplate": ".yml", b"Resources:": ".yml",
    b"[Unit]": ".service", b"[Service]": ".service", b"FROM ": ".dockerfile",
}  # fmt: skip


MACOS = ("/opt/homebrew/", "/usr/local/Cellar/", "/usr/local/var/mysql")


def platform_of(resolved: ResolvedFiles) -> str:
    """Return windows or macos if the servers' paths in the files are of that platform, else an empty string."""
    macos = False
    for option in resolved.options:
        value = (option.line.raw or "").lstrip("\"'")
        if option.line.group in ("client", "mysql"):
            continue
        if value[1:3] in (":\\", ":/") and value[0].isalpha():
            return "windows"
        macos = macos or value.startswith(MACOS)
    return "macos" if macos else ""


def on_platform(target: Target, named: str | None, resolved: ResolvedFiles, *, full_version: bool) -> Target:
    """Return the target on the platform named by --platform, else on that of the paths in the files.

    A full version without --platform is that of a server on Linux, as those that were examined.
    """
    if named or target.platform or full_version:
        return target._replace(platform="" if named == "linux" else named or target.platform)
    return target._replace(platform=platform_of(resolved))


def require_root(args: Namespace) -> None:
    """Raise MycnfError if --root is no directory: each absolute include would look like a missing file of a server."""
    if args.root is not None and not os.path.isdir(args.root):
        raise MycnfError(f"--root {args.root} is not a directory; name the directory that stands for /")


def folder_of(path: str) -> str:
    """Return the folder in which the configuration of a file is searched first; stdin is a file of the working one."""
    try:
        return os.path.dirname(os.path.abspath(path))
    except OSError:  # the working directory was removed; stdin can still be checked
        return os.sep


def configure(args: Namespace) -> None:
    """Set target and root from the configuration closest to the first file; raises MycnfError for an invalid --root."""
    from advisor.config import find_configuration

    require_root(args)
    folder = folder_of(args.files[0])
    if args.config or (not args.isolated and find_configuration(folder)):
        from advisor.commands.apply_config import configure_reading

        configure_reading(args, folder)


def stdin_bytes() -> bytes:
    """Read all of stdin; raises MycnfError if it is larger than any option file."""
    data = stdin_buffer().read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise MycnfError(
            f"stdin is larger than {MAX_BYTES >> 20}M, which is too large for an option file; name the file that you "
            "mean"
        )
    return data


def replace_stdin(paths: Sequence[str], name: str) -> tuple[list[str], dict[str, bytes]]:
    """Return the paths with `name` in place of `-`, and the bytes of stdin by that name if it is among them.

    Raises MycnfError if it is named twice.
    """
    if paths.count("-") > 1:
        raise MycnfError("- is stdin and can be read only once: name it once")
    given = {name: stdin_bytes()} if "-" in paths else {}
    return [name if path == "-" else path for path in paths], given


def read_carrier(path: str, given: Mapping[str, bytes], root: str | None = None) -> Carrier | None:
    """Return the option sets of a document; None for an option file.

    `root` is prepended to absolute paths in it. Raises MycnfError if it cannot be read.
    """
    name = _rendered_name(path)
    if not name.endswith(CARRIERS + FOREIGN) and PERSISTED not in name and not name.startswith(IMAGES):
        start = given.get(path, b"").lstrip()[:16]
        kind = next((ending for begins, ending in STARTS.items() if start.startswith(begins)), "")
        if not kind and name.endswith(OPTION_FILES):
            return None
        name += kind
    from advisor.carriers.recognise import carrier_of

    return carrier_of(given[path] if path in given else load(path).data, path, name, root)


def _rendered_name(path: str) -> str:
    """Return the file name that a template is rendered to, in lower case and without directories."""
    name = path.rpartition("/")[2].lower()
    while is_template(name):
        name = name.rpartition(".")[0]
    return name


def read_resolved(
    paths: Sequence[str], target: Target, root: str | None, given: Mapping[str, bytes], set_name: str | None = None
) -> ResolvedFiles:
    """Read the files as one, with their includes, by the target's rules; `given` are texts that replace files.

    A document with the options of one server is read at its position; of several sets, the one with `set_name`. Raises
    OptionFileError for a file that cannot be read, MycnfError for a document of several servers or none, and for option
    files with a `set_name`.
    """
    carriers = {path: carrier for path in paths if (carrier := read_carrier(path, given, root)) is not None}
    if carriers:
        from advisor.commands.carrier_texts import join_resolved, only_set, resolved_of

        parts = [
            resolved_of(carriers[path], only_set(carriers[path], set_name), target)
            if path in carriers
            else _resolve_paths([path], target, root, given)
            for path in paths
        ]
        return join_resolved(parts)
    if set_name is not None:
        raise MycnfError(
            f"--set {set_name} selects options in a document, but {paths[0]} is an option file; omit --set"
        )
    return _resolve_paths(paths, target, root, given)


def missing_group_message(resolved: ResolvedFiles) -> str:
    """Return why the first file with options but no group sets nothing; empty if there is none."""
    for file in resolved.files:
        kinds = {line.kind for line in file.lines}
        if LineKind.OPTION in kinds and LineKind.GROUP not in kinds:
            return (
                f"{file.path}: no group such as [mysqld], so servers refuse it. If it is the output of SHOW "
                "GLOBAL VARIABLES, use mycnf audit --from FILE"
            )
    return ""


def _resolve_paths(paths: Sequence[str], target: Target, root: str | None, given: Mapping[str, bytes]) -> ResolvedFiles:
    def loader(wanted: str) -> bytes:
        return given[wanted] if wanted in given else load(wanted).data

    chosen = loader if given else None
    return resolve(paths, flavour=target.flavour, version=target.version, root=root, loader=chosen)
