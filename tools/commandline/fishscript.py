"""The completion script for fish: a line for each option of each command."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from parts import FILES, FOLDERS, PROOFS, RULE, RULES, SIDES, TARGETS, Command, Option, Value, families, rules, targets

HEAD = """# fish completion for mycnf, made from the program's own parser by `make docs`.

function __mycnf_first
    test (count (commandline -opc)) -eq 1
end

function __mycnf_in
    set -l words (commandline -opc)
    test (count $words) -gt 1; and test $words[2] = $argv[1]
end

function __mycnf_without
    set -l words (commandline -opc)
    for word in $argv
        contains -- $word $words[3..-1]; and return 1
    end
    return 0
end

function __mycnf_targets
    printf '%s\\n' {targets}
end

function __mycnf_rules
    printf '%s\\n' {rules}
end

function __mycnf_families_and_rules
    printf '%s\\n' {families}
    __mycnf_rules
end

complete -c mycnf -f
complete -c mycnf -n __mycnf_first -s h -l help -d 'show the help and exit'
complete -c mycnf -n __mycnf_first -l version -d 'show the version and exit'
"""
TAKES = {
    FILES: "-r -F",
    FOLDERS: "-x -a '(__fish_complete_directories)'",
    SIDES: "-r -F -a '(__mycnf_targets)'",
    PROOFS: "-r -F -a '(__mycnf_rules)'",
    TARGETS: "-x -a '(__mycnf_targets)'",
    RULES: "-x -a '(__fish_complete_list , __mycnf_families_and_rules)'",
    RULE: "-x -a '(__mycnf_rules)'",
}
OFFERS = {
    FILES: "-F",
    SIDES: "-F -a '(__mycnf_targets)'",
    PROOFS: "-F -a '(__mycnf_rules)'",
    RULE: "-a '(__mycnf_rules)'",
}


def script(commands: Sequence[Command]) -> str:
    """The whole script."""
    words = {"targets": targets(), "rules": rules(), "families": families()}
    head = HEAD.format(**{name: " ".join(found) for name, found in words.items()})
    firsts = [f"complete -c mycnf -n __mycnf_first -a {c.name} -d {_quote_text(c.purpose)}" for c in commands]
    return "\n".join([head, *firsts, *(line for command in commands for line in _command(command))]) + "\n"


def _command(command: Command) -> Iterator[str]:
    yield f"\n# mycnf {command.name}"
    within = f"complete -c mycnf -n '__mycnf_in {command.name}"
    yield from (f"{within}' {_option(option)}" for option in command.options)
    values = [operand.value for operand in command.operands]
    if values and values[0].words:
        words = " ".join(values[0].words)
        yield f"{within}; and __mycnf_without {words}' -a '{words}'"
        within += f"; and not __mycnf_without {words}"
        values = values[1:]
    if values and values[0].kind in OFFERS:
        yield f"{within}' {OFFERS[values[0].kind]}"


def _option(option: Option) -> str:
    names = [f"-l {flag[2:]}" if flag.startswith("--") else f"-s {flag[1:]}" for flag in option.flags]
    takes = [] if option.value is None else [_takes(option.value)]
    return " ".join([*names, *takes, "-d", _quote_text(option.help)])


def _takes(value: Value) -> str:
    return f"-x -a '{' '.join(value.words)}'" if value.words else TAKES.get(value.kind, "-x")


def _quote_text(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
