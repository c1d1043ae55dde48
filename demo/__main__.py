"""Serves the demo model on loopback: `python -m demo PORT`."""

import sys

import uvicorn

from demo.server import application

uvicorn.run(application, host="127.0.0.1", port=int(sys.argv[1]), log_level="warning", access_log=False)
