"""The overview pages of the admin (usage, workers): figures, and files of them, beside the pages of tables.

The module is outside web/admin/, which imports the models: Django creates the admin site before it imports them.
"""

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from django.contrib.auth.decorators import permission_required
from django.http import HttpResponse

PERMISSION: Final = "chat.view_run"
View = Callable[..., HttpResponse]


class Overview(NamedTuple):
    """title: the name in the list of tables; None if it is not in the list."""

    route: str
    view: View
    name: str
    title: Any


OVERVIEWS: Final[list[Overview]] = []


def overview(route: str, name: str, title: Any = None) -> Callable[[View], View]:
    """Add a view to the admin, for staff with PERMISSION. Django's autodiscovery must import the module of the view."""

    def add(view: View) -> View:
        permitted_view = permission_required(PERMISSION, raise_exception=True)(view)
        OVERVIEWS.append(Overview(route, permitted_view, name, title))
        return permitted_view

    return add
