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
    def words(self) -> str:
        """The server that the run is about, with the options that tell it from other runs of the page."""
        options = ", ".join(f"{name} {value}" for name, value in self.choices.items() if name in ("engine", "readers"))
        return f"{self.servers[-1]}, {options}" if options else self.servers[-1]

    @property
    def command(self) -> str:
        """The command that a user would type; a page is measured however busy the host is, and shows how busy."""
        words = [f"mycnf probe {self.probe}"]
        words += [f"--server {name}" for name in self.servers]
        words += [f"--option {name}={value}" for name, value in self.choices.items()]
        return " ".join([*words, *([f"--time {self.seconds:.0f}s"] if self.seconds else []), "--force busy"])


class PublishedEffect(NamedTuple):
    """A published difference, and the names of the variants or facts of a run to compare it with.

    `ratio` is the published value of the variant divided by that of the baseline; with `of_variation` these are values
    of how much the first metric varies within a block.
    """

    statement: str
    ratio: float
    names: tuple[str, ...]
    of_variation: bool = False


class Paper(NamedTuple):
    """A page: its title, the article's question, the runs, and the published differences to compare them with."""

    title: str
    words: str
    runs: tuple[Run, ...]
    effects: tuple[PublishedEffect, ...] = ()


PAPERS = {
    "read-buffer": Paper(
        "read_buffer_size and full scans",
        "The article of 2007 scanned a table of MySQL 5.1, of an unnamed engine, with buffers of 8200 bytes to 32M.",
        (
            Run("read-buffer", ("mariadb-10.11",), {}, 240.0),
            Run("read-buffer", ("mariadb-10.11",), {"engine": "Aria"}, 240.0),
            Run("read-buffer", ("mysql-5.7",), {}, 240.0),
            Run("read-buffer", ("mysql-5.7",), {"readers": "4"}, 240.0),
            Run("read-buffer", ("mysql-8.0",), {}, 240.0),
        ),
        (PublishedEffect("scans with 32M took 1.56 times as long as with 128K (RBS-01)", 1.56, ("32M",)),),
    ),
    "buffer-pool-instances": Paper(
        "Buffer pool instances and even throughput",
        "The article of 2020 ran sysbench for three hours with each of seven values on 80 processors, and has charts "
        "only. The numbers are from another load, of which the same laboratory published all rows (BPI-03).",
        (Run("buffer-pool-instances", ("mysql-8.0",), {"instances": "8,64"}, 1200.0),),
        (
            PublishedEffect(
                "throughput varied by 3.2 % from second to second with 64 instances and by 20 to 25 % with 8 (BPI-03)",
                3.2 / 22.5,
                ("64",),
                of_variation=True,
            ),
        ),
    ),
    "read-ahead": Paper(
        "InnoDB's read-ahead",
        "The article of 2009 ran a load like TPC-C on XtraDB (InnoDB plugin) with and without read-ahead. Of the two "
        "loads here, points and updates are the nearer one.",
        (Run("read-ahead", ("mysql-8.0",), {}, 600.0), Run("read-ahead", ("mariadb-10.11",), {}, 600.0)),
        (
            PublishedEffect(
                "a load like TPC-C had 15 % more throughput without read-ahead, on eight disks (IO-01)",
                1.15,
                ("points, off (0)",),
            ),
        ),
    ),
    "file-system": Paper(
        "ext4 and XFS under one load",
        "The article of 2009 found XFS ahead of ext3 on a card of flash; here two new ones are in files of one disk.",
        (Run("file-system", ("mysql-8.0",), {"against": "xfs"}, 1200.0),),
        (PublishedEffect("XFS had 25 % more throughput than ext3 on flash (FS-01)", 1.25, ("xfs",)),),
    ),
    "range-scan": Paper(
        "Ranges of rows on two versions",
        "The article on MySQL 8.0's batches compared ranges of up to 10,000 rows on 5.7 and 8.0.",
        (Run("range-scan", ("mysql-5.7", "mysql-8.0"), {}, 1800.0),),
        (
            PublishedEffect(
                "8.0.0 read ranges of 1,000 and 10,000 rows 7 to 10 % faster than 5.7.14 (SCAN-01)",
                1.085,
                ("ranges of 1000, gain beyond the control's", "ranges of 10000, gain beyond the control's"),
            ),
        ),
    ),
    "cache-fit": Paper(
        "Random keys and the size of pages",
        "The article of 2011 let the keys touched grow by a fifth until a pool of 128M no longer held them, and "
        "counted the keys with 2,000 queries per second. Here keys are counted with at most one page read per 10 "
        "queries: a fast disk serves 2,000 queries per second from uncached pages too.",
        (Run("cache-fit", ("mysql-8.0",), {}, 660.0), Run("cache-fit", ("mariadb-10.11",), {}, 660.0)),
        (
            PublishedEffect("with 4K pages the pool served 3.0 times as many keys as with 16K (PGSZ-02)", 3.0, ("4K",)),
            PublishedEffect("compressed pages served 1.25 times as many keys (PGSZ-02)", 1.25, ("compressed",)),
        ),
    ),
    "commit": Paper(
        "What durable commits cost",
        "Not one of the founding articles, but the question behind many: what flushing each commit costs.",
        (Run("commit", ("mysql-8.0",), {}), Run("commit", ("mariadb-10.11",), {})),
    ),
}
