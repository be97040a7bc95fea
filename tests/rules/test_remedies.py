"""Advice on the kernel and on limits: where to write them, how to load them, and whether that takes a restart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace
from rule_cases import Case, context_of_case

from advisor.analysis import run_rules, select_rules
from advisor.facts.host import HIDDEN_GROUP, SkippedPart
from rules import find_rule
from rules.sizing.memory import usable_memory

if TYPE_CHECKING:
    from pathlib import Path

MEMORY = {"total": 64 << 30, "swap_total": 2 << 30, "swappiness": 60}
HUGE = {"total": 64 << 30, "huge_page": 2 << 20, "huge_pages_total": 1024, "huge_pages_free": 1000}
POOL = {"variables": {"large_pages": "ON", "innodb_buffer_pool_size": str(8 << 30)}}
QUEUE = {"file": "back_log = 5000"}
CROWD = {"file": "max_connections = 5000", "server": {"variables": {"max_connections": "214"}}}
TABLES = {"file": "table_open_cache = 30000", "server": {"variables": {"table_open_cache": "400"}}}
FILES = {"file": "open_files_limit = 100000", "server": {"variables": {"open_files_limit": "5000"}}}
FSIZE = {"limits": [{"name": "fsize", "soft": 1 << 30, "hard": 1 << 30}]}
NVME = {"kernel_name": "nvme0n1", "transport": "nvme", "scheduler": "bfq"}
SYSCTL = "/etc/sysctl.d/90-mysql.conf"
DOCKER = {"containers": ("docker",)}
POD = {"containers": ("kubernetes",)}
SHARE = {"path": "/system.slice/mysqld.service", "cpus": 2.0, "periods": 5000, "throttled": 4000}
REBUILD = {"level": "raid1", "disks": 2, "degraded": 1, "action": "recover"}


def loaded(line: str) -> str:
    """The advice to write the line of sysctl and to load it."""
    return f"write {line} to {SYSCTL}, load it with sysctl -p {SYSCTL}"


def unit(settings: str) -> str:
    """The advice to write settings into a unit whose name is unknown."""
    return f"set {settings} in the service's unit (systemctl edit SERVICE)"


def remedy(rule: str, tmp_path: Path, **words: Any) -> str:
    """The help of the first finding of that rule."""
    known = find_rule(rule)
    assert known is not None
    return next(iter(known.check(context_of_case(Case(rule, "", "mysql-8.0.15", **words), tmp_path)))).help


@pytest.mark.parametrize(
    ("rule", "host", "words", "says"),
    [
        ("swappiness", {"memory": MEMORY}, {}, f"{loaded('vm.swappiness = 1')}; it takes effect at once"),
        ("limited-by-the-system", {}, CROWD, f"{unit('LimitNOFILE=25000')}, and restart"),
        ("limited-by-the-system", {}, TABLES, f"{unit('LimitNOFILE=60184')}, and restart"),
        ("limited-by-the-system", {}, FILES, f"{unit('LimitNOFILE=100000')}, and restart"),
        ("limited-file-size", {"process": FSIZE}, {}, f"{unit('LimitFSIZE=infinity')}, and restart"),
    ],
)
def test_the_whole_remedy(rule: str, host: dict[str, Any], words: dict[str, Any], says: str, tmp_path: Path) -> None:
    """One setting of the kernel or of the unit, with its value."""
    assert remedy(rule, tmp_path, host=host, **words) == says


def test_a_queue_gets_its_length_at_the_next_start(tmp_path: Path) -> None:
    """A server keeps the queue that it began to listen with, even if the kernel allows more later."""
    says = remedy("backlog-cut-by-kernel", tmp_path, host={"os": {"listen_backlog_max": 4096}}, **QUEUE)
    assert says == f"{loaded('net.core.somaxconn = 5000')}, and restart the server; or set back_log = 4096"


def test_swap_is_not_changed_before_there_is_room(tmp_path: Path) -> None:
    """The kernel's setting comes second, and not at all where it is 1 already."""
    for swappiness, rest in ((60, f"; then {loaded('vm.swappiness = 1')}"), (1, "")):
        host = {"memory": MEMORY | {"swappiness": swappiness}, "process": {"swapped": 8 << 30}}
        assert remedy("swapped-server", tmp_path, host=host) == f"make room in memory first{rest}"


