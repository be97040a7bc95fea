"""mycnf: option files and running servers of MySQL and MariaDB, judged with evidence."""

__version__ = "0.1.0"
