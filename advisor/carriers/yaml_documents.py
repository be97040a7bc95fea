"""The option sets of a YAML file: commands of containers, and embedded option files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.carriers.blocks import block_option_set, holds_options, text_option_set
from advisor.carriers.document import MAX_SETS, Carrier, CarrierError, Document, fill_expressions

if TYPE_CHECKING:
    from advisor.carriers.document import OptionSet
    from advisor.carriers.images import ServerImage
    from advisor.carriers.yaml_tree import Node, Scalar
    from advisor.core.model import Location

# A file with a server contains one of these words; other files are not parsed.
WORDS = ("mysql", "mariadb", "percona", "[server]", "[galera]")
# A document that declares options of a server has one of these, in lower case.
DECLARING = (
    *("parametername", "parametergroup", "parameter_group", "param_group", "databaseflags", "database_flags"),
    *("allowedvalues", "appliesto", "innodb", "max_connections", "mycnf"),
)


def read_yaml(document: Document) -> Carrier:
    """Return the sets in the document's order.

    Raises CarrierError for a file that mentions a server but is not valid YAML.
    """
    named = _names_server(document.text)
    if not named and not any(word in document.text.lower() for word in DECLARING):
        return Carrier(document, ())
    from advisor.carriers.yaml_tree import parse_documents

    text = document.text if "\t" not in document.text else _without_tabs(document.text)
    parsed = fill_expressions(text)
    try:
        roots = parse_documents(parsed, document.path)
    except CarrierError as error:
        if parsed == text:
            raise
        if not named:
            return Carrier(document, ())
        sets = _blocks_by_text(document, parsed)
        if sets:
            return Carrier(document, tuple(sets))
        raise CarrierError(f"{error}; it is a template: check what it renders to (helm template, say)") from error
    notation = "json" if document.text.lstrip("\ufeff \t\r\n")[:1] in ("{", "[") else "yaml"
    found = sets_of(document, parsed, roots, notation)
    return Carrier(document, tuple(found), "" if found else _why_empty(document, parsed, roots))


def _why_empty(document: Document, parsed: str, roots: list[Node]) -> str:
    from advisor.carriers.declared import Declarations
    from advisor.carriers.provider_lists import has_list

    if not has_list(Declarations(document, parsed, roots)):
        return ""
    return (
        "nothing to check: users set none of the values in this list; to check FILE by the list, use mycnf lint "
        f"--parameters {document.path} FILE"
    )


def _without_tabs(text: str) -> str:
    """Return JSON with blanks in place of tabs, which YAML does not allow between values."""
    return text.replace("\t", " ") if text.lstrip("\ufeff \t\r\n")[:1] in ("{", "[") else text


def _names_server(text: str) -> bool:
    lower = text.lower()
    if any(word in lower for word in WORDS):
        return True
    return ("Secret" in text or "binaryData" in text) and _names_server_in_base64(text)


def _names_server_in_base64(text: str) -> bool:
    """Whether one of the words occurs in base64, at any of the three byte offsets in a base64 group."""
    from base64 import b64encode

    whole = "".join(text.split())
    for word in WORDS:
        for before in range(3):
            end = before + len(word)
            encoded = b64encode(bytes(before) + word.encode()).decode()
            if encoded[-(-before * 4 // 3) : end * 4 // 3] in whole:
                return True
    return False


def sets_of(document: Document, parsed: str, roots: list[Node], notation: str, fills: str = "") -> list[OptionSet]:
    """Return all sets in the nodes of a document.

    `notation` is as in `DeclaredSet`, `fills` a pattern of text in option files that is substituted later.
    """
    from advisor.carriers.blocks import encoded_option_set, encoded_values
    from advisor.carriers.containers import FLAGS, Containers, memory_limit
    from advisor.carriers.operator_kinds import adds_options, group_of_texts, operator_image
    from advisor.carriers.yaml_tree import Mapping, Scalar, walk

    containers = Containers(document, parsed, needs_image=notation == "terraform")
    option_sets: list[OptionSet | None] = []
    encoded: set[int] = set()
    limits: dict[int, int] = {}  # of the memory, by the texts beside them
    for root in roots:
        before, images = len(option_sets), len(containers.images)
        group = group_of_texts(root)
        for key, node in walk(root):
            if isinstance(node, Mapping):
                containers.note_task(node)  # before its containers, which are below it
                option_sets += [containers.server(key, node), containers.named_flags(node)]
                if limit := memory_limit(node):
                    limits |= dict.fromkeys(map(id, node.own_values().values()), limit)
                pairs = list(encoded_values(node))
                encoded |= {id(value) for _, value in pairs}
                option_sets += [encoded_option_set(document, name, value) for name, value in pairs]
            elif isinstance(node, Scalar) and id(node) not in encoded:
                option_file = _option_file(document, key, node, group, fills)
                option_sets.append(option_file and option_file._replace(memory=limits.get(id(node), 0)))
                if any(name in node.value or name == key for name in FLAGS):
                    option_sets.append(containers.flags(key, node))
        if len(containers.images) == images and isinstance(root, Mapping) and (image := operator_image(root)):
            containers.images.append(image)
        own = _with_hints([one for one in option_sets[before:] if one is not None], containers.images[images:])
        option_sets[before:] = [one._replace(partial=True) for one in own] if adds_options(root) else own
    sets = _number_labels(document, [*option_sets, *declared_sets(document, parsed, roots, notation)])
    return _with_hints(sets, containers.images)


def _number_labels(document: Document, found: list[OptionSet | None]) -> list[OptionSet]:
    sets = [one for one in found if one is not None]
    if len(sets) > MAX_SETS:
        raise CarrierError(f"{document.path}: options of more than {MAX_SETS} servers or files; name a smaller file")
    return sets


def declared_sets(document: Document, parsed: str, roots: list[Node], notation: str) -> list[OptionSet]:
    """Return the sets of parameter groups, operators' fields and other mappings of options.

    `notation` is as in `DeclaredSet`.
    """
    from advisor.carriers.cloud_kinds import cloud_sets
    from advisor.carriers.declared import Declarations
    from advisor.carriers.operator_kinds import operator_sets
    from advisor.carriers.provider_lists import provider_sets

    reader = Declarations(document, parsed, roots, notation)
    sets = _number_labels(document, [*cloud_sets(reader), *operator_sets(reader), *provider_sets(reader)])
    # Terraform's locals are read where they are and where they are used: the latter says more about the server.
    last = {(one.hint, _places(one) or id(one)): one for one in sets}
    return [one for one in sets if one is last[one.hint, _places(one) or id(one)]]


def _places(one: OptionSet) -> tuple[Location, ...]:
    return tuple(option.name_place for option in one.declared.options) if one.declared else ()


def _with_hints(sets: list[OptionSet], images: list[ServerImage]) -> list[OptionSet]:
    """Give option files and flags the target of the images beside them, the newest if these name one kind of server."""
    if len({(image.target.flavour, image.target.build) for image in images}) != 1:
        return sets
    target, why = max(images, key=lambda image: image.target.version)
    if any(image.target != target for image in images):
        from advisor.carriers.images import UNVERSIONED

        why = f"the newest of its images, as its {UNVERSIONED}"
    return [one if one.hint else one._replace(hint=target, why=why) for one in sets]


def _option_file(document: Document, key: str, node: Scalar, group: str, fills: str) -> OptionSet | None:
    """Return the option file in a scalar; its lines are in `group` if it has none."""
    from advisor.carriers.yaml_tree import BLOCKS, block_lines, piece_of

    if node.style not in BLOCKS and "\n" not in node.value and "[" not in node.value:
        return None
    placed = block_lines(document, node)
    if placed is None:
        text = piece_of(document, document.text, node).source
        return text_option_set(document, key, text, node.start) if holds_options(key, text) else None
    text = "\n".join([document.line(number)[indent:] for number, indent in placed])
    if not holds_options(key, text):
        return None
    return block_option_set(document, key, placed, fills, "" if "[" in text else group)


def _blocks_by_text(document: Document, parsed: str) -> list[OptionSet]:
    """Return option files in literal blocks of a text that is not valid YAML before template rendering."""
    from advisor.carriers.yaml_tree import indented_lines, is_key_of_block

    lines = parsed.split("\n")
    sets = []
    for at, line in enumerate(lines):
        opens = is_key_of_block(line)
        if opens is None:
            continue
        indent, count = _deeper_lines(lines[at + 1 :], len(opens["indent"]))
        placed = indented_lines(document, at + 2, count, indent)
        text = "\n".join([document.line(number)[indent:] for number, indent in placed])
        if holds_options(opens["key"], text):
            sets.append(block_option_set(document, opens["key"], placed))
    return sets


def _deeper_lines(lines: list[str], outer: int) -> tuple[int, int]:
    """Return the indentation of the first non-blank line, if deeper than `outer`, and how many lines keep it."""
    widths = [len(line) - len(line.lstrip()) if line.strip() else None for line in lines]
    indent = next((w for w in widths if w is not None), 0)
    if indent <= outer:
        return 0, 0
    count = next((i for i, w in enumerate(widths) if w is not None and w < indent), len(lines))
    return indent, count