def test_huge_pages_by_number(tmp_path: Path) -> None:
    """What is used stays reserved, and the pages of the pool with its descriptors are added to it."""
    unused = remedy("unused-huge-pages", tmp_path, host={"memory": HUGE})
    assert unused == f"{loaded('vm.nr_hugepages = 24')}; or let the server use them (large_pages)"
    promised = remedy("unused-huge-pages", tmp_path, host={"memory": HUGE | {"huge_pages_reserved": 400}})
    assert promised.startswith(loaded("vm.nr_hugepages = 424"))
    host = {"memory": HUGE, "process": {"huge_pages": 0}}
    refused = remedy("refused-large-pages", tmp_path, host=host, server=POOL)
    group = "set vm.hugetlb_shm_group to the group ID of the server's account"
    assert refused.startswith(f"{loaded('vm.nr_hugepages = 4248')}, {group}, {unit('LimitMEMLOCK=infinity')}, or with ")
    assert refused.endswith(", and restart; or remove the line")
    unknown = remedy("refused-large-pages", tmp_path, host={"process": {"huge_pages": 0}}, server=POOL)
    assert unknown.startswith(f"reserve huge pages for the pool (vm.nr_hugepages), {group}, set LimitMEMLOCK=")


def test_room_for_the_threads_of_all_connections(tmp_path: Path) -> None:
    """Both limits are raised, as the one that was not reached may be next."""
    says = remedy("fewer-threads-than-connections", tmp_path, host={"cgroup": {"tasks": 500}}, file=CROWD["file"])
    assert says == f"{unit('TasksMax=5500 and LimitNPROC=5500')}, and restart; or lower max_connections"


def test_a_scheduler_for_now_and_for_each_boot(tmp_path: Path) -> None:
    """What is written to /sys is gone after a boot."""
    says = remedy("fair-io-scheduler", tmp_path, host={"disks": [NVME]})
    assert says.startswith("run echo none > /sys/block/nvme0n1/queue/scheduler, and write a udev rule ")
    assert says.endswith("sets ATTR{queue/scheduler} to none at each boot")
    for rotational, name in ((True, "deadline"), (False, "noop")):
        disk = {"kernel_name": "sda", "transport": "sata", "rotational": rotational, "scheduler": "cfq"}
        says = remedy("fair-io-scheduler", tmp_path, host={"disks": [disk]})
        assert says.startswith(f"run echo {name} > /sys/block/sda/queue/scheduler, ")
        assert says.endswith(f"to {name} at each boot")


def test_a_known_unit_is_named(tmp_path: Path) -> None:
    """The command can be copied."""
    server = {"variables": {"max_connections": "214"}, "unit": "[Service]\nExecStart=/usr/sbin/mysqld\n"}
    says = remedy("limited-by-the-system", tmp_path, file=CROWD["file"], host={}, server=server)
    assert "(systemctl edit mysqld.service)" in says


def test_a_server_without_a_unit_has_a_script(tmp_path: Path) -> None:
    """A process that belongs to no unit was started by another init or by hand."""
    server = {"variables": {"max_connections": "214"}}
    says = remedy("limited-by-the-system", tmp_path, file=CROWD["file"], host={"process": {}}, server=server)
    assert says == f"{unit('LimitNOFILE=25000')}, or with ulimit in the script that starts it, and restart"


def test_no_memory_is_judged_where_the_group_is_hidden(tmp_path: Path) -> None:
    """The group of a server in another container may allow less than the machine has: nothing is said of either."""
    case = Case("", "", "mysql-8.0.15", file="innodb_buffer_pool_size = 15G", host={"memory": {"total": 16 << 30}})
    known = context_of_case(case, tmp_path)
    assert usable_memory(known) == (16 << 30, "16G of memory")
    known.parts["host"] = replace(known.host, skipped=(SkippedPart("cgroup", HIDDEN_GROUP),))
    assert usable_memory(known) is None
    assert list(find_rule("pool-exceeds-memory").check(known)) == []


