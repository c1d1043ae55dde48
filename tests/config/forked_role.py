"""Run in a forked process: prints what the process is, and the limits of its connection if it is a sweeper."""

import json
import os
import sys
import warnings

import psutil
from django.db import connection

from config.own_programs import IGNORED_WARNINGS


def limits() -> list[str]:
    with connection.cursor() as cursor:
        return [
            cursor.execute(f"SHOW {name}").fetchone()[0] for name in ("statement_timeout", "lock_timeout")
        ]


if __name__ == "__main__":
    warnings.warn(IGNORED_WARNINGS[0], stacklevel=1)
    shown = {
        "arguments": sys.argv[1:],
        "pid": os.getpid(),
        "title": " ".join(psutil.Process().cmdline()),
        "limits": limits() if "sweep_runs" in sys.argv else None,
    }
    sys.stdout.write(json.dumps(shown))
