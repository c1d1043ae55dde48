"""A test process that is killed takes what it started with it."""

import contextlib
import subprocess
import sys

import psutil

from tests.stack import ROOT

LEAVE = """
import os, subprocess, sys
from tests.leaving import ends_with_us
left = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
ends_with_us(left)
print(left.pid, flush=True)
os.kill(os.getpid(), 9)
"""


def test_nothing_outlives_a_killed_test_process() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LEAVE], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == -9, done.stderr
    with contextlib.suppress(psutil.NoSuchProcess):
        psutil.Process(int(done.stdout)).wait(60)