def test_a_container_gets_its_limits_from_what_starts_it(tmp_path: Path) -> None:
    """No unit and no file in /etc/sysctl.d counts inside; settings of the whole kernel are those of its host."""
    queue = remedy("backlog-cut-by-kernel", tmp_path, host={"os": DOCKER | {"listen_backlog_max": 4096}}, **QUEUE)
    assert queue.startswith("give the container --sysctl net.core.somaxconn=5000, and restart the server; or ")
    assert remedy("swappiness", tmp_path, host={"memory": MEMORY, "os": DOCKER}).startswith("on the container's host, ")
    files = remedy("limited-by-the-system", tmp_path, host={"os": DOCKER}, **CROWD)
    assert files == "give the container --ulimit nofile=25000, and restart"
    size = remedy("limited-file-size", tmp_path, host={"process": FSIZE, "os": DOCKER})
    assert size == "give the container --ulimit fsize=-1, and restart"
    killed = remedy("first-to-be-killed", tmp_path, host={"process": {"oom_score_adj": 500}, "os": DOCKER})
    assert killed == "give the container --oom-score-adj=0, and restart"
    disk = remedy("fair-io-scheduler", tmp_path, host={"disks": [NVME], "os": DOCKER})
    assert disk.startswith("on the container's host, run echo none > ")


def test_a_pod_has_no_arguments_of_a_runtime(tmp_path: Path) -> None:
    """Kubernetes starts the container: its limits are those of the node, and its other settings are the pod's."""
    files = remedy("limited-by-the-system", tmp_path, host={"os": POD}, **CROWD)
    assert files == "set LimitNOFILE=25000 for the container runtime of the node, and restart"
    killed = remedy("first-to-be-killed", tmp_path, host={"process": {"oom_score_adj": 500}, "os": POD})
    requests = "the requests of memory and CPU equal to the limits, in each container of the pod (class Guaranteed)"
    assert killed == f"set {requests}, and restart"
    few = {"cgroup": {"tasks": 500}, "os": POD}
    threads = remedy("fewer-threads-than-connections", tmp_path, host=few, file=CROWD["file"])
    assert "podPidsLimit to 5500 in the kubelet's configuration" in threads
    queue = remedy("backlog-cut-by-kernel", tmp_path, host={"os": POD | {"listen_backlog_max": 4096}}, **QUEUE)
    assert queue.startswith(
        "set the sysctl net.core.somaxconn to 5000 in the pod's securityContext, if the kubelet allows it"
    )


def test_a_container_with_an_init_has_units_but_not_its_own_kernel(tmp_path: Path) -> None:
    """LXC and nspawn start units, and share their host's kernel; WSL 2 has one of its own."""
    outside = "on the container's host, "
    for kind, where in (("lxc", outside), ("systemd-nspawn", outside), ("wsl", "")):
        host = {"memory": MEMORY, "process": FSIZE, "os": {"containers": (kind,)}}
        assert remedy("swappiness", tmp_path, host=host).startswith(f"{where}write vm.swappiness = 1 to ")
        assert remedy("limited-file-size", tmp_path, host=host).startswith(unit("LimitFSIZE=infinity"))


def test_the_swappiness_of_the_group_counts(tmp_path: Path) -> None:
    """A control group of version 1 keeps its own value when vm.swappiness is changed."""
    group = {"version": 1, "path": "/system.slice/mysqld.service", "swappiness": 60}
    says = remedy("swappiness", tmp_path, host={"memory": MEMORY | {"swappiness": 1}, "cgroup": group})
    own = "and write 1 to memory.swappiness of the server's control group, which has its own value"
    assert says == f"{loaded('vm.swappiness = 1')}, {own}"


def test_the_group_with_the_quota_is_named(tmp_path: Path) -> None:
    """A quota of a slice is not raised by the unit of the service in it."""
    says = remedy("throttled-processors", tmp_path, host={"cgroup": SHARE | {"cpus_at": "/system.slice"}})
    assert says.startswith("raise CPUQuota of system.slice (systemctl set-property system.slice CPUQuota=PERCENT); ")


