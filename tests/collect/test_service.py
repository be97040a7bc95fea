"""Which files make up a service, judged by systemd's own reader, and what of them is kept."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from advisor.collect.host import open_root
from advisor.collect.service import read_service, service_of, usual_service
from advisor.redaction import MASK

SYSTEM = "etc/systemd/system"
LIBRARY = "usr/lib/systemd/system"
CANARY = "kanarienvogel-7391"


def write(root: Path, path: str, text: str = "[Service]\n") -> None:
    """A file below the root; each has an unknown line of its own that systemd reports."""
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text + f"Marker{abs(hash(path))}=1\n")


def read_by_systemd(root: Path, unit: str) -> list[str]:
    """The files that systemd reads for a unit below a root, in its order: by its messages about their unknown lines."""
    found = re.findall(r"^(\S+?):\d+: Unknown key (?:name )?'Marker", verified(root, unit), re.MULTILINE)
    return [path.removeprefix(str(root)) for path in found]


def verified(root: Path, unit: str) -> str:
    """What systemd-analyze prints about a unit below a root."""
    command = ["systemd-analyze", "verify", f"--root={root}", "--man=no", "--recursive-errors=no", unit]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=600).stderr


@pytest.fixture(scope="module")
def systemd(tmp_path_factory: pytest.TempPathFactory) -> None:
    """A systemd-analyze that reports on a unit alone below a root; the test skips by name without one."""
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is not installed")
    root = tmp_path_factory.mktemp("alone")
    write(root, f"{LIBRARY}/alone.service", "[Service]\nExecStart=/bin/true\n")
    if read_by_systemd(root, "alone.service") != [f"/{LIBRARY}/alone.service"]:
        printed = verified(root, "alone.service")[:200]
        pytest.skip(f"this systemd-analyze cannot read units below a root: {printed}")


CASES = {
    "a unit alone": ("mysql.service", [f"{LIBRARY}/mysql.service"], {}),
    "the administrator's unit hides the package's": (
        "mysql.service", [f"{LIBRARY}/mysql.service", f"{SYSTEM}/mysql.service"], {},
    ),
    "drop-ins sorted by name over all folders, and of one name the first folder's": (
        "mysql.service",
        [f"{LIBRARY}/mysql.service", f"{SYSTEM}/mysql.service.d/b.conf", f"{LIBRARY}/mysql.service.d/a.conf",
         "run/systemd/system/mysql.service.d/c.conf", f"{LIBRARY}/mysql.service.d/b.conf"],
        {},
    ),
    "for all services, and by the beginning of the name": (
        "my-sql-db.service",
        [f"{LIBRARY}/my-sql-db.service", f"{SYSTEM}/service.d/z.conf", f"{SYSTEM}/my-.service.d/y.conf",
         f"{SYSTEM}/my-sql-.service.d/x.conf", f"{SYSTEM}/other-.service.d/w.conf"],
        {},
    ),
    "an instance has its template's": (
        "mysqld@two.service",
        [f"{LIBRARY}/mysqld@.service", f"{SYSTEM}/mysqld@.service.d/a.conf", f"{SYSTEM}/mysqld@two.service.d/b.conf",
         f"{SYSTEM}/mysqld@one.service.d/c.conf"],
        {},
    ),
    "an alias brings its own": (
        "mariadb.service",
        [f"{LIBRARY}/mariadb.service", f"{SYSTEM}/mysql.service.d/a.conf"],
        {f"{SYSTEM}/mysql.service": f"/{LIBRARY}/mariadb.service"},
    ),
    "a drop-in that is masked": (
        "mysql.service",
        [f"{LIBRARY}/mysql.service", f"{LIBRARY}/mysql.service.d/a.conf", f"{LIBRARY}/mysql.service.d/b.conf"],
        {f"{SYSTEM}/mysql.service.d/a.conf": "/dev/null"},
    ),
    "what is no drop-in": (
        "mysql.service", [f"{LIBRARY}/mysql.service", f"{SYSTEM}/mysql.service.d/a.conf.bak"], {},
    ),
}  # fmt: skip


@pytest.mark.usefixtures("systemd")
@pytest.mark.parametrize("case", CASES)
def test_the_files_of_a_service(case: str, tmp_path: Path) -> None:
    """The unit and its drop-ins are those that systemd reads, in its order."""
    unit, files, links = CASES[case]
    for path in files:
        kind = "[Unit]\n" if path.endswith(".service") else ""
        write(tmp_path, path, f"{kind}[Service]\nExecStart=/bin/true\n" if kind else "[Service]\n")
    for path, target in links.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).symlink_to(target)
    service = read_service(open_root(str(tmp_path)), unit)
    assert service is not None
    assert [copy.path for copy in service.unit_files] == read_by_systemd(tmp_path, unit)


def test_secrets_are_left_out(tmp_path: Path) -> None:
    """No secret of a unit, drop-in, environment file or process is kept, however it is quoted; the rest stays."""
    lines = [
        f'Environment="MYSQLD_OPTS=--report-password={CANARY} x --port=1"',
        f"""Environment='OTHER=--wsrep_sst_auth="root:{CANARY} y" --port=2' MYSQL_PWD={CANARY}""",
        f"ExecStart=/usr/sbin/mysqld --report-password '{CANARY} z' --port=3 $MYSQLD_OPTS $AUTH",
        f"""ExecStart=/usr/sbin/mysqld --init-connect="SET PASSWORD = '{CANARY}'" """,
        "EnvironmentFile=/etc/default/db",
    ]
    write(tmp_path, f"{LIBRARY}/mysql.service", "[Service]\n" + "\n".join(lines) + "\n")
    secret = f'MYSQL_ROOT_PASSWORD="{CANARY} a"\nMYSQLD_OPTS="--wsrep-sst-auth=\\"root:{CANARY} b\\" --port=4"\n'
    write(tmp_path, "etc/default/db", secret)
    secret = f"--report-password={CANARY}"
    given = {"MYSQLD_OPTS": f"{secret} --port=5", "AUTH": f"--wsrep-sst-auth={CANARY}", "HOME": CANARY}
    service = read_service(open_root(str(tmp_path)), "mysql.service", given)
    assert service is not None
    copies = (*service.unit_files, *service.environment_files)
    kept = "".join(copy.text or "" for copy in copies) + str(service.environment)
    assert CANARY not in kept
    assert all(f"--port={n}" in kept for n in range(1, 6))
    assert service.environment["MYSQLD_OPTS"] == f"--report-password={MASK} --port=5"
    assert service.environment.keys() == {"MYSQLD_OPTS", "AUTH"}
    assert service.unit_files[0].secret_lines == (2, 3, 4, 5)


@pytest.mark.parametrize(
    ("cgroup", "name"),
    [
        ("0::/system.slice/mysql.service", "mysql.service"),
        ("0::/system.slice/system-mysqld.slice/mysqld@two.service", "mysqld@two.service"),
        ("12:pids:/system.slice/mariadb.service\n1:name=systemd:/system.slice/mariadb.service", "mariadb.service"),
        ("0::/user.slice/user-1000.slice/user@1000.service/app.slice/db.service", ""),
        ("0::/docker/0123456789abcdef", ""),
        ("0::/", ""),
        ("", ""),
    ],
)
def test_the_service_of_a_process(cgroup: str, name: str, tmp_path: Path) -> None:
    """The control group names it, as long as it is one of the system's own services."""
    (tmp_path / "proc/7").mkdir(parents=True)
    (tmp_path / "proc/7/cgroup").write_text(cgroup)
    assert service_of(open_root(str(tmp_path)), 7) == name


def test_the_usual_service(tmp_path: Path) -> None:
    """In a copy of a host's files the one service of a usual name is meant; of two the right one is unknown."""
    root = open_root(str(tmp_path))
    assert usual_service(root) == ""
    write(tmp_path, f"{LIBRARY}/mariadb.service")
    (tmp_path / SYSTEM).mkdir(parents=True)
    (tmp_path / SYSTEM / "mysql.service").symlink_to(f"/{LIBRARY}/mariadb.service")
    assert usual_service(open_root(str(tmp_path))) == "mariadb.service"
    write(tmp_path, f"{LIBRARY}/mysqld.service")
    assert usual_service(open_root(str(tmp_path))) == ""
    assert read_service(root, "postgresql.service") is None
