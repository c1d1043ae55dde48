"""Processes started by a test process end when that process is killed."""

import contextlib
import subprocess
import sys

import psutil
import pytest

from tests.stack import ROOT

LEAVE = """
import os, subprocess, sys
from tests.process_reaper import end_with_this_process
left = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
end_with_this_process(left)
print(left.pid, flush=True)
os.kill(os.getpid(), 9)
"""


@pytest.mark.full
def test_nothing_outlives_a_killed_test_process() -> None:
    completed = subprocess.run(
        [sys.executable, "-c", LEAVE], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert completed.returncode == -9, completed.stderr
    with contextlib.suppress(psutil.NoSuchProcess):
        psutil.Process(int(completed.stdout)).wait(60)