def test_a_killed_server_is_spared_at_once(tmp_path: Path) -> None:
    """What is written to /proc works on each system; choom does not exist on older ones."""
    says = remedy("first-to-be-killed", tmp_path, host={"process": {"oom_score_adj": 500}})
    assert says == f"{unit('OOMScoreAdjust=0')}, and restart; echo 0 > /proc/1/oom_score_adj changes it now"


def test_a_rebuild_is_waited_for(tmp_path: Path) -> None:
    """The new disk is there already: no other one has to be replaced."""
    host = {"disks": [{"kernel_name": "md0", "raid": REBUILD}]}
    assert remedy("degraded-array", tmp_path, host=host).startswith("wait until the rebuild has finished, ")


def test_memory_is_taken_from_all_nodes_by_their_numbers(tmp_path: Path) -> None:
    """Older releases of systemd do not know the mask all; in a container the advice is for its runtime."""
    words = {"file": "innodb_buffer_pool_size = 10G"}
    host = {"nodes": [8 << 30, 8 << 30]}
    says = remedy("pool-beyond-memory-node", tmp_path, host=host, **words)
    assert f"or {unit('NUMAPolicy=interleave and NUMAMask=0,1')} with systemd 243 or later (or RHEL 8), and " in says
    inside = remedy("pool-beyond-memory-node", tmp_path, host=host | {"os": DOCKER}, **words)
    assert "systemctl" not in inside
    assert "give the container the capability SYS_NICE" in inside


def test_what_makes_room_on_a_volume(tmp_path: Path) -> None:
    """Binary logs are purged where they lie and are written, and nowhere else."""
    full = {"space": {"size": 1000, "free": 1}}
    statements = {
        "purge binary logs that all replicas have, or enlarge the volume": ({"disks": [], **full}, "ON"),
        "remove what is not needed there, or enlarge the volume": ({"disks": [], **full}, "OFF"),
    }
    for says, (host, log) in statements.items():
        server = {"variables": {"log_bin": log}}
        assert remedy("nearly-full-file-system", tmp_path, host=host, server=server) == says
    temporary = {"places": [{"variable": "tmpdir", **full}]}
    says = remedy("nearly-full-file-system", tmp_path, host=temporary, server={"variables": {"log_bin": "ON"}})
    assert says == "remove what is not needed there, or enlarge the volume"


def test_the_limit_of_another_network_namespace(tmp_path: Path) -> None:
    """From outside of the server's container its own limit on waiting connections is not to be read."""
    outside = {"os": {"listen_backlog_max": 4096}, "cgroup": {"path": "/system.slice/docker-0123.scope"}}
    case = Case("", "", "mysql-8.0.15", host=outside, **QUEUE)
    run = run_rules(context_of_case(case, tmp_path), select_rules(["CON025"], None))
    assert (run.findings, [skip.code for skip in run.skipped]) == ((), ["CON025"])
    assert "container" in run.skipped[0].reason


def test_limits_of_a_managed_server_are_the_providers(tmp_path: Path) -> None:
    """There is no unit that its user could edit."""
    server = CROWD["server"] | {"managed": "rds"}
    says = remedy("limited-by-the-system", tmp_path, file=CROWD["file"], server=server)
    assert says == "have the provider set LimitNOFILE=25000, and restart"


def test_of_several_open_transactions_none_is_said_to_hold_the_lock(tmp_path: Path) -> None:
    """MariaDB does not show the holder: of two old transactions both are named, and how to see it."""
    opened = {"state": "RUNNING", "rows_locked": 0, "rows_modified": 0}
    idle = {"account": "app@h", "command": "Sleep", "state": ""}
    sessions = [
        {"id": 4, "seconds": 20, "transaction": opened | {"age": 21}, **idle},
        {"id": 5, "seconds": 19, "transaction": opened | {"age": 19}, **idle},
        {"id": 6, "account": "app@h", "command": "Query", "seconds": 9, "state": "Waiting for table metadata lock"},
    ]
    case = Case("", "", "mariadb-10.11", server={"blocking": {"sessions": sessions, "metadata_read": False}})
    (finding,) = find_rule("BLK004").check(context_of_case(case, tmp_path))
    assert "probably" not in finding.message
    assert "connection 4 (app@h), idle for 20 s; or connection 5 (app@h), idle for 19 s" in finding.message
    assert "INNODB_TRX" in "".join(action.statement or "" for action in finding.actions)


