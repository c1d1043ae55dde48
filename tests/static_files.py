"""Looks for the static files once in a test process, and not once for each client of a test.

Before anybody has collected the files, the middleware looks for them when it is made, and every `django.test.Client` makes
its own: nine tenths of the time of a test that sends one request.
"""

from collections.abc import Callable
from typing import Any

from web.page.static_files import StaticFiles


def look_once() -> None:
    """For all tests of this process."""
    StaticFiles.add_files_from_finders = remembering(StaticFiles.add_files_from_finders)


def remembering(look: Callable[[Any], None]) -> Callable[[Any], None]:
    """As the method `look`, which it calls once for all middlewares of the same settings."""
    found: dict[tuple[object, ...], tuple[dict[str, Any], list[Any]]] = {}

    def add_files_from_finders(middleware: Any) -> None:
        settings = middleware.static_prefix, middleware.max_age, middleware.allow_all_origins
        key = (*settings, *middleware.files, *middleware.directories)
        if key not in found:
            look(middleware)
            found[key] = middleware.files, middleware.directories
        files, directories = found[key]
        middleware.files, middleware.directories = dict(files), list(directories)

    return add_files_from_finders
