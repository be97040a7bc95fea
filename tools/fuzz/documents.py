"""Generate Compose files, Kubernetes YAML, HCL, units and Dockerfiles by grammars, intact or mangled."""

from __future__ import annotations

import random
from collections.abc import Callable

from mangling import mangle

OPTIONS = (
    *("port=3307", "max_connections=500"),
    *("innodb_buffer_pool_size=1G", "skip-name-resolve", "sql-mode=ANSI,TRADITIONAL"),
    *("loose-x=1", "init-connect='SET a=1'", "innodb_bufer_pool_size=1", "report-password=secret", "read_only=maybe"),
    *("x", "=", 'wsrep_provider_options="a=1; b=2"'),
    *("server-id=${ID}", "log-bin={{ name }}", "tmpdir=/a#b", "é=\xa0"),
)
IMAGES = ("mysql:8.0", "mysql:5.7", "mariadb:11.4", "mariadb", "percona/percona-server:8.0", "x/mysql@sha256:0", "${I}")
WORDS = (
    *("mysqld", "mariadbd", "sh", "-c", "exec", "docker-entrypoint.sh", "/usr/sbin/mysqld", "mysqld_safe", "bash"),
    *("--port", "3306", "-P", "-P3306", "--", "&&", ";", "|", "$A", "${A}", "$(A)", "$$", "`a`", "#", "\\", "%i", "%%"),
    *("'", '"', "a b", "", "\t", "\u2028", "\ufeff", "*", "~", "!!str", "&a", "*a", "<<", "> /x", "2>&1", "env", "A=1"),
)
KEYS = (
    *("services", "db", "image", "command", "entrypoint", "environment", "configs", "content", "data", "stringData"),
    *("my.cnf", "custom.cnf", "containers", "initContainers", "args", "spec", "template", "kind", "metadata", "name"),
    *("MYSQL_EXTRA_FLAGS", "MARIADB_EXTRA_FLAGS", "x-base", "<<"),
    *("value", "primary", "configuration", "extraFlags", "1"),
)
BETWEEN = ("[mysqld]", "", "; x", "!include /x", "\t")
STREAMS = (
    *("", "", "kind: Secret\n", "kind: ConfigMap\n", "apiVersion: v1\n", "%YAML 1.1\n---\n", "\ufeff", "x: mysql\n"),
)
VARIABLES = ("MYSQLD_OPTS", "MARIADBD_OPTS", "MYSQLD_OPTS_1", "_WSREP_NEW_CLUSTER", "X")


def _some(make: Callable[[random.Random], str], chance: random.Random, most: int) -> list[str]:
    return [make(chance) for _ in range(chance.randrange(most))]


def word(chance: random.Random) -> str:
    """One word of a command, with or without quotes, or with an unclosed quote."""
    text = f"--{chance.choice(OPTIONS)}" if chance.random() < 0.5 else chance.choice(WORDS)
    quote = chance.choice(("", "", "", "'", '"', "\\"))
    return quote + text + chance.choice((quote, quote, quote, ""))


def option_text(chance: random.Random) -> list[str]:
    """The lines of an option file."""
    lines = [chance.choice(("[mysqld]", "[mysqld]", "[server]", "[client]", "[", "# x", "{{ if x }}"))]
    return lines + [chance.choice(OPTIONS if chance.random() < 0.7 else BETWEEN) for _ in range(chance.randrange(6))]


def yaml(chance: random.Random) -> bytes:
    """A stream of YAML documents."""
    count = chance.choice((1, 1, 1, 2, 3))
    streams = [chance.choice(STREAMS) + "\n".join(_mapping(chance, 0)) + "\n" for _ in range(count)]
    return "---\n".join(streams).encode("utf-8", "surrogatepass")


def _mapping(chance: random.Random, depth: int) -> list[str]:
    lines: list[str] = []
    for _ in range(chance.randrange(1, 4)):
        key, indent = chance.choice(KEYS), " " * (2 * depth)
        if depth < 5 and chance.random() < 0.55:
            anchor = chance.choice(("", "", "", " &a", " !!map", " *a"))
            lines += [f"{indent}{key}:{anchor}", *_mapping(chance, depth + 1)]
        else:
            lines += _scalar(chance, key, indent)
    return lines


