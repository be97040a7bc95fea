"""The misconfigured servers of examples/lab: whole, taken by their servers, and changed by the audit's lines alone."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from labadvice import Advice, advice_of, apply, judge_text, refusals
from labfolder import Lab, LabError, labs, read
from labpage import Row, blank, keep, page, row_of, saved_rows
from real_servers import Binaries
from scenario import read_scenario
from scenariorun import run_scenario

from advisor.catalog import Catalog, load
from advisor.catalog.targets import parse_target
from advisor.facts.probes import Arm, Block, Metric, ProbeResult, RunPlace
from advisor.optionfile import parse
from advisor.optionfile.lines import LineKind
from rules import all_rules

CHECKOUT = Path(__file__).resolve().parents[2]
FOLDER = CHECKOUT / "examples" / "lab"
RECORDED = Path(__file__).with_name("lab-audit.json")
NAMES = sorted(path.parent.name for path in FOLDER.glob("*/lab.toml"))
SCENARIOS = sorted(path.parent.name for path in FOLDER.glob("*/scenario.toml"))
OURS = {"skip_log_bin", "skip_ssl"}  # what keeps a run small and quick, and is no fault


def catalog_of(server: str) -> Catalog:
    """The catalog of a lab's server."""
    return load(parse_target(server))


def recorded() -> Advice:
    """The advice of an audit of disk-temporary-tables on a real server, under its load."""
    return advice_of(json.loads(RECORDED.read_text("utf-8")))


def is_taken(lab: Lab, catalog: Catalog) -> bool:
    """Whether the server takes each line of the option file as it stands."""
    data = Path(lab.option_file).read_bytes()
    outcomes = {line.outcome.value for line in judge_text(data, catalog).lines}
    return not refusals(data, catalog) and outcomes <= {"accepted", "deprecated"}


def options(data: bytes) -> dict[str, str | None]:
    """Options of a file as written."""
    return {str(line.name): line.value for line in parse(data, "my.cnf").lines if line.kind is LineKind.OPTION}


def test_there_are_ten() -> None:
    """Ten folders measure an option, and the README describes every folder."""
    assert len(NAMES) == 10
    described = (FOLDER / "README.md").read_text("utf-8")
    assert [name for name in (*NAMES, *SCENARIOS) if f"| `{name}` |" not in described] == []


@pytest.mark.parametrize("name", NAMES)
def test_a_folder_is_whole(name: str) -> None:
    """Workload, metric and its direction, seconds and rounds are fixed in the folder."""
    lab = read(str(FOLDER / name))
    assert lab.name == name
    assert lab.rounds >= 5
    assert lab.seconds >= 10
    assert lab.warm >= 5
    assert lab.threads >= 1
    assert lab.metric.better in ("more", "less")
    assert lab.workload.steps
    assert lab.memory is None or lab.memory >= 512 << 20


@pytest.mark.parametrize("name", NAMES)
def test_a_series_takes_the_file(name: str) -> None:
    """By our verdict its newest patch refuses and changes no line, and the fault is a line of the file."""
    lab = read(str(FOLDER / name))
    assert lab.fault in options(Path(lab.option_file).read_bytes())
    assert is_taken(lab, catalog_of(lab.server))


@pytest.mark.parametrize("name", NAMES)
def test_the_server_that_is_started_takes_the_file(name: str, binaries: Binaries) -> None:
    """The same holds for the patch of the series that is here, which may be an old one."""
    lab = read(str(FOLDER / name))
    assert is_taken(lab, load(binaries(lab.server).target))


@pytest.mark.parametrize("name", NAMES)
def test_a_file_says_what_is_wrong(name: str) -> None:
    """It begins with a comment in words."""
    assert (FOLDER / name / "my.cnf").read_text("utf-8").startswith("# Wrong: ")


def test_all_lines_of_a_recorded_audit_are_applied_and_nothing_else() -> None:
    """Lines that are advised replace the file's own or are added; every other line and comment stays as it was."""
    lab = read(str(FOLDER / "disk-temporary-tables"))
    data = Path(lab.option_file).read_bytes()
    advice = recorded()
    made = apply(data, advice, catalog_of(lab.server))
    wanted = dict(line.split(" = ") for line in advice.lines)
    assert wanted["tmp_table_size"] != options(data)["tmp_table_size"]
    assert options(made) == {**options(data), **wanted}
    kept = [line for line in data.decode().splitlines() if line.partition("=")[0].strip() not in wanted]
    assert [line for line in made.decode().splitlines() if line in kept] == kept
    assert refusals(made, catalog_of(lab.server)) == []


