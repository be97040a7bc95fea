"""Any document is read or refused in one line."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.carriers.document import CarrierError
from advisor.carriers.recognise import carrier_of
from advisor.catalog import load
from advisor.catalog.targets import parse_target

# Parts of documents, separated by blanks; ~ is a blank, and escapes are Python's.
YAML = r"""
services:\n  ~~db:\n  ~~~~image:~mysql:8.0\n  ~~~~command:~  mysqld~  --port=1  --x  '  "  \\  -~  [  ]  {  }  |\n  >-\n
\n  ~  ~~~~  \t  my.cnf:~  [mysqld]  {{~x~}}  {%  %}  ${  $$  $(A)  &a~  *a  <<:~  !!str~  #  \xe9  \u2028  \x85  \r\n
---\n  args:~  :~  containers:\n  \ufeff  sh~-c~  &&  --  -P  ?~  MYSQL_EXTRA_FLAGS:~  --password~secret
"""
UNIT = r"""
[Service]\n  ExecStart=  /usr/sbin/mysqld~  --port=1  \\\n  '  "  \\x  %i  %%  $A  ${A}  $$  ;  ~;~  #~  \n  @  -  \x00
Environment=  MYSQLD_OPTS=  \xe9  \t  \r  [  ]  =
"""
PERSISTED = r"""
{"Version":1,  {"Version":2,  "mysql_server":  "mysql_static_variables":  {  }  ,  :  "  "port":{"Value":"1"}  "Value":
"sql_mode"  1  null  \\u0000  \\ud800  \xe9  \n  [  ]
"""
DOCKERFILE = r"""
FROM~  mysql  AS~  a\n  CMD~  ENTRYPOINT~  mysqld~  --port=1  [  "  ,  ]  \\\n  \\  \\u0061  '  RUN~  COPY~  <<EOF
<<-'EOF'
\nEOF\n  /x.cnf\n  [mysqld]\n  port=$A\n  #  ~  \t  $  {{~x~}}  \r  \xe9  \x00  #~escape=`\n  `\n  sh~-c~  &&  \n
"""
HCL = r"""
resource~"aws_db_parameter_group"~"a"~{\n  family~=~"mysql8.0"\n  parameter~{\n  name~=~"port"\n  value~=~
"1"\n  }\n  }  {  [  ]  (  )  =  ,  "  ${  %{  <<A\n  A\n  #~  //  /*  */  \\  \xe9  \u2028  null  true  var.x
concat([  parameters~=  \r  \x00
"""
GROUPS = r"""
Resources:\n  ~~a:\n  ~~~~Type:~AWS::RDS::DBParameterGroup\n  ~~~~Properties:\n  ~~~~~~Family:~mysql8.0\n
~~~~~~Parameters:\n  ~~~~~~~~port:~  1  !Ref~x  &a~  *a  {  }  [  ]  ,  "  '  \n  <<:~  |\n  ~  #  \xe9
mysqld:\n  ~~port:~1\n  mysqlConf:\n  {{~x~}}  mysql_port:~1\n  mysql_max_connections:~2\n
mysql_sort_buffer_size:~3\n  databaseFlags:\n  databaseVersion:~MYSQL_8_0\n  \t  \x85
"""
LISTS = r"""
{"Parameters":[  {"ParameterName":"port",  "ParameterValue":"1",  "Source":"user",  "AllowedValues":"1-2"}
"DataType":"integer"  ,  ]  }  [{"name":"port","value":"1","allowedValues":"1-2","source":"user-override"}]
null  1  "  \\u0000  \\ud800  \xe9  \n  \t  :  {  [
"""
PARTS = {
    name: [part.replace("~", " ").encode("ascii").decode("unicode_escape") for part in text.split()]
    for name, text in (
        ("x.yml", YAML), ("x.service", UNIT), ("mysqld-auto.cnf", PERSISTED), ("dockerfile", DOCKERFILE),
        ("x.tf", HCL), ("groups.yaml", GROUPS), ("list.json", LISTS)
    )
}  # fmt: skip
TARGETS = [load(parse_target(target)) for target in ("mysql-8.0", "mariadb-11.4")]


# Whole documents, to be spoilt.
WHOLE_YAML = """\
services:
  db: &a
    image: mysql:8.0
    command: >
      mysqld --port=1 --init-connect='a b'
      --sql-mode ANSI
    entrypoint: ["sh", '-c', "exec mysqld --x=\\"1\\" $$A"]
data:
  my.cnf: |
    [mysqld]
    port = 1 # é
{{ if x }}
    b=2
{{ end }}
  e.cnf: "[mysqld]\\nport=1"
---
kind: Secret
data:
  my.cnf: W215c3FsZF0KcG9ydD0xCg==
"""
WHOLE_UNIT = """\
[Service]
Environment="MYSQLD_OPTS=--port=1 --x='y z'"
ExecStart=-/usr/sbin/mysqld --a=%i \\
# c
  --b="é\\x20" $MYSQLD_OPTS ; mysqld -P1
"""
WHOLE_PERSISTED = """\
{"Version": 1, "mysql_server": {"port": {"Value": "1", "Metadata": {}},
 "mysql_server_static_options": {"back_log": {"Value": "5x", "Metadata": {}}}}}
"""
WHOLE_DOCKERFILE = """\
FROM mysql:8.0 AS base
COPY <<-EOF /etc/my.cnf
\t[mysqld]
\tport = $A
\tEOF
CMD ["--port=1", \\
  # c
  "--init-connect=\\"é\\""]
FROM base
ENTRYPOINT exec mysqld --a='b c' \\
  -P1 && x
"""
WHOLE_HCL = """\
# é
resource "aws_db_parameter_group" "a" {
  family = "mysql8.0"
  parameter {
    name  = "port"
    value = "1" /* x */
  }
  dynamic "parameter" {
    for_each = var.x
  }
}
module "m" {
  family     = "mariadb10.11"
  parameters = concat([{ name = "port", value = -1 }, { "name" : "é", value = "a\\"b" }], x)
}
"""
WHOLE_GROUPS = """\
Resources:
  a:
    Type: AWS::RDS::DBParameterGroup
    Properties:
      Family: mysql8.0
      Parameters: &p
        port: 1
        sort_buffer_size: !Ref x
mysqld:
  <<: *p
  port: "{{ x }}"
  binlog-ignore-db: [a, b]
"""
WHOLE_LIST = """\
{"Parameters": [{"ParameterName": "port", "ParameterValue": "1", "Source": "user", "AllowedValues": "1-2"},
 {"ParameterName": "sort_buffer_size", "ParameterValue": "é", "Source": "user", "DataType": "integer"}]}
"""
WHOLE = {
    "x.yml": WHOLE_YAML, "x.service": WHOLE_UNIT, "mysqld-auto.cnf": WHOLE_PERSISTED, "dockerfile": WHOLE_DOCKERFILE,
    "x.tf": WHOLE_HCL, "groups.yaml": WHOLE_GROUPS, "list.json": WHOLE_LIST
}  # fmt: skip
SPOILT = st.tuples(st.integers(0, 400), st.integers(0, 12))


def read_all(name: str, text: str) -> None:
    """Read a document for both flavours: lines lie within it, or one line of error says why not."""
    try:
        carrier = carrier_of(text.encode("utf-8", "surrogatepass"), name, name)
        read = [one.read(catalog) for one, catalog in itertools.product(carrier.sets, TARGETS)] if carrier else []
    except CarrierError as error:
        if "\n" in str(error):
            raise
        return
    lines = text.split("\n")
    for line in (line for reading in read for line in reading.order):
        assert 1 <= line.number <= len(lines)
        assert 1 <= line.column <= line.end_column <= len(lines[line.number - 1]) + 1
    assert carrier is None or all(
        carrier.document.masked_line(n) is not None for n in range(1, carrier.document.lines + 1)
    )


@pytest.mark.parametrize("name", PARTS)
def test_any_document(name: str) -> None:
    """Any parts of documents, one after another, are read or refused in one line."""

    @settings(max_examples=300)
    @given(st.lists(st.sampled_from(PARTS[name]), max_size=25).map("".join))
    def holds(text: str) -> None:
        read_all(name, text)

    holds()


@pytest.mark.parametrize("name", PARTS)
def test_any_spoilt_document(name: str) -> None:
    """So is a whole document in which parts are cut out and others put in."""

    @settings(max_examples=300)
    @given(st.lists(st.tuples(SPOILT, st.sampled_from(["", *PARTS[name]])), max_size=4))
    def holds(changes: list[tuple[tuple[int, int], str]]) -> None:
        text = WHOLE[name]
        for (at, length), part in changes:
            text = text[:at] + part + text[at + length :]
        read_all(name, text)

    read_all(name, WHOLE[name])
    holds()
