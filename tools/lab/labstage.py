"""The advice for a lab's server, saved in a working directory so that the server is aged only once."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

from labadvice import Advice, advice_of, apply, refusals
from labaudit import Asking, Peers, Times, Told, audit_lab
from labfolder import Lab, LabError
from labserver import FILE, filled_server
from real_servers import provisioned

from advisor.catalog import load
from advisor.core.errors import MycnfError
from probes.stop import StopSignal
from probes.workload.own_driver import choose_driver

BEFORE, AFTER, REPORT, TOLD = "before.cnf", "after.cnf", "report.json", "told.json"


class Stage(NamedTuple):
    """A lab with known advice: the audit's report, the output of other tools, and the folder of both option files."""

    lab: Lab
    folder: str
    report: dict[str, Any]
    told: Told

    @property
    def files(self) -> tuple[str, str]:
        """The original option file and the advised one."""
        return os.path.join(self.folder, BEFORE), os.path.join(self.folder, AFTER)

    @property
    def advice(self) -> Advice:
        """The lines that were applied, and the findings without any."""
        return advice_of(self.report)


def stage_labs(labs: list[Lab], work: str, times: Times, together: int, peers: Peers) -> Iterator[Stage | MycnfError]:
    """Each lab's stage in order, `together` at a time; those saved in `work` are not aged again.

    Servers that are aged together share the machine, which changes their ten minutes of load but not the later
    measurement. An unavailable one is returned as its error.
    """
    asking = Asking(times, peers, StopSignal())
    with ThreadPoolExecutor(together) as pool:
        try:
            yield from pool.map(lambda lab: _stage(lab, os.path.join(work, lab.name), asking), labs)
        finally:
            asking.leaving.say("left")


def _stage(lab: Lab, folder: str, asking: Asking) -> Stage | MycnfError:
    try:
        if not os.path.exists(os.path.join(folder, TOLD)):
            os.makedirs(folder, exist_ok=True)
            _advise(lab, folder, asking)
    except MycnfError as error:
        return error
    return Stage(lab, folder, _read(folder, REPORT), _read(folder, TOLD))


def _advise(lab: Lab, folder: str, asking: Asking) -> None:
    before, after = os.path.join(folder, BEFORE), os.path.join(folder, AFTER)
    binary = provisioned(lab.server)
    with open(lab.option_file, "rb") as file:
        data = file.read()
    _write(before, data)
    with (
        tempfile.TemporaryDirectory(prefix="lab-") as place,
        filled_server(lab, binary, place, None, asking.leaving) as served,
    ):
        served.apply_settings({FILE: before})
        report, printed = audit_lab(lab, served, choose_driver("auto"), asking)
        made = apply(data, advice_of(report), served.catalog)
    if refused := refusals(made, load(binary.target)):
        raise LabError(f"the server would refuse what the audit advised: {'; '.join(refused)}")
    _write(after, made)
    _write(os.path.join(folder, REPORT), json.dumps(report, indent=1).encode())
    _write(os.path.join(folder, TOLD), json.dumps(printed, indent=1).encode())


def _read(folder: str, name: str) -> Any:
    with open(os.path.join(folder, name), encoding="utf-8") as file:
        return json.load(file)


def _write(path: str, data: bytes) -> None:
    with open(path, "wb") as file:
        file.write(data)