def test_findings_without_a_line_are_named() -> None:
    """What the audit found and gave no line for is listed, not dropped."""
    report = json.loads(RECORDED.read_text("utf-8"))
    silent = {f["code"] for f in report["findings"] if not any(a["option_line"] for a in f["actions"])}
    assert silent
    assert {left.partition(" ")[0] for left in recorded().left} == silent


def test_an_option_by_another_spelling_is_the_same_option() -> None:
    """Hyphens and repeated lines of an option end as the one advised line; other groups are unchanged."""
    data = b"[client]\nport = 1\n[mysqld]\ntable-open-cache = 64\nport=2\ntable_open_cache=65\n[mysqldump]\nquick"
    advice = Advice(("table_open_cache = 4000", "thread_cache_size = 40"), ())
    made = apply(data, advice, catalog_of("mysql-8.0")).decode()
    assert made == (
        "[client]\nport = 1\n[mysqld]\ntable_open_cache = 4000\nport=2\nthread_cache_size = 40\n[mysqldump]\nquick"
    )


def test_lines_are_added_where_the_file_ends_without_a_line_end() -> None:
    """A last line without its end is not glued to the first new one."""
    made = apply(b"[mysqld]\nport=2", Advice(("thread_cache_size = 40",), ()), catalog_of("mysql-8.0"))
    assert made == b"[mysqld]\nport=2\nthread_cache_size = 40\n"


def test_an_audit_that_contradicts_itself_is_refused() -> None:
    """Two values for one option are an error of the tool, and none of them is applied."""
    found = [
        {"code": code, "name": "x", "actions": [{"option_line": f"sort_buffer_size = {value}"}]}
        for code, value in (("TST001", "1M"), ("TST002", "2M"))
    ]
    with pytest.raises(LabError, match="contradicts itself"):
        advice_of({"findings": found})


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('fault = "thread_cache_size"\n', "", "fault: Field required"),
        ("rounds = 6", "rounds = 3", "rounds: Input should be greater than or equal to 5"),
        ('better = "more"', 'better = "nice"', "metric.better: Input should be 'more' or 'less'"),
        ('kind = "sbtest"', 'kind = "tpcc"', "does not match any of the expected tags: 'sbtest', 'scan'"),
        ("threads = 16", "threads = 16\ntuned = true", "workload.tuned: Extra inputs are not permitted"),
    ],
)
def test_an_incomplete_folder_is_reported(tmp_path: Path, old: str, new: str, message: str) -> None:
    """What is missing, unknown or out of range ends with the folder's name and what is wrong there."""
    folder = tmp_path / "thread-cache"
    shutil.copytree(FOLDER / "thread-cache", folder)
    toml = folder / "lab.toml"
    toml.write_text(toml.read_text("utf-8").replace(old, new), "utf-8")
    with pytest.raises(LabError, match="thread-cache") as caught:
        labs(str(tmp_path))
    assert message in str(caught.value)


def ran(*pairs: tuple[float, float]) -> ProbeResult:
    """A run of so many rounds, with what was measured before and after in each."""
    arms = tuple(
        Arm(name, {}, tuple(Block(n + 1, n, 1.0, {"tps": pair[place]}) for n, pair in enumerate(pairs)))
        for place, name in enumerate(("before", "after"))
    )
    metric = Metric("tps", "transactions/s", "more")
    return ProbeResult("1.0", "0", "lab", "", 1.0, "finished", RunPlace("here"), (metric,), arms, "before")