def _scalar(chance: random.Random, key: str, indent: str) -> list[str]:  # noqa: PLR0911 - one a notation
    kind = chance.randrange(8)
    if kind == 0:
        style = chance.choice(("|", ">", "|-", ">+", "|2", ">1-", "|  # x"))
        deeper = indent + " " * chance.choice((2, 2, 2, 1, 4, 0))
        return [f"{indent}{key}: {style}", *(deeper + line for line in option_text(chance))]
    if kind == 1:
        return [f"{indent}{key}:", *(f"{indent}- {word(chance)}" for _ in range(chance.randrange(1, 5)))]
    if kind == 2:
        quoted = ", ".join(chance.choice(('"{}"', "'{}'", "{}")).format(text) for text in _some(word, chance, 5))
        return [f"{indent}{key}: [{quoted}" + chance.choice(("]", "]", "]", ""))]
    if kind == 3:
        return [f'{indent}{key}: "' + "\\n".join(option_text(chance)) + chance.choice(('"', '"', ""))]
    if kind == 4:
        return [f"{indent}{key}: {chance.choice(IMAGES)}"]
    if kind == 5:
        return [f"{indent}{key}: {_base64(chance)}"]
    if kind == 6:
        return [f"{indent}{{{{- with .Values.{key} }}}}", f"{indent}{key}: {{{{ . }}}}", f"{indent}{{{{- end }}}}"]
    return [f"{indent}{key}: {' '.join(_some(word, chance, 6))}"]


def _base64(chance: random.Random) -> str:
    from base64 import b64encode

    text = b64encode("\n".join(option_text(chance)).encode("utf-8", "surrogatepass")).decode()
    at = chance.randrange(len(text) + 1)
    return text if chance.random() < 0.7 else text[:at] + chance.choice(("", "=", "\n  ", "é", "-")) + text[at + 1 :]


RESOURCES = (
    *("aws_db_parameter_group", "aws_rds_cluster_parameter_group", "google_sql_database_instance", "aws_vpc"),
    *("azurerm_mysql_flexible_server_configuration", "digitalocean_database_mysql_config"),
)
FAMILIES = ("mysql8.0", "aurora-mysql8.0", "mariadb10.11", "mysql5.6", "postgres16", "", "é", "MYSQL_8_0", "${var.f}")
EXPRESSIONS = (
    *("var.x", '"${var.x}"', "true", "null", "1", "-1", '"1"', '"a\\"b"', '"é"', "concat([{}], x)", "x ? 1 : 2"),
    *("[for a in b : a]", "<<A\nx\nA", "{", "[", '"', "(1)", "1 + 1", 'join(",", ["a"])', "/* x */ 1", "# x"),
)


def hcl(chance: random.Random) -> bytes:
    """A configuration of Terraform."""
    return "".join(_resource(chance) for _ in range(chance.randrange(1, 4))).encode("utf-8", "surrogatepass")


def _resource(chance: random.Random) -> str:
    head = chance.choice(('resource "{}" "a"', 'resource "{}" "é"', 'module "{}"', "locals", 'dynamic "{}"', "{}"))
    lines = [f"{head.format(chance.choice(RESOURCES))} {{", f'  family = "{chance.choice(FAMILIES)}"']
    for _ in range(chance.randrange(6)):
        name, _, value = chance.choice(OPTIONS).partition("=")
        value = f'"{value}"' if chance.random() < 0.5 else chance.choice(EXPRESSIONS)
        pair = f'name = "{name}"\n    value = {value}'
        lines.append(
            chance.choice((f"  parameter {{\n    {pair}\n  }}", f"  {name} = {value}", f"  parameters = [{{{pair}}}]"))
        )
    return "\n".join([*lines, chance.choice(("}", "}", "}", "", "}}"))]) + "\n"


