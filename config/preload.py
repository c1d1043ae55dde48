"""What Turnwire's own processes import, imported once: processes that are forked from one that has share that memory (decision 0001)."""

import gc
import os
import re
import sys
import threading
from importlib import import_module
from typing import Final

import setproctitle

# What the processes of the Procfile import at their start, but nothing that starts a thread, opens a connection or receives
# signals of Celery, as the modules of tasks do.
MODULES: Final = (
    "celery.apps.worker",
    "celery.bin.celery",
    "celery.concurrency.prefork",
    "celery.concurrency.thread",
    "chat.sweeper.process",
    "compression.runner",
    "config.trusted_proxies",
    "config.urls",
    "kombu.transport.redis",
    "llm_worker.attempt.runtime",
    "uvicorn.main",
    "uvicorn.protocols.http.httptools_impl",
    "web.rest.request_bodies",
    "web.socket.routing",
)
_SETTINGS: Final = re.compile(r"config\.(\w+_)?settings")


def preload() -> bool:
    """Import them, with the settings as the environment has them now. Return whether processes may be forked from this one.

    Elsewhere than on Linux they may not: libraries of macOS do not work in a forked process. Nor if there is a second thread.
    """
    if sys.platform != "linux":
        return False
    # The launcher has read them before it knew the addresses of the services.
    forget_settings()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    import django

    django.setup()
    for name in MODULES:
        import_module(name)
    from chat.transcript.encodings import DEFAULT, load_encoding

    load_encoding(DEFAULT)
    # Remembers where the command line stands, which it no longer finds once the environment was replaced.
    setproctitle.getproctitle()
    gc.collect()
    # Collections in the children would write to every object, and each page that is written to is copied.
    gc.freeze()
    return threading.active_count() == 1


def forget_settings() -> None:
    """Have the next import read them from the environment as it is then."""
    for name in [name for name in sys.modules if _SETTINGS.fullmatch(name)]:
        del sys.modules[name]