@pytest.mark.parametrize(
    ("pairs", "verdict"),
    [
        ([(100, 150), (101, 149), (99, 151), (100, 152), (98, 150)], "better"),
        ([(150, 100), (149, 101), (151, 99), (152, 100), (150, 98)], "worse"),
        ([(100, 101), (101, 100), (99, 100), (100, 99), (100, 100)], "none"),
        ([(100, 10), (10, 100), (99, 800), (300, 99), (20, 100)], "unknown"),
        ([(100, 150), (101, 149), (99, 151), (100, 152)], "unknown"),
    ],
)
def test_a_verdict_follows_the_metric_in_five_rounds_or_more(pairs: list[tuple[float, float]], verdict: str) -> None:
    """Sure differences are better or worse, small ones none, and noise and four rounds are inconclusive."""
    row = row_of(read(str(FOLDER / "thread-cache")), Advice(("a = 1",), ("TST001 x",)), ran(*pairs))
    assert row.verdict == verdict
    assert row.blocks["after"] == [after for _, after in pairs]
    assert (row.applied, row.left) == (("a = 1",), ("TST001 x",))


def test_rows_are_kept(tmp_path: Path) -> None:
    """A row that was written is read back as it was, so that servers may be measured one at a time."""
    row = row_of(read(str(FOLDER / "thread-cache")), Advice(("a = 1",), ()), ran((1, 2), (1, 2)))
    path = str(tmp_path / "lab.json")
    assert saved_rows(path) == {}
    keep(path, {row.name: row})
    assert page(saved_rows(path).values()) == page([row])


def test_the_page_has_a_line_a_server_and_counts_its_verdicts() -> None:
    """Better, worse, no difference and not measured are told apart."""
    some = [blank(lab) for lab in labs(str(FOLDER))[:4]]
    measured = {"rounds": 7, "before": 100.0, "after": 150.0, "ratio": 1.5, "low": 1.4, "high": 1.6, "bound": 0.02}
    rows = [
        Row(**{**some[0]._asdict(), **measured, "verdict": "better", "applied": ("a = 1", "b = 2")}),
        Row(**{**some[1]._asdict(), **measured, "verdict": "worse"}),
        Row(**{**some[2]._asdict(), **measured, "verdict": "none"}),
        some[3]._replace(skipped="no root"),
    ]
    written = page(rows)
    assert "**1 better, 1 worse, 1 without a difference seen, 1 not measured.**" in written
    assert "+50 % (+40 % to +60 %) | better | `a = 1`<br>`b = 2` |" in written
    assert "| no difference larger than 2.0 % |" in written
    assert "not measured: no root" in written


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_scenario_is_complete(name: str) -> None:
    """Its codes are those of rules, its option files are accepted, and its first comment says what happened."""
    scenario = read_scenario(str(FOLDER / name))
    catalog = catalog_of(scenario.server)
    assert {*scenario.found, *scenario.others, *scenario.absent} <= {rule.code for rule in all_rules()}
    assert scenario.title.endswith(".")
    assert bool(scenario.found) == bool(scenario.tuner)
    for node in scenario.nodes:
        assert not refusals(scenario.option_lines(node, "/lab").encode(), catalog)


def test_a_scenario_that_cannot_be_used_is_refused_in_one_line(tmp_path: Path) -> None:
    """Steps that do two things, unknown keys and unknown nodes are named."""
    file = tmp_path / "scenario.toml"
    head = 'server = "mysql-9.7"\nfound = ["DUR007"]\n'
    cases = {
        "other = 1\n": "other",
        '[[steps]]\nrun = ["DO 1"]\nload = "oltp_read_only"\n': "one thing",
        '[[steps]]\non = "replica"\nrun = ["DO 1"]\n': "replica is none of its nodes",
    }
    for text, reason in cases.items():
        file.write_text(head + text, "utf-8")
        with pytest.raises(LabError, match=reason) as raised:
            read_scenario(str(tmp_path))
        assert "\n" not in str(raised.value)


@pytest.mark.servers("mysql-9.7")
def test_the_printed_advice_ends_the_finding(server_name: str, binaries: Binaries) -> None:
    """One scenario from its start to the second audit, on a real server."""
    binaries(server_name)  # skips the test if the server is not available
    outcome = run_scenario(read_scenario(str(FOLDER / "redo-log-disabled")))
    assert (outcome.error, outcome.rank, outcome.after, outcome.refused) == ("", 1, "gone", ())
    assert outcome.applied == ("ALTER INSTANCE ENABLE INNODB REDO_LOG;",)
