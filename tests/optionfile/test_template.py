"""Option files that a template engine has yet to fill in."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.optionfile import parse, render
from advisor.optionfile.lines import Line, LineKind


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
    assert group.kind is LineKind.GROUP
    assert (option.kind, option.name, option.templated) == (LineKind.OPTION, "port", True)


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
    assert (line.kind, line.templated) == (LineKind.COMMENT, True)


@pytest.mark.parametrize(("opens", "closes"), [("{#", "#}"), ("{% set x = [", "] %}"), ("<%", "%>"), ("{{", "}}")])
def test_a_statement_of_several_lines(opens: str, closes: str) -> None:
    """What stands between the two ends is the engine's, and what comes behind is the server's."""
    read = lines(f"[mysqld]\n{opens}\nport=1\n[client\n{closes}\nport=2\n")
    assert [line.kind for line in read] == [LineKind.GROUP, *[LineKind.COMMENT] * 4, LineKind.OPTION]
    assert read[-1].group == "mysqld"


def test_a_statement_without_end() -> None:
    """A statement that nothing ends does not hide the rest of the file."""
    assert [line.kind for line in lines("{% if\n[mysqld]\na=1\n")] == [
        LineKind.COMMENT,
        LineKind.GROUP,
        LineKind.OPTION,
    ]


def test_a_templated_group() -> None:
    """A group with an unknown name is a group, and its options are in it."""
    (group, option) = lines("[{{ name }}]\nport=1\n")
    assert (group.kind, group.templated, option.group) == (LineKind.GROUP, True, "{{ name }}")


def test_a_templated_include() -> None:
    """An include of an unknown path is marked, and so is not followed."""
    (line,) = lines("!includedir {{ folder }}\n")
    assert (line.kind, line.templated) == (LineKind.INCLUDEDIR, True)


@pytest.mark.parametrize(
    "text", ["a=1 # {{ x }}", "# {{ x }}\na=1", "; {% x %}\na=1", "a=1 # {# x #}", "b={1}\na=1 # {{"]
)
def test_a_template_in_a_comment(text: str) -> None:
    """An expression in a comment leaves the option unchanged."""
    option = lines(f"[mysqld]\n{text}\n")[-1]
    assert (option.kind, option.value, option.templated) == (LineKind.OPTION, "1", False)


@pytest.mark.parametrize(
    "value",
    [
        "$PORT", "@PORT@", "@mysql.port@", "%%PORT%%", "__PORT__", "[[ port ]]", "((port))", "%{ if x }1%{ endif }",
        "#{Port}", "%PORT%", "/a/$DIR/b",
    ],
)  # fmt: skip
def test_a_value_that_only_a_template_has(value: str) -> None:
    """A mark that servers take for ordinary text counts in a file that is a template by its name, and only there."""
    text = f"[mysqld]\nport = {value}\n".encode()
    for name in ("my.cnf.tpl", "my.cnf.in", "MY.CNF.J2"):
        assert parse(text, name).lines[1].templated
    assert not parse(text, "my.cnf").lines[1].templated


@pytest.mark.parametrize("text", ["%{ if x ~}", "[[ range .a ]]", "% if x:", "$NAME = 1", "@NAME@", "((extra))"])
def test_a_statement_that_only_a_template_has(text: str) -> None:
    """So does a line of the engine's own."""
    (line,) = parse(f"{text}\n".encode(), "my.cnf.tmpl").lines
    assert (line.kind, line.templated) == (LineKind.COMMENT, True)


@pytest.mark.parametrize("value", ["1", "/a/b", "'x'", "a # $X", "50%", "a_b", "[x]", "(x)", "# __X__"])
def test_plain_values_in_a_template(value: str) -> None:
    """What has no mark is a value in a template too, with any comment."""
    assert not parse(f"[mysqld]\nx = {value}\n".encode(), "my.cnf.j2").lines[1].templated


@pytest.mark.parametrize(
    ("opens", "other", "closes"),
    [
        ("{% if a %}", "{% else %}", "{% endif %}"),
        ("{%- for x in y -%}", "", "{%- endfor %}"),
        ("{{- if .a }}", "{{- else }}", "{{- end }}"),
        ("{{ range $k, $v := .x }}", "", "{{ end }}"),
        ("<% if @a -%>", "<% else -%>", "<% end -%>"),
        ("<% @a.each do |x| %>", "", "<% end %>"),
        ("<% if $a { -%>", "<% } else { -%>", "<% } -%>"),
        ("{{#a}}", "", "{{/a}}"),
        ("%{ if a }", "%{ else }", "%{ endif }"),
    ],
)
def test_lines_within_a_condition(opens: str, other: str, closes: str) -> None:
    """Lines that a template may leave out say so, and those behind the end of the condition don't."""
    text = f"[mysqld]\nport=1\n{opens}\nport=2\n{other}\nport=3\n{closes}\nport=4\n".encode()
    ports = {line.value: line.conditional for line in parse(text, "my.cnf.tpl").lines if line.name == "port"}
    assert ports == {"1": False, "2": True, "3": True, "4": False}


@given(
    st.lists(
        st.sampled_from(["{{", "}}", "{%", "%}", "{#", "#}", "<%", "%>", "${", "}", "a=1", "[g]", "\n", "#", " ", "'"])
    )
)
def test_any_template_comes_back(parts: list[str]) -> None:
    """However the marks of templates stand, the file is read to its end and comes back."""
    text = "".join(parts)
    assert render(parse(text.encode(), "x")) == text.encode()