@pytest.mark.parametrize(
    ("variables", "state", "installed"),
    [
        ({}, "Waiting for table metadata lock", True),
        ({"wsrep_on": "ON"}, "Waiting for table metadata lock", False),
        ({}, "Waiting for global read lock", False),
    ],
)
def test_a_plugin_is_not_installed_behind_the_lock(
    variables: dict[str, str], state: str, installed: bool, tmp_path: Path
) -> None:
    """A Galera node replicates INSTALL SONAME, and a global read lock stops it: the statement would wait as well."""
    sessions = [{"id": n, "account": "app@h", "command": "Query", "seconds": 9, "state": state} for n in (5, 6)]
    blocking = {"sessions": sessions, "metadata_read": False}
    case = Case("", "", "mariadb-11.8", server={"variables": variables, "blocking": blocking})
    known = context_of_case(case, tmp_path)
    statements = {
        action.statement
        for code in ("BLK004", "BLK005")
        for finding in find_rule(code).check(known)
        for action in finding.actions
    }
    assert ("INSTALL SONAME 'metadata_lock_info';" in statements) is installed


def test_without_the_blockers_of_rows_no_check_has_passed(tmp_path: Path) -> None:
    """With performance_schema off MySQL 8 shows no blockers: the rules about them are skipped, not silent."""
    transaction = {"state": "LOCK WAIT", "age": 9, "rows_locked": 1, "rows_modified": 0, "waiting": 9}
    waiter = {"id": 5, "account": "app@h", "command": "Query", "seconds": 9, "state": "updating"}
    blocking = {"sessions": [waiter | {"transaction": transaction}], "rows_read": False}
    known = context_of_case(Case("", "", "mysql-8.4", server={"blocking": blocking}), tmp_path)
    run = run_rules(known, select_rules(["BLK001", "BLK002"], None))
    assert (run.findings, [skip.code for skip in run.skipped]) == ((), ["BLK001", "BLK002"])


def test_a_global_lock_that_waits_itself_is_the_one_to_end(tmp_path: Path) -> None:
    """The KILL QUERY is that of the FLUSH, not of the long statement, whose changes would be rolled back."""
    sessions = [
        {"id": 4, "account": "app@h", "command": "Query", "seconds": 60, "state": "updating"},
        {"id": 5, "account": "dump@h", "command": "Query", "seconds": 20, "state": "Waiting for global read lock"},
    ]
    waits = [{"waiter": 5, "blocker": 4, "lock": "GLOBAL", "held": "INTENTION_EXCLUSIVE", "wanted": "SHARED"}]
    case = Case("", "", "mysql-8.4", server={"blocking": {"sessions": sessions, "waits": waits}})
    (finding,) = find_rule("BLK005").check(context_of_case(case, tmp_path))
    assert finding.message.startswith(
        "1 session has waited up to 20 s in state Waiting for global read lock. Connection 5 (dump@h) asks for the "
        "global read lock (FLUSH TABLES WITH READ LOCK) and waits for connection 4 (app@h), running for 1 min (state "
        "updating)"
    )
    kills = [text for action in finding.actions if "KILL" in (text := action.statement or "")]
    assert kills == ["KILL QUERY 5;"]


