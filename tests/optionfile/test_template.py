"""Option files that a template engine has yet to fill in."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.optionfile import parse, render
from advisor.optionfile.lines import Kind, Line


def lines(text: str) -> tuple[Line, ...]:
    """The lines of a text."""
    return parse(text.encode(), "my.cnf.j2").lines


@pytest.mark.parametrize(
    "value",
    [
        "{{ mysql_port }}",
        "{{ ram * 0.7 }}M",
        "'{{ x }}'",
        "<%= @port %>",
        "<%= p('a', 1) -%>",
        "${PORT}",
        "${PORT:-3306}",
        "{% if a %}1{% else %}2{% endif %}",
        '{{ x | default("#") }}',
        "{{ x }} # a comment",
        "1 {# one #}",
        "{{ .Values.port }}",
    ],
)
def test_a_templated_value(value: str) -> None:
    """The option keeps its name and place, and its value is marked as unknown."""
    (group, option) = lines(f"[mysqld]\nport = {value}\n")
    assert group.kind is Kind.GROUP
    assert (option.kind, option.name, option.templated) == (Kind.OPTION, "port", True)


@pytest.mark.parametrize(
    "text",
    [
        "{% if a == 1 %}",
        "{%- endif -%}",
        "{# c = 1 #}",
        "{{ extra }}",
        "{{ item.key }} = {{ item.value }}",
        "{{ f(a=1) }}",
        "<% if @a -%>",
        "<%# c %>",
        "<% end %>",
        "${EXTRA}",
        "${NAME}=1",
        "{{- if .Values.x }}",
        "{{ '[' }}",
        "  {% for k in x %}  ",
        "{#",
        "{% raw",
    ],
)
def test_a_statement(text: str) -> None:
    """A line of the template engine's own is a comment, outside of any group too."""
    (line,) = lines(f"{text}\n")
    assert (line.kind, line.templated) == (Kind.COMMENT, True)


@pytest.mark.parametrize(
    ("opens", "closes"), [("{#", "#}"), ("{% set x = [", "] %}"), ("<%", "%>"), ("{{", "}}")]
)
def test_a_statement_of_several_lines(opens: str, closes: str) -> None:
    """What stands between the two ends is the engine's, and what comes behind is the server's."""
    read = lines(f"[mysqld]\n{opens}\nport=1\n[client\n{closes}\nport=2\n")
    assert [line.kind for line in read] == [Kind.GROUP, *[Kind.COMMENT] * 4, Kind.OPTION]
    assert read[-1].group == "mysqld"


def test_a_statement_without_end() -> None:
    """A statement that nothing ends does not hide the rest of the file."""
    assert [line.kind for line in lines("{% if\n[mysqld]\na=1\n")] == [Kind.COMMENT, Kind.GROUP, Kind.OPTION]


def test_a_templated_group() -> None:
    """A group with an unknown name is a group, and its options stand in it."""
    (group, option) = lines("[{{ name }}]\nport=1\n")
    assert (group.kind, group.templated, option.group) == (Kind.GROUP, True, "{{ name }}")


def test_a_templated_include() -> None:
    """An include of an unknown path is marked, and so is not followed."""
    (line,) = lines("!includedir {{ folder }}\n")
    assert (line.kind, line.templated) == (Kind.INCLUDEDIR, True)


@pytest.mark.parametrize(
    "text", ["a=1 # {{ x }}", "# {{ x }}\na=1", "; {% x %}\na=1", "a=1 # {# x #}", "b={1}\na=1 # {{"]
)
def test_a_template_in_a_comment(text: str) -> None:
    """An expression in a comment leaves the option as it is."""
    option = lines(f"[mysqld]\n{text}\n")[-1]
    assert (option.kind, option.value, option.templated) == (Kind.OPTION, "1", False)


@given(
    st.lists(
        st.sampled_from(
            ["{{", "}}", "{%", "%}", "{#", "#}", "<%", "%>", "${", "}", "a=1", "[g]", "\n", "#", " ", "'"]
        )
    )
)
def test_any_template_comes_back(parts: list[str]) -> None:
    """However the marks of templates stand, the file is read to its end and comes back."""
    text = "".join(parts)
    assert render(parse(text.encode(), "x")) == text.encode()