def declared_document(chance: random.Random) -> bytes:
    """A template, an operator's resource or a mapping of options, as YAML."""
    heads = (
        "Type: AWS::RDS::DBParameterGroup\nProperties:\n  Family: {}\n  Parameters:\n",
        "databaseVersion: {}\nmysqld:\n",
        "kind: MysqlCluster\nspec:\n  mysqlVersion: {}\n  mysqlConf:\n", "spec:\n  family: {}\n  parameterOverrides:\n",
        "x_param_group:\n  engine: {}\n  params:\n", "mysqld:\n",
    )  # fmt: skip
    lines = [chance.choice(heads).format(chance.choice(FAMILIES))]
    for _ in range(chance.randrange(1, 6)):
        name, _, value = chance.choice(OPTIONS).partition("=")
        value = chance.choice(
            (value, f'"{value}"', "!Ref x", "~", "[a, b]", "{a: b}", "&a 1", "*a", "true", "|\n      x")
        )
        lines.append(f"    {name}: {value}\n")
    return "".join(lines).encode("utf-8", "surrogatepass")


def unit(chance: random.Random) -> bytes:
    """A systemd unit or drop-in."""
    lines: list[str] = []
    for _ in range(chance.randrange(1, 9)):
        kind = chance.random()
        words = " ".join(_some(word, chance, 6))
        if kind < 0.3:
            lines.append(f"ExecStart={chance.choice(('', '-', '@', '+!'))}/usr/sbin/mysqld {words}")
        elif kind < 0.5:
            lines.append(f'Environment="{chance.choice(VARIABLES)}={words}' + chance.choice(('"', '"', "")))
        elif kind < 0.6:
            lines.append("EnvironmentFile=" + chance.choice(("/env", "-/env", "-/none", "x", "/%i", "/a*")))
        elif kind < 0.8:
            lines.append(f"{words} \\")
        else:
            lines.append(chance.choice(("[Service]", "[Unit]", "# x", "; y \\", "", "ExecStart=", "=", "[Service")))
    return "\n".join(["[Service]", *lines]).encode("utf-8", "surrogatepass")


def dockerfile(chance: random.Random) -> bytes:
    """A Dockerfile."""
    lines = [chance.choice(("", "# escape=`", "# syntax=x", "ARG V=8.0")), f"FROM {chance.choice(IMAGES)} AS base"]
    for _ in range(chance.randrange(1, 8)):
        kind = chance.randrange(7)
        words = _some(word, chance, 5)
        if kind == 0:
            quoted = ", ".join(f'"{text}"' for text in words)
            ends = chance.choice(("]", "]", ",]", ""))
            lines.append(f"{chance.choice(('CMD', 'ENTRYPOINT', 'cmd'))} [{quoted}{ends}")
        elif kind == 1:
            lines.append(f"{chance.choice(('CMD', 'ENTRYPOINT'))} {' '.join(words)}")
        elif kind == 2:
            ends = chance.choice(("EOF", "'EOF'", "-EOF", '"A B"', "", "EOF <<TWO"))
            lines += [f"COPY <<{ends} /etc/mysql/{chance.choice(('my.cnf', '', 'x/'))}", *option_text(chance), "EOF"]
        elif kind == 3:
            named = chance.choice(("", " AS two", " AS", " as base"))
            lines.append(f"FROM {chance.choice((*IMAGES, 'base', 'BASE'))}{named}")
        elif kind == 4:
            lines.append(f"RUN {' '.join(words)} \\")
        elif kind == 5:
            lines.append(f"ENV {chance.choice(VARIABLES)}={' '.join(words)}")
        else:
            lines.append(chance.choice(("# x", "", "  # y", "ARG V", "ADD", "ONBUILD CMD mysqld", "\\")))
    return "\n".join(lines).encode("utf-8", "surrogatepass")


def mostly(made: bytes, real: list[bytes], chance: random.Random) -> bytes:
    """The generated document as it is, a mangled one, or a mangled real one."""
    kind = chance.random()
    if kind < 0.5:
        return made
    return mangle(made if kind < 0.8 or not real else chance.choice(real), [made, *real[:50]], chance)
