"""The process that a command of tests/preloaded.py starts: `preloaded_command.py SOCKET MODULE ARGUMENT…`."""

import json
import os
import socket
import sys
from pathlib import Path

address, module, *arguments = sys.argv[1:]
request = {"module": module, "arguments": arguments, "env": dict(os.environ), "cwd": str(Path.cwd())}
with socket.socket(socket.AF_UNIX) as fork:
    fork.connect(address)
    socket.send_fds(fork, [json.dumps(request).encode()], [0, 1, 2])
    # Whoever waits for the end of a stream waits for the fork alone.
    for stream in range(3):
        os.close(stream)
    status = int(fork.recv(16) or 1)
if status < 0:
    os.kill(os.getpid(), -status)
os._exit(status)
