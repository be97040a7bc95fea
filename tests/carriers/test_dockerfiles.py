"""Dockerfiles: commands of servers, and option files in here-documents, by Docker's reference of the format."""

from __future__ import annotations

import pytest

from advisor.carriers.document import CarrierError
from advisor.core.model import Target
from tests.carriers.conftest import Reader

STAGES = r"""# syntax=docker/dockerfile:1
ARG TAG=8.0
FROM --platform=linux/amd64 mysql:${TAG} AS base
RUN <<END
CMD ["mysqld", "--port=9"]
END
cmd [ "--port=1", \
     # a comment

     "--init-connect=\"x\" \u0061", "--tmpdir" , "/b" ]

FROM ubuntu
CMD ["never"]
ENTRYPOINT exec mariadbd --port=2 \
    --tmpdir=$DIR "$@"

FROM BASE
ENTRYPOINT ["docker-entrypoint.sh"]

FROM base AS last
CMD mysqld --port=3 && echo --port=9
"""


def test_commands(carried: Reader) -> None:
    """Lists and shell forms of every stage are read, each for the server of its image or program."""
    document = carried(STAGES, "Dockerfile")
    assert document.labels == ["CMD", "ENTRYPOINT", "CMD#2"]
    assert document.slices(at=0) == ["port=1", r"init-connect=\"x\" \u0061", 'tmpdir" , "/b']
    assert document.options(at=0) == {"port": "1", "init-connect": '"x" a', "tmpdir": "/b"}
    assert document.slices("mariadb-11.4", at=1) == ["port=2", "tmpdir=$DIR"]
    assert [line.templated for line in document.lines("mariadb-11.4", at=1)] == [False, True]
    assert document.slices(at=2) == ["port=3"]
    mysql = Target("mysql", (8, 0, 43))
    assert [one.hint and one.hint[:1] for one in document.carrier.sets] == [("mysql",), ("mariadb",), ("mysql",)]
    assert document.carrier.sets[0].hint == document.carrier.sets[2].hint == mysql


HEREDOCS = """\
FROM mariadb:11.4
COPY --chmod=644 <<EOF <<-'RAW' /etc/mysql/conf.d/
[mysqld]
port = 1
tmpdir = ${DIR}
$NAME = x
EOF
\t[mysqld]
\t  port = 2 # é
\ttmpdir = $x
\tRAW
COPY <<EOF /run.sh
[ -e x ] && mysqld --port=9
EOF
ADD <<"EOF" /etc/my.cnf
[client]
port=3
"""


def test_heredocs(carried: Reader) -> None:
    """Option files that are copied from here-documents stand where they stand; a server's variables are its own."""
    document = carried(HEREDOCS, "x.dockerfile")
    assert document.labels == ["/etc/mysql/conf.d/EOF", "/etc/mysql/conf.d/RAW", "/etc/my.cnf"]
    assert document.slices(at=0) == ["port = 1", "tmpdir = ${DIR}"]
    assert [line.templated for line in document.lines(at=0)] == [False, True]
    assert document.slices(at=1) == ["port = 2", "tmpdir = $x"]
    assert [line.templated for line in document.lines(at=1)] == [False, False]


@pytest.mark.parametrize(
    "text",
    [
        'FROM nginx\nCMD ["nginx", "--port=1"]\n',
        'FROM mysql:8.4\nCMD ["mysqld"]\n',
        "FROM mysql:8.4\nCMD mysqldump --port=1\n",
        'FROM x\nCMD ["--port=1"]\n',
        'FROM mysql\nENTRYPOINT ["mysqld_exporter"]\nCMD ["--port=1"]\n',
        'FROM mysql\nHEALTHCHECK CMD ["mysqladmin", "--port=1"]\n',
        "FROM mysql\nCMD mysqld 'x\n",
        "FROM ubuntu\nENTRYPOINT exec other\nCMD mysqld --port=1\n",
        "",
        "\\",
        "RUN <<",
        "CMD",
        'CMD ["a"',
    ],
)
def test_no_options(text: str, carried: Reader) -> None:
    """What gives a server no options has no sets, and nothing is an error."""
    assert carried(text, "Dockerfile").labels == []


def test_an_entrypoint_takes_the_command_with_it(carried: Reader) -> None:
    """A new ENTRYPOINT does away with the CMD of the image below, and keeps one of its own stage."""
    document = carried('FROM mysql AS a\nCMD ["--port=1"]\nFROM a\nENTRYPOINT ["mysqld", "--tmpdir=x"]\n', "Dockerfile")
    assert document.slices(at=1) == ["tmpdir=x"]
    document = carried('FROM mysql\nCMD ["--port=1"]\nENTRYPOINT ["mysqld", "--tmpdir=x"]\n', "Dockerfile")
    assert document.slices() == ["tmpdir=x", "port=1"]


def test_hundreds_of_stages(carried: Reader) -> None:
    """More servers than anyone builds are refused in one line."""
    with pytest.raises(CarrierError, match="more than 500 servers"):
        carried('FROM mysql\nCMD ["--port=1"]\n' * 501, "Dockerfile")


def test_the_other_escape(carried: Reader) -> None:
    """The directive that makes a backtick continue a line is used."""
    document = carried("# escape=`\nFROM mysql\nCMD mysqld `\n --port=1\n", "Dockerfile.win")
    assert document.slices() == ["port=1"]


def test_an_option_file_of_that_name(carried: Reader) -> None:
    """A name that ends as those of option files do is one."""
    with pytest.raises(AssertionError):
        carried("[mysqld]\nport=1\n", "dockerfile.cnf")
