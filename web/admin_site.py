"""The admin site: Django's, with the product's title and the overview pages (usage, workers).

The module is outside web/admin/: Django creates the site before it imports the models.
"""

from functools import wraps
from typing import Any, Final

from django.contrib import admin
from django.contrib.admin.exceptions import DisallowedModelAdminLookup
from django.contrib.admin.utils import flatten_fieldsets
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import path, reverse
from django.utils.translation import gettext_lazy as _

from web.admin_overviews import OVERVIEWS, PERMISSION, Overview

# Words of the search in a list; further words are ignored.
MAX_WORDS: Final = 16
# Tables at the top of their app's list; the others follow by name.
OFTEN_NEEDED: Final = (
    "usage", "workers", "Provider", "ModelConfig", "Invitation", "Agent", "Suggestion", "SystemPrompt", "ToolPolicy", "Session", "Run",
)  # fmt: skip


class Site(admin.AdminSite):
    site_header = site_title = "Turnwire"
    index_title = _("Administration")

    def logout(  # type: ignore[override]
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponseBase:
        from chat.events import access  # imports the models

        user_id = request.user.pk
        response = super().logout(request, extra_context)
        if user_id is not None and not request.user.is_authenticated:
            access.announce_change(user_id)
        return response

    def password_change(  # type: ignore[override]
        self,
        request: HttpRequest,  # noqa: ARG002
        extra_context: dict[str, Any] | None = None,  # noqa: ARG002
    ) -> HttpResponse:
        """Redirect staff to the page on which every user changes the password."""
        return redirect("password")

    def index(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> TemplateResponse:
        """Show first steps, the current state and recent failures above the list of tables."""
        from web.admin import start_page  # imports the models

        above: dict[str, Any] = {
            "first_steps": start_page.first_steps(request.user),
            "servers_down": start_page.list_servers_down(request.user),
        }
        if request.user.has_perm(PERMISSION):
            above |= {
                "figures": start_page.current_state(),
                "recent_failures": start_page.count_recent_failures(),
            }
            above["failing_tools"] = start_page.list_failing_tools(request.user)
        return super().index(request, {**(extra_context or {}), **above})

    def admin_view(self, view: Any, cacheable: bool = False) -> Any:
        """Limit how many pages of the admin a user has at a time, what lists are filtered by, and words of a search."""
        inner = super().admin_view(view, cacheable)

        @wraps(inner)
        def limited_view(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            from web.rest.request_slots import ADMIN  # imports the models

            # Other pages, such as the lookup, search for all of the pasted text.
            if str(getattr(request.resolver_match, "url_name", "")).endswith("_changelist"):
                _cut_search(request)
                _refuse_hidden_columns(request, view.__self__)
            with ADMIN.take(request.user.pk):
                response: Any = inner(request, *args, **kwargs)
                # Rendering is within the limit, since templates query the database too.
                return response.render() if hasattr(response, "render") else response  # type: ignore[no-any-return]

        return limited_view

    def get_urls(self) -> list[Any]:
        from web.admin.lookup import show_lookup  # imports the models

        return [
            path("lookup/", self.admin_view(show_lookup), name="lookup"),
            *(path(page.route, self.admin_view(page.view), name=page.name) for page in OVERVIEWS),
            # No row has a page outside the admin; Django's redirect there fails on ids that are no UUIDs.
            *(pattern for pattern in super().get_urls() if getattr(pattern, "name", None) != "view_on_site"),
        ]

    def get_app_list(self, request: HttpRequest, app_label: str | None = None) -> list[Any]:
        """List the chat tables and the overview pages first, accounts after them."""
        apps: list[Any] = sorted(
            super().get_app_list(request, app_label), key=lambda app: app["app_label"] != "chat"
        )
        for app in apps:
            if app["app_label"] == "knox":
                app["name"] = _("API tokens")
        if request.user.has_perm(PERMISSION):
            overviews = [_overview_entry(page) for page in OVERVIEWS if page.title]
            for app in apps:
                if app["app_label"] == "chat":
                    app["models"] = [*overviews, *app["models"]]
        for app in apps:
            app["models"].sort(key=_rank)
        return apps


def _cut_search(request: HttpRequest) -> None:
    """Cut the search to MAX_WORDS, because each word is searched in several columns of all rows."""
    words = request.GET.get("q", "").split()
    if len(words) > MAX_WORDS:
        given = request.GET.copy()
        given["q"] = " ".join(words[:MAX_WORDS])
        request.GET = given  # type: ignore[assignment]


def _refuse_hidden_columns(request: HttpRequest, page: Any) -> None:
    """Raise DisallowedModelAdminLookup for a filter by a column that `page`, a ModelAdmin, does not show the user.
    Django allows all columns of the table; whether rows are found would tell the value, character by character.
    """
    filters = (getattr(one, "parameter_name", one) for one in page.get_list_filter(request))
    named = {one if isinstance(one, str) else one[0] for one in filters}
    of_a_row = flatten_fieldsets(page.get_fieldsets(request, page.model()))
    shown = named.union(of_a_row, page.get_list_display(request))
    columns = [field for field in page.opts.concrete_fields if not field.primary_key]
    hidden = {name for field in columns if field.name not in shown for name in (field.name, field.attname)}
    for lookup in request.GET:
        if lookup.split("__")[0] in hidden:
            raise DisallowedModelAdminLookup(f"{page.opts.label}: filtering by {lookup[:100]} is not allowed")


def _rank(entry: dict[str, Any]) -> int:
    """Return the position in OFTEN_NEEDED. The sort is stable: other entries keep their order, below."""
    name = entry["object_name"]
    return OFTEN_NEEDED.index(name) if name in OFTEN_NEEDED else len(OFTEN_NEEDED)


def _overview_entry(page: Overview) -> dict[str, Any]:
    """Return an overview page in the shape in which Django lists a model."""
    return {
        "name": page.title,
        "object_name": page.name,
        "admin_url": reverse(f"admin:{page.name}"),
        "add_url": None,
        "view_only": True,
        "perms": {"view": True},
    }