def test_an_alter_may_have_worked_before_it_waited(tmp_path: Path) -> None:
    """A transaction that began while the ALTER copied its table may hold the lock for which it waits at its end."""
    opened = {"state": "RUNNING", "age": 8, "rows_locked": 0, "rows_modified": 0}
    idle = {"id": 4, "account": "app@h", "command": "Sleep", "seconds": 8, "state": "", "transaction": opened}
    alter = {
        "id": 6,
        "account": "dba@h",
        "command": "Query",
        "seconds": 7200,
        "state": "Waiting for table metadata lock",
    }
    messages = []
    for sessions in ([idle, alter], [alter]):
        case = Case("", "", "mariadb-10.11", server={"blocking": {"sessions": sessions, "metadata_read": False}})
        (finding,) = find_rule("BLK004").check(context_of_case(case, tmp_path))
        messages.append(finding.message)
    assert "connection 4 (app@h), idle for 8 s, may hold the lock" in messages[0]
    assert messages[1].endswith("No transaction is older, so LOCK TABLES or other DDL may hold the lock.")


def test_a_lock_of_a_prepared_transaction_names_xa_recover(tmp_path: Path) -> None:
    """It has no session that KILL could end."""
    waiter = {"id": 6, "account": "dba@h", "command": "Query", "seconds": 9, "state": "Waiting for table metadata lock"}
    detached = [{"state": "RUNNING", "age": 300, "rows_locked": 1, "rows_modified": 1}]
    case = Case("", "", "mysql-8.4", server={"blocking": {"sessions": [waiter], "detached": detached}})
    (finding,) = find_rule("BLK004").check(context_of_case(case, tmp_path))
    assert "The lock is probably held by a transaction without a session, open for 5 min: XA RECOVER" in finding.message
    assert "XA RECOVER;" in [action.statement for action in finding.actions]


def test_a_global_lock_may_be_waiting_itself(tmp_path: Path) -> None:
    """MariaDB shows neither the holder nor the waits: an older statement may be what FLUSH TABLES waits for."""
    waiting = {"id": 5, "account": "dump@h", "command": "Query", "seconds": 12, "state": "Waiting for backup lock"}
    running = {"id": 4, "account": "app@h", "command": "Query", "seconds": 60, "state": "Updating"}
    for sessions, ends in (
        ([waiting], "It is probably a backup."),
        ([waiting, running], "still waiting itself, for connection 4 (app@h), running for 1 min (state Updating)."),
    ):
        case = Case("", "", "mariadb-11.8", server={"blocking": {"sessions": sessions, "metadata_read": False}})
        (finding,) = find_rule("BLK005").check(context_of_case(case, tmp_path))
        assert finding.message.endswith(ends)


def test_a_copy_blocks_writes_before_mariadb_11_2(tmp_path: Path) -> None:
    """MariaDB 11.2 and later let other sessions write while ALTER TABLE copies a table."""
    for target, blocks in (("mariadb-10.11", True), ("mariadb-11.4", False)):
        folder = tmp_path / target
        folder.mkdir()
        case = Case("", "", target, file="alter_algorithm = COPY")
        (finding,) = find_rule("MOD007").check(context_of_case(case, folder))
        assert ("blocks writes" in finding.message) is blocks


def test_a_session_that_waits_for_a_row_may_hold_the_lock_of_its_table(tmp_path: Path) -> None:
    """Behind a prepared transaction, say: an UPDATE waits for its row, and keeps an ALTER or a FLUSH waiting."""
    opened = {"state": "LOCK WAIT", "age": 21, "rows_locked": 1, "rows_modified": 0, "waiting": 21}
    update = {
        "id": 15,
        "account": "app@h",
        "command": "Query",
        "seconds": 21,
        "state": "Updating",
        "transaction": opened,
    }
    for code, state, says in (
        ("BLK004", "Waiting for table metadata lock", "The lock is probably held by connection 15 (app@h)"),
        ("BLK005", "Waiting for backup lock", "for connection 15 (app@h), running for 21 s (state Updating)."),
        ("BLK006", "Waiting for table flush", "Probably for connection 15 (app@h), running for 21 s (state Updating)."),
    ):
        waiter = {"id": 16, "account": "dba@h", "command": "Query", "seconds": 12, "state": state}
        blocking = {"sessions": [update, waiter], "metadata_read": False}
        case = Case("", "", "mariadb-10.11", server={"blocking": blocking})
        (finding,) = find_rule(code).check(context_of_case(case, tmp_path))
        assert says in finding.message


