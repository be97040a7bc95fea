"""The completion script for bash: a function for each command; works without the package bash-completion."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from parts import FILES, FOLDERS, PROOFS, RULE, RULES, SIDES, TARGETS, Command, Value, families, rules, targets

HEAD = r"""# bash completion for mycnf, made from the program's own parser by `make docs`.
# Of use by itself (source it), or as mycnf in the folder of the package bash-completion.

_mycnf_words() { COMPREPLY=($(compgen -W "$*" -- "$cur")); }

_mycnf_list() {
    local before=
    [[ $cur == *,* ]] && before=${cur%,*},
    COMPREPLY=($(compgen -P "$before" -W "$*" -- "${cur##*,}"))
}

# An empty answer with these options makes bash complete files by itself, blanks and ~ included; bash 3 has no compopt.
_mycnf_files() { compopt -o default 2>/dev/null || COMPREPLY=($(compgen -f -- "$cur")); }

_mycnf_folders() { compopt -o dirnames 2>/dev/null || COMPREPLY=($(compgen -d -- "$cur")); }

_mycnf_words_or_files() {
    _mycnf_words "$1"
    ((${#COMPREPLY[@]})) || _mycnf_files
}

# Whether one of these words was given to the command already.
_mycnf_given() {
    local given word
    for given in "${COMP_WORDS[@]:2:COMP_CWORD-2}"; do
        for word; do [[ $given == "$word" ]] && return; done
    done
    return 1
}
"""
FOOT = """
_mycnf() {{
    local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}}
    local _mycnf_targets='{targets}'
    local _mycnf_families='{families}'
    local _mycnf_rules='{rules}'
    COMPREPLY=()
    # bash takes --option=value for three words.
    if [[ $cur == = ]]; then
        cur=
    elif [[ $prev == = ]]; then
        prev=${{COMP_WORDS[COMP_CWORD-2]}}
    fi
    if ((COMP_CWORD == 1)); then
        _mycnf_words '{commands} -h --help --version'
        return
    fi
    case ${{COMP_WORDS[1]}} in
    {names}) "_mycnf_in_${{COMP_WORDS[1]}}" ;;
    esac
}}

complete -F _mycnf mycnf
"""
CALLS = {
    FILES: "_mycnf_files",
    FOLDERS: "_mycnf_folders",
    SIDES: '_mycnf_words_or_files "$_mycnf_targets"',
    PROOFS: '_mycnf_words_or_files "$_mycnf_rules"',
    TARGETS: '_mycnf_words "$_mycnf_targets"',
    RULES: '_mycnf_list "$_mycnf_families $_mycnf_rules"',
    RULE: '_mycnf_words "$_mycnf_rules"',
}


def script(commands: Sequence[Command]) -> str:
    """The whole script."""
    names = [command.name for command in commands]
    foot = FOOT.format(
        targets=" ".join(targets()),
        families=" ".join(families()),
        rules=" ".join(rules()),
        commands=" ".join(names),
        names=" | ".join(names),
    )
    return "\n".join([HEAD, *(line for command in commands for line in _function(command))]) + foot


def _function(command: Command) -> Iterator[str]:
    yield f"_mycnf_in_{command.name}() {{"
    yield "    case $prev in"
    calls: dict[str, list[str]] = {}
    for option in command.options:
        if option.value is not None:
            calls.setdefault(_call(option.value), []).extend(option.flags)
    for call, flags in calls.items():
        yield f"    {' | '.join(flags)})"
        yield from (f"        {step}" for step in (call, "return") if step)
        yield "        ;;"
    yield "    esac"
    yield "    if [[ $cur == -* ]]; then"
    yield f"        _mycnf_words '{' '.join(flag for option in command.options for flag in option.flags)}'"
    yield from _operands(command)
    yield "    fi"
    yield "}\n"


def _operands(command: Command) -> Iterator[str]:
    """Offer the first operand until it is given if it is one of a few words, then what follows it."""
    values = [operand.value for operand in command.operands]
    if values and values[0].words:
        words = " ".join(values[0].words)
        yield f"    elif ! _mycnf_given {words}; then"
        yield f"        {_call(values[0])}"
        values = values[1:]
    if values and _call(values[0]):
        yield "    else"
        yield f"        {_call(values[0])}"


def _call(value: Value) -> str:
    """The call that completes a value; empty if the values are not known."""
    return f"_mycnf_words '{' '.join(value.words)}'" if value.words else CALLS.get(value.kind, "")
