"""Servers started in containers: services of compose and CI files, containers of pods and similar."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from advisor.carriers.declared import flavours_of
from advisor.carriers.document import FILLER, CarrierError, Piece, verbatim_piece
from advisor.carriers.images import ServerImage, image_of, image_of_program
from advisor.carriers.server_command import MAX_WORDS, arguments_option_set, server_command
from advisor.carriers.words import MAX_LENGTH, OpenQuoteError, memory_size, shell_words
from advisor.carriers.yaml_tree import Mapping, Node, Scalar, Sequence, piece_of

if TYPE_CHECKING:
    from advisor.carriers.document import Document, OptionSet

# Lists of containers in pods, and the blocks of Terraform for them.
POD_LISTS = ("containers", "initContainers", "ephemeralContainers", "container", "init_container")
ENTRYPOINTS = ("entrypoint", "entryPoint", "EntryPoint")
CHART_FLAGS = "extraFlags"  # which charts of other programs have too
FLAGS = ("MYSQL_EXTRA_FLAGS", "MARIADB_EXTRA_FLAGS", CHART_FLAGS)
# Lists of containers in Amazon's task definitions.
TASK_LISTS = ("containerDefinitions", "ContainerDefinitions", "container_definitions")
# Where compose files and pods set the limit of the memory.
LIMITS = (("mem_limit",), ("deploy", "resources", "limits", "memory"), ("resources", "limits", "memory"))
_FILLS = r"\$\$|\$\{[^}\n]{0,200}\}|\$\(\w+\)|\$[A-Za-z_]\w*"
_NOTHING = ("", "~", "null", "Null", "NULL")


class Containers:
    """Extracts the servers from the nodes of one document.

    `needs_image` means that a command without an image beside it is that of another program.
    """

    def __init__(self, document: Document, parsed: str, *, needs_image: bool = False) -> None:
        self.document = document
        self.parsed = parsed
        self.needs_image = needs_image
        self.images: list[ServerImage] = []
        self.task_limits: dict[int, int] = {}  # of the memory of a whole task, by its containers

    def server(self, key: str, node: Mapping) -> OptionSet | None:
        """Return the options that a mapping passes to a server; None if it does not describe one."""
        image = self._image(key, node)
        if image is not None:
            self.images.append(image)
        elif self.needs_image:
            return None
        command = node.get("command") or node.get("Command")  # CloudFormation begins names with a capital
        if key in POD_LISTS or node.get("args") is not None:
            first, second = command, node.get("args")
        else:
            entrypoint = next((found for name in ENTRYPOINTS if (found := node.get(name)) is not None), None)
            first, second = entrypoint, command
        server = server_command(
            [*self._words(first), *self._words(second)], by_image=image is not None and not self._words(first)
        )
        if server is None or not server.options:
            return None
        name = node.get("name")
        label = name.value if key in POD_LISTS and isinstance(name, Scalar) else key or "command"
        image = image or image_of_program(server.program)
        made = arguments_option_set(self.document, label, server.options, *(image or ()))
        if key not in TASK_LISTS:
            return made._replace(memory=memory_limit(node))
        own, whole = _task_limit(node), self.task_limits.get(id(node), 0)
        return made._replace(memory=min(own, whole) if own and whole else own or whole)

    def note_task(self, node: Mapping) -> None:
        """Note the memory of a task definition, which all of its containers share; Fargate needs no other limit."""
        limit = node.get("memory") or node.get("Memory")
        size = _task_size(limit.value) if isinstance(limit, Scalar) and limit.is_known else 0
        listed = next((found for name in TASK_LISTS if (found := node.get(name)) is not None), None)
        if size and isinstance(listed, Sequence):
            self.task_limits |= dict.fromkeys(map(id, listed.items), size)

    def flags(self, key: str, node: Scalar) -> OptionSet | None:
        """Return the options in an environment variable that Bitnami images pass to their server."""
        piece = self._piece(node)
        if key not in FLAGS:
            name, _, value = piece.text.partition("=")
            if name not in FLAGS:
                return None
            key, piece = name, piece.cut(len(name) + 1)._replace(end=piece.end)
            if not value:
                return None
        words = self._split(piece)
        if key == CHART_FLAGS and not _name_options(words):
            return None
        return arguments_option_set(self.document, key, words) if words else None

    def named_flags(self, node: Mapping) -> OptionSet | None:
        """Return the options in such a variable of a pod, which has a name and a value."""
        name, value = node.get("name"), node.get("value")
        if not isinstance(name, Scalar) or name.value not in FLAGS or not isinstance(value, Scalar):
            return None
        return self.flags(name.value, value)

    def _image(self, key: str, node: Mapping) -> ServerImage | None:
        named = node.get("image") or node.get("Image") or (node.get("name") if key == "services" else None)
        if key == "tags":  # of OpenStack's charts: images by the name of what they are for
            named = node.get("mariadb") or node.get("mysql") or named
        if isinstance(named, Mapping):
            repository, tag = named.get("repository"), named.get("tag")
            if not isinstance(repository, Scalar):
                return None
            return image_of(f"{repository.value}:{tag.value if isinstance(tag, Scalar) else ''}".rstrip(":"))
        if not isinstance(named, Scalar) or not (named.is_known or named.style):
            return None
        return image_of(self._piece(named).source)

    def _words(self, node: Node | None) -> list[Piece]:
        if isinstance(node, Sequence):
            if not node.is_known:
                return []
            if len(node.items) > MAX_WORDS:
                raise CarrierError(f"{self.document.path}: a command of more than {MAX_WORDS:,} words; shorten it")
            pieces = [self._piece(item) for item in node.items if isinstance(item, Scalar)]
            return [_inside(fill_variables(piece)) for piece in pieces]
        if not isinstance(node, Scalar) or (not node.style and (node.value in _NOTHING or node.tag == "!null")):
            return []
        piece = self._piece(node)
        return [piece] if piece.templated and not node.is_known else self._split(piece)

    def _split(self, piece: Piece) -> list[Piece]:
        if len(piece.text) > MAX_LENGTH:
            line, _ = self.document.place(piece.start)
            raise CarrierError(
                f"{self.document.path}:{line}: longer than any command may be ({MAX_LENGTH:,}); shorten it"
            )
        piece = fill_variables(piece)
        try:
            return shell_words(piece)
        except OpenQuoteError as error:
            at = error.args[0]
            line, _ = self.document.place(piece.places[at] if piece.places else piece.start)
            raise CarrierError(
                f"{self.document.path}:{line}: a quote in this command is never closed; close it, or write a list"
            ) from error

    def _piece(self, node: Scalar) -> Piece:
        """Return the text of a scalar; of an expression or a reference only that it is filled in later."""
        if node.is_known or (node.style and node.value):
            return piece_of(self.document, self.parsed, node)
        source = self.document.text[node.start : node.end]
        return verbatim_piece(FILLER * len(source), node.start, source)


def _name_options(words: list[Piece]) -> bool:
    """Whether all words look like options, and at least one of them is that of a server."""
    names = [word.text.lstrip("-").partition("=")[0] for word in words if word.text.startswith("-")]
    return bool(words) and words[0].text.startswith("-") and any(map(flavours_of, names))


def memory_limit(node: Mapping) -> int:
    """The memory limit of a service or container in bytes; 0 if there is none, or if a variable sets it."""
    for keys in LIMITS:
        limit: Node | None = node
        for key in keys:
            limit = limit.get(key) if isinstance(limit, Mapping) else None
        if isinstance(limit, Scalar):
            return memory_size(limit.value, decimal=keys[0] == "resources")
    return 0


def _task_limit(node: Mapping) -> int:
    """The memory limit of a container of a task definition in bytes, which has it in MiB; 0 if there is none."""
    limit = node.get("memory") or node.get("Memory")
    return int(limit.value) << 20 if isinstance(limit, Scalar) and re.fullmatch(r"\d{1,9}", limit.value) else 0


def _task_size(text: str) -> int:
    """The bytes of a task's memory: MiB, or GB as in `2 GB`; 0 for any other text."""
    match = re.fullmatch(r"(\d{1,9}(?:\.\d{1,3})?)\s*(gb)?", text.strip().lower())
    return int(float(match[1]) * (1 << (30 if match[2] else 20))) if match else 0


def fill_variables(piece: Piece) -> Piece:
    """Replace variables of compose or Kubernetes by fillers; `$$` is a dollar sign."""
    text = piece.text
    dropped = {m.start() + 1 for m in re.finditer(_FILLS, text) if m[0] == "$$"}
    filled = re.sub(_FILLS, lambda m: m[0] if m[0] == "$$" else FILLER * len(m[0]), text)
    piece = piece._replace(text=filled)
    return piece.keep([i for i in range(len(text)) if i not in dropped]) if dropped else piece


def _inside(word: Piece) -> Piece:
    """Return a list item without its quotes."""
    return word._replace(start=word.places[0], end=word.places[-1] + 1) if word.places else word
