"""Whatever a document holds, it is read or refused in one line."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.carriers.document import CarrierError
from advisor.carriers.recognise import carrier_of
from advisor.catalog.load import load
from advisor.catalog.targets import parse_target

# Parts of documents, parted by blanks; ~ is a blank, and escapes are Python's.
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
PARTS = {
    name: [part.replace("~", " ").encode("ascii").decode("unicode_escape") for part in text.split()]
    for name, text in (("x.yml", YAML), ("x.service", UNIT), ("mysqld-auto.cnf", PERSISTED))
}
TARGETS = [load(parse_target(target)) for target in ("mysql-8.0", "mariadb-11.4")]


@pytest.mark.parametrize("name", PARTS)
def test_any_document(name: str) -> None:
    """Any text in place of a document gives sets whose lines lie within it, or one line of error."""

    @settings(deadline=None, max_examples=400)
    @given(st.lists(st.sampled_from(PARTS[name]), max_size=25).map("".join))
    def holds(text: str) -> None:
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

    holds()
