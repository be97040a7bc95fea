"""The runs for each page of docs/experiments: the founding articles' questions, and commits."""

from __future__ import annotations

from typing import NamedTuple


class Run(NamedTuple):
    """One run for a page: the probe, the server, the options, and seconds if not the default."""

    probe: str
    servers: tuple[str, ...]
    choices: dict[str, str]
    seconds: float | None = None

    @property
    def command(self) -> str:
        """The command that a user would type."""
        words = [f"mycnf probe {self.probe}"]
        words += [f"--server {name}" for name in self.servers]
        words += [f"--option {name}={value}" for name, value in self.choices.items()]
        return " ".join(words + ([f"--time {self.seconds:.0f}s"] if self.seconds else []))


class Paper(NamedTuple):
    """A page: its title, the article's question, and the runs."""

    title: str
    words: str
    runs: tuple[Run, ...]


PAPERS = {
    "read-buffer": Paper(
        "read_buffer_size and full scans",
        "The article of 2007 scanned a MyISAM table of MySQL 5.1 with buffers from 8200 bytes to 32M.",
        (
            Run("read-buffer", ("mariadb-10.11",), {}),
            Run("read-buffer", ("mariadb-10.11",), {"engine": "Aria"}),
            Run("read-buffer", ("mysql-5.7",), {}),
            Run("read-buffer", ("mysql-5.7",), {"readers": "4"}),
            Run("read-buffer", ("mysql-8.0",), {}),
        ),
    ),
    "buffer-pool-instances": Paper(
        "Buffer pool instances and even throughput",
        "The article of 2020 ran sysbench for three hours with each of seven values on 80 processors.",
        (Run("buffer-pool-instances", ("mysql-8.0",), {}, 900.0),),
    ),
    "read-ahead": Paper(
        "InnoDB's read-ahead",
        "The article of 2009 ran a load like TPC-C on the InnoDB plugin with read-ahead on, off, and at random.",
        (Run("read-ahead", ("mysql-8.0",), {}), Run("read-ahead", ("mariadb-10.11",), {})),
    ),
    "file-system": Paper(
        "ext4 and XFS under one load",
        "The article of 2009 found XFS ahead of ext3 on a card of flash; here two new ones lie in files of one disk.",
        (Run("file-system", ("mysql-8.0",), {"against": "xfs"}),),
    ),
    "range-scan": Paper(
        "Ranges of rows on two versions",
        "The article on MySQL 8.0's batches compared ranges of 1 to 10,000 rows on 5.7 and 8.0.",
        (Run("range-scan", ("mysql-5.7", "mysql-8.0"), {}),),
    ),
    "cache-fit": Paper(
        "Random keys and the size of pages",
        "The article of 2011 let the keys touched grow by a fifth until a pool of 128M no longer held them.",
        (Run("cache-fit", ("mysql-8.0",), {}), Run("cache-fit", ("mariadb-10.11",), {})),
    ),
    "commit": Paper(
        "What durable commits cost",
        "Not one of the founding articles, but the question behind many: what flushing each commit costs.",
        (Run("commit", ("mysql-8.0",), {}), Run("commit", ("mariadb-10.11",), {})),
    ),
}