def test_the_holder_of_a_myisam_table_is_shown_where_performance_schema_is_on(tmp_path: Path) -> None:
    """Its table_handles names the session that uses the table (BLK-09); without it no statement does."""
    waiter = {"id": 16, "account": "dba@h", "command": "Query", "seconds": 12, "state": "Waiting for table level lock"}
    blocking = {"sessions": [waiter], "metadata_read": False}
    for setting, shown in (("ON", True), ("OFF", False)):
        server = {"blocking": blocking, "variables": {"performance_schema": setting}}
        (finding,) = find_rule("BLK004").check(context_of_case(Case("", "", "mysql-9.7.4", server=server), tmp_path))
        statements = [action.statement or "" for action in finding.actions]
        assert any("performance_schema.table_handles" in text for text in statements) is shown


def test_of_several_old_statements_the_oldest_is_named_as_one_of_them(tmp_path: Path) -> None:
    """Which table a statement uses is not read: each that began before the wait may be the one."""
    old = {"account": "app@h", "command": "Query", "state": "Sending data"}
    waiter = {"id": 16, "account": "dba@h", "command": "Query", "seconds": 12}
    for code, state in (("BLK004", "Waiting for table level lock"), ("BLK006", "Waiting for table flush")):
        sessions = [old | {"id": 4, "seconds": 60}, old | {"id": 5, "seconds": 120}, waiter | {"state": state}]
        case = Case("", "", "mysql-5.7", server={"blocking": {"sessions": sessions, "metadata_read": False}})
        (finding,) = find_rule(code).check(context_of_case(case, tmp_path))
        assert finding.message.endswith(
            "Probably for connection 5 (app@h), running for 2 min (state Sending data), or another that began before."
        )


IDLE = {"id": 4, "account": "app@h", "command": "Sleep", "seconds": 60}
WAITER = {"id": 5, "account": "app@h", "command": "Query", "seconds": 70}


@pytest.mark.parametrize(
    ("wanted", "says"),
    [
        ("EXCLUSIVE", "end the waiting DDL, or"),
        ("SHARED_READ", "let the session that holds the lock finish, or end it"),
    ],
)
def test_only_waiting_ddl_is_to_be_ended(wanted: str, says: str, tmp_path: Path) -> None:
    """Behind LOCK TABLES or a running ALTER TABLE, ordinary statements wait, and no DDL."""
    held = {"held": "SHARED_NO_READ_WRITE" if wanted == "SHARED_READ" else "SHARED_READ", "wanted": wanted}
    waits = [{"waiter": 5, "blocker": 4, "lock": "TABLE", "name": "a.t", **held}]
    sessions = [IDLE, WAITER | {"state": "Waiting for table metadata lock"}]
    server = {"blocking": {"sessions": sessions, "waits": waits}}
    assert remedy("metadata-lock-queue", tmp_path, server=server).startswith(says)


def test_a_named_lock_whose_holder_is_not_shown_is_asked_for(tmp_path: Path) -> None:
    """Servers without performance_schema's locks return the holder of a lock by its name."""
    sessions = [WAITER | {"id": number, "state": "User lock"} for number in range(10, 20)]
    server = {"blocking": {"sessions": sessions, "metadata_read": False}}
    assert "IS_USED_LOCK" in remedy("named-lock-queue", tmp_path, server=server)


@pytest.mark.parametrize(("count", "says"), [(1, ""), (2, " There is one more."), (3, " There are 2 more.")])
def test_transactions_without_a_session_are_counted(count: int, says: str, tmp_path: Path) -> None:
    """One more takes the singular."""
    left = [{"state": "RUNNING", "age": 900, "rows_locked": 1}] * count
    (finding,) = find_rule("BLK010").check(
        context_of_case(Case("", "", "mysql-8.4", server={"blocking": {"detached": left}}), tmp_path)
    )
    assert finding.message.endswith(f"It is probably a prepared XA transaction.{says}")
