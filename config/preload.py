"""Imports once what Turnwire's own processes import.

Processes that are forked from the one that has imported it share that memory (decision 0001).
"""

import gc
import os
import re
import sys
import threading
from importlib import import_module
from typing import Final

import setproctitle

# Modules that the processes of the Procfile import at their start, except those that start a thread, open a connection
# or receive signals of Celery, as the modules of tasks do.
MODULES: Final = (
    "celery.apps.worker",
    "celery.bin.celery",
    "celery.concurrency.prefork",
    "celery.concurrency.thread",
    "chat.sweeper.process",
    "compression.runner",
    "config.trusted_proxies",
    "config.urls",
    "features.mcp.worker_part",
    "kombu.transport.redis",
    "llm_worker.attempt.runtime",
    "uvicorn.main",
    "uvicorn.protocols.http.httptools_impl",
    "web.rest.request_bodies",
    "web.socket.consumer",
)
_SETTINGS: Final = re.compile(r"config\.(variables|(\w+_)?settings)")


def preload() -> bool:
    """Import the modules, with settings from the current environment. Return whether this process may be forked.

    It may not be forked on other systems than Linux, because libraries of macOS do not work in a forked process, or if
    there is a second thread.
    """
    if sys.platform != "linux":
        return False
    # The launcher read the settings before it knew the addresses of the services.
    forget_settings()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    import django

    django.setup()
    for name in MODULES:
        import_module(name)
    from chat.transcript.tokens import DEFAULT, load_encoding

    load_encoding(DEFAULT)
    # Remembers the place of the command line, which it cannot find after the environment has been replaced.
    setproctitle.getproctitle()
    gc.collect()
    # Collections in the children would write to every object, and each page of memory that is written to is copied.
    gc.freeze()
    return threading.active_count() == 1


def forget_settings() -> None:
    """Forget the modules of settings, so that the next import reads the environment again."""
    for name in [name for name in sys.modules if _SETTINGS.fullmatch(name)]:
        del sys.modules[name]
