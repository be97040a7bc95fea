"""Instructions to run the sampling: a cron line and systemd units, with the given connection options."""

from __future__ import annotations

import shlex
import shutil

LEFT_OUT = ("--print-timer", "--ask-password")
TEXT = """\
# The password belongs into an option file of its owner alone (chmod 600), named by --defaults-file, not here.

# --- cron: crontab -e, as the user whose audits are to know the samples -------
*/10 * * * * {cron}

# --- systemd, for that user: ~/.config/systemd/user/mycnf-sample.service ------
[Unit]
Description=Sample a database server's counters for mycnf

[Service]
Type=oneshot
ExecStart={unit}
TimeoutStartSec=120

# --- and ~/.config/systemd/user/mycnf-sample.timer ----------------------------
[Unit]
Description=Sample a database server's counters every ten minutes

[Timer]
OnCalendar=*:0/10
AccuracySec=30s

[Install]
WantedBy=timers.target

# Then: systemctl --user enable --now mycnf-sample.timer; loginctl enable-linger
"""


def timer_text(arguments: list[str]) -> str:
    """Return the cron line and the systemd units for these arguments."""
    program = shutil.which("mycnf") or "mycnf"
    kept = [argument for argument in arguments if argument not in LEFT_OUT]
    command = shlex.join([program, *kept])
    # cron ends a command at a percent sign, and systemd expands it.
    return TEXT.format(cron=command.replace("%", "\\%"), unit=command.replace("%", "%%"))
