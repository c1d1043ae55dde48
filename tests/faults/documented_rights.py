"""What tests of the documented rights ask of a whole instance: that every process starts, and that a file is read."""

import asyncio
import subprocess
import sys

from tests.e2e.client import Client
from tests.instance import ROOT
from tests.stack import DEFAULT, Stack

# Every character of it that a URL would take for its own.
PASSWORD = "s3c:r/e@t?#%"
PATIENCE_S = 60.0
READY = "import django; django.setup(); from config import worker_ready; worker_ready.main()"


async def start_everything(stack: Stack) -> None:
    """Start all processes, and ask for workers as the launcher does."""
    for name in (*DEFAULT, "compression", "ingest"):
        stack.start(name)
    stack.wait_until_ready()
    asked = await asyncio.to_thread(
        subprocess.run, [sys.executable, "-c", READY], cwd=ROOT, env=stack.environment,
        capture_output=True, text=True, timeout=PATIENCE_S, check=True,
    )  # fmt: skip
    assert asked.stdout == ""


async def expect_file_read(client: Client) -> None:
    file = await client.call("POST", "files/", status=201, files={"file": ("a.txt", b"Low water.")})
    async with asyncio.timeout(PATIENCE_S):
        while (await client.call("GET", f"files/{file['id']}/"))["status"] != "ready":  # noqa: ASYNC110  asks another process
            await asyncio.sleep(0.1)
