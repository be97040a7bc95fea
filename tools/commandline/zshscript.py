"""The completion script for zsh: _arguments for each command."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from parts import (
    FILES,
    FOLDERS,
    PROOFS,
    RULE,
    RULES,
    SIDES,
    TARGETS,
    Command,
    Operand,
    Option,
    Value,
    families,
    rules,
    targets,
)

HEAD = """#compdef mycnf
# zsh completion for mycnf, made from the program's own parser by `make docs`.

_mycnf_targets() {{
  compadd "$@" -- {targets}
}}

_mycnf_rules() {{
  compadd "$@" -- {rules}
}}

_mycnf_families_and_rules() {{
  compadd "$@" -- {families} {rules}
}}

_mycnf_sides() {{
  _alternative 'targets:target:_mycnf_targets' 'files:file:_files'
}}

_mycnf_proofs() {{
  _alternative 'rules:rule:_mycnf_rules' 'files:file:_files'
}}

_mycnf_commands() {{
  local -a commands=(
{commands}
  )
  _describe command commands
}}
"""
FOOT = """
_mycnf() {{
  local curcontext=$curcontext state line ret=1
  _arguments -C \\
    '(- : *)'{{-h,--help}}'[show the help and exit]' \\
    '(- : *)--version[show the version and exit]' \\
    '1: :_mycnf_commands' \\
    '*:: :->words' && ret=0
  if [[ $state == words ]]; then
    curcontext=${{curcontext%:*:*}}:mycnf-$line[1]:
    case $line[1] in
      {names}) _mycnf-$line[1] && ret=0 ;;
    esac
  fi
  return ret
}}

if [[ $funcstack[1] == _mycnf ]]; then
  _mycnf "$@"
else
  compdef _mycnf mycnf
fi
"""
CALLS = {
    FILES: "_files",
    FOLDERS: "_files -/",
    SIDES: "_mycnf_sides",
    PROOFS: "_mycnf_proofs",
    TARGETS: "_mycnf_targets",
    RULES: "_sequence _mycnf_families_and_rules",
    RULE: "_mycnf_rules",
}


def script(commands: Sequence[Command]) -> str:
    """The whole script."""
    head = HEAD.format(
        targets=" ".join(targets()),
        rules=" ".join(rules()),
        families=" ".join(families()),
        commands="\n".join(
            f"    {_quote_text(c.name + ':' + c.purpose.replace(':', chr(92) + ':'))}" for c in commands
        ),
    )
    foot = FOOT.format(names="|".join(command.name for command in commands))
    return "\n".join([head, *(line for command in commands for line in _function(command))]) + foot


def _function(command: Command) -> Iterator[str]:
    specs = [*map(_option, command.options), *_operands(command.operands)]
    yield f"_mycnf-{command.name}() {{"
    yield "  _arguments -s : \\"
    yield " \\\n".join(f"    {spec}" for spec in specs)
    yield "}\n"


def _option(option: Option) -> str:
    """One option; its names exclude each other, unless it may be repeated."""
    tail = _quote_text(f"[{_escape_spec(option.help)}]{_value(option.value) if option.value else ''}")
    once = "" if option.repeatable else f"({' '.join(option.flags)})"
    star = "*" if option.repeatable else ""
    takes = [_flag(flag, option.value) for flag in option.flags]
    if len(takes) == 1:
        return _quote_text(f"{star}{takes[0]}") + tail
    return f"{_quote_text(once + star)}{{{','.join(takes)}}}{tail}"


def _flag(flag: str, value: Value | None) -> str:
    """The separator before the value: after --option or --option=, directly after -o or in the next word."""
    return flag + ("" if value is None or value.many else "=" if flag.startswith("--") else "+")


def _operands(operands: Sequence[Operand]) -> Iterator[str]:
    for number, operand in enumerate(operands, 1):
        place = "*" if operand.value.many else str(number) + ("" if operand.needed else ":")
        yield _quote_text(place + _value(operand.value))


def _value(value: Value) -> str:
    action = f"({' '.join(value.words)})" if value.words else CALLS.get(value.kind, " ")
    return f":{_escape_spec(value.name)}:{action}"


def _escape_spec(text: str) -> str:
    """Text in a spec, in which brackets and colons separate the parts."""
    for sign in "\\[]:":
        text = text.replace(sign, "\\" + sign)
    return text


def _quote_text(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'" if text else ""
