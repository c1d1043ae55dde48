"""Every page of the admin, from the site's own URL patterns, with the addresses that the matrix asks for."""

from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

from django.contrib import admin
from django.db.models import Model
from django.urls import URLResolver

from knowledge.models import File

# Pages of the site itself, by name, with what they need; those of a model follow from its permissions.
EVERYBODY, STAFF, OVERVIEW = "everybody", "staff", "staff who may view runs"
OF_THE_SITE: dict[str | None, str] = {
    "login": EVERYBODY,
    "logout": EVERYBODY,  # ends a login, whoever's it is
    "password_change": STAFF,
    "password_change_done": STAFF,
    "jsi18n": STAFF,
    "index": STAFF,
    "app_list": STAFF,
    "lookup": STAFF,  # finds only what the asker may view
    "autocomplete": STAFF,
    "usage": OVERVIEW,
    "usage_file": OVERVIEW,
    "workers": OVERVIEW,
    None: STAFF,  # every other path: not found, for staff
}


class Page(NamedTuple):
    """model: None for pages of the site. kind: the end of the name, such as `change`; path: below /admin/."""

    path: str
    name: str | None
    kind: str
    model: type[Model] | None
    parameters: tuple[str, ...]

    @property
    def permission_to_view(self) -> str:
        """The codename; only of pages of models."""
        assert self.model is not None
        return f"view_{self.model._meta.model_name}"

    @property
    def registered(self) -> Any:
        assert self.model is not None
        return admin.site.get_model_admin(self.model)

    def addresses(self) -> Iterator[str]:
        """One for each action that the path can name, else one."""
        for action in (
            getattr(self.registered, "object_actions", ()) if "action" in self.parameters else ("",)
        ):
            path = self.path
            for name in self.parameters:
                value = action if name == "action" else self._example(name)
                path = _replace(path, name, value)
            yield f"/admin/{path}"

    def _example(self, name: str) -> str:
        if name in ("object_id", "id") and self.model:
            rows = self.model._default_manager.order_by("pk")
            # Documents of knowledge bases are shown with another permission only.
            row = (rows.filter(knowledge_base=None) if self.model is File else rows).first()
            assert row is not None, f"{self.model.__name__}: add a row to belongings.py"
            return str(row.pk)
        examples = {"app_label": "chat", "url": "nothing", "by": "users"}
        assert name in examples, f"<{name}> in {self.path}: add an example"
        return examples[name]


@cache
def pages() -> list[Page]:
    of_models = {_prefix(model): model for model in admin.site._registry}
    found = []
    for path, pattern in _patterns(admin.site.get_urls()):
        name = pattern.name
        prefix = "/".join(path.split("/")[:2])
        model = of_models.get(prefix)
        kind = (name or "object").removeprefix(prefix.replace("/", "_") + "_")
        found.append(Page(path, name, kind, model, _parameters(pattern)))
    return found


def _prefix(model: type[Model]) -> str:
    return f"{model._meta.app_label}/{model._meta.model_name}"


def _parameters(pattern: Any) -> tuple[str, ...]:
    regex = pattern.pattern.regex
    return tuple(pattern.pattern.converters) or tuple(regex.groupindex)


def _patterns(patterns: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    for one in patterns:
        path = prefix + str(one.pattern)
        if isinstance(one, URLResolver):
            yield from _patterns(one.url_patterns, path)
        else:
            yield path, one


def _replace(path: str, name: str, value: str) -> str:
    """Of both kinds of patterns: <type:name>, and (?P<name>…) of regular expressions."""
    if "(?P<" in path:
        return (
            path.replace("^", "").replace("$", "").split("(?P<")[0]
            + value
            + ("/" if name == "app_label" else "")
        )
    start = path.index(name + ">")
    opening = path.rindex("<", 0, start + 1)
    return path[:opening] + value + path[start + len(name) + 1 :]
