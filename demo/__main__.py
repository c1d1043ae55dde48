"""python -m demo PORT: serve the demo model on loopback."""

import sys

import uvicorn

from demo.server import application

uvicorn.run(application, host="127.0.0.1", port=int(sys.argv[1]), log_level="warning", access_log=False)
