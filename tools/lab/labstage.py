"""What was advised for a lab's server, kept in a working directory so that it is aged but once."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

from labadvice import Advice, advice_of, apply, refusals
from labaudit import Asking, Peers, Times, Told, audited
from labfolder import Lab, LabError
from labserver import FILE, filled
from real_servers import provisioned

from advisor.catalog.load import load
from advisor.core.errors import MycnfError
from probes.stop import StopSignal
from probes.workload.driver import choose_driver

BEFORE, AFTER, REPORT, TOLD = "before.cnf", "after.cnf", "report.json", "told.json"


class Stage(NamedTuple):
    """A lab whose advice is known: the audit's report, what other tools said, and the folder of both option files."""

    lab: Lab
    folder: str
    report: dict[str, Any]
    told: Told

    @property
    def files(self) -> tuple[str, str]:
        """The option file as it was and as advised."""
        return os.path.join(self.folder, BEFORE), os.path.join(self.folder, AFTER)

    @property
    def advice(self) -> Advice:
        """What was applied, and what could not be."""
        return advice_of(self.report)


def staged(labs: list[Lab], work: str, times: Times, together: int, peers: Peers) -> Iterator[Stage | MycnfError]:
    """Each lab's stage in order, as many at a time as are said; those in `work` already are not aged again.

    Servers that are aged together have less of the machine each, which changes what they do in their ten minutes but
    not what is measured afterwards. What can't be had is given as its error.
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
        filled(lab, binary, place, None, asking.leaving) as served,
    ):
        served.apply_settings({FILE: before})
        report, told = audited(lab, served, choose_driver("auto"), asking)
        made = apply(data, advice_of(report), served.catalog)
    if refused := refusals(made, load(binary.target)):
        raise LabError(f"the server would refuse what the audit advised: {'; '.join(refused)}")
    _write(after, made)
    _write(os.path.join(folder, REPORT), json.dumps(report, indent=1).encode())
    _write(os.path.join(folder, TOLD), json.dumps(told, indent=1).encode())


def _read(folder: str, name: str) -> Any:
    with open(os.path.join(folder, name), encoding="utf-8") as file:
        return json.load(file)


def _write(path: str, data: bytes) -> None:
    with open(path, "wb") as file:
        file.write(data)
