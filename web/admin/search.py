"""The admin's list filters, and its search: by username, words of a text, the id of any related row, or error code.

Every word narrows the result; a quoted word is a text and never a username. Ids and names are looked up by their
indexes first, so that the query of the list filters by primary keys.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, Literal, TypeVar
from uuid import UUID

from django.contrib import admin
from django.db import models
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils.text import smart_split, unescape_string_literal
from django.utils.translation import gettext_lazy as _

from chat.models import ModelConfig
from chat.models.sql import session_search
from chat.presenters.tools import tool_cards
from chat.protocol.errors import RUN_ERRORS
from web.accounts import accounts_named


class _ChoiceFilter(admin.SimpleListFilter):
    """A filter by one of values(). field: the lookup that must equal the chosen value."""

    field: str

    def queryset(self, _request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any] | None:
        return queryset.filter(**{self.field: self.value()}) if self.value() else None

    def lookups(self, _request: HttpRequest, _model_admin: Any) -> list[tuple[str, str]]:
        return [(value, value) for value in self.values()]

    def values(self) -> Iterable[str]:
        raise NotImplementedError


class ModelFilter(_ChoiceFilter):
    title, parameter_name, field = _("model"), "model", "model"

    def values(self) -> Iterable[str]:
        return ModelConfig.objects.order_by("name").values_list("name", flat=True)


class RunModelFilter(ModelFilter):
    field = "run__model"


class ErrorCodeFilter(_ChoiceFilter):
    title, parameter_name, field = _("error code"), "error_code", "error_code"

    def values(self) -> Iterable[str]:
        return sorted(RUN_ERRORS)


class ToolFilter(_ChoiceFilter):
    title, parameter_name, field = _("tool"), "name", "name"

    def values(self) -> Iterable[str]:
        return sorted(tool_cards())


class TrashFilter(admin.SimpleListFilter):
    title, parameter_name = _("trash"), "trash"

    def lookups(self, _request: HttpRequest, _model_admin: Any) -> list[tuple[str, Any]]:
        return [("yes", _("in the trash")), ("no", _("not in the trash"))]

    def queryset(self, _request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any] | None:
        if self.value() not in ("yes", "no"):
            return None
        return queryset.filter(deleted_at__isnull=self.value() == "no")


class TakenOverFilter(admin.SimpleListFilter):
    title, parameter_name = _("taken over"), "taken_over"

    def lookups(self, _request: HttpRequest, _model_admin: Any) -> list[tuple[str, Any]]:
        return [("yes", _("from a dead worker"))]

    def queryset(self, _request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any] | None:
        return queryset.filter(failures__gt=0) if self.value() else None


M = TypeVar("M", bound=models.Model)


class SearchAdmin(admin.ModelAdmin[M]):
    """A ModelAdmin with this search, whose subclasses name what applies.

    owner_field: lookup of the owner. error_field: lookup of an error code, one of error_codes. text_fields: lookups of short texts.
    text_lookup: lookup and id column by which the texts of messages find rows.
    request_field: lookup of the id of the request that caused the row.
    related_ids: tables whose ids find rows, each with the lookup from it to the id of ours.
    """

    owner_field = ""
    error_field = ""
    error_codes: Collection[str] = RUN_ERRORS
    request_field = ""
    text_fields: Sequence[str] = ()
    text_lookup: tuple[str, Literal["id", "session_id"]] | None = None
    related_ids: Sequence[tuple[type[models.Model], str]] = ()
    # Django shows the search box only if there are fields; get_search_results() does not use them.
    search_fields = ("pk",)

    def get_search_results(
        self, _request: HttpRequest, queryset: QuerySet[M], search_term: str
    ) -> tuple[QuerySet[M], bool]:
        for word, is_quoted in _split_words(search_term):
            queryset = queryset.filter(self._match_texts(word) if is_quoted else self._match(word))
        return queryset, False

    def _match(self, word: str) -> Q:
        """Match the word as the first possible of: a request's id, an id, an error code, a username, a text."""
        requested = self._find_requested(word)
        if requested:
            return Q(pk__in=requested)
        try:
            return Q(pk__in=list(self._find_related(UUID(word))))
        except ValueError:
            pass
        if self.error_field and word in self.error_codes:
            return Q(**{self.error_field: word})
        if self.owner_field:
            named = accounts_named(word).values_list("pk", flat=True)
            if owners := list(named):
                return Q(**{f"{self.owner_field}__in": owners})
        return self._match_texts(word)

    def _find_requested(self, word: str) -> list[Any]:
        """Return the ids of the rows that the request with this id caused. Tried first: many request ids are UUIDs."""
        if not self.request_field:
            return []
        caused = self.model._default_manager.filter(**{self.request_field: word})  # noqa: SLF001  Django's documented model API
        return list(caused.values_list("pk", flat=True))

    def _match_texts(self, words: str) -> Q:
        match = Q(pk__in=[])
        for field in self.text_fields:
            match |= Q(**{f"{field}__icontains": words})
        if self.text_lookup:
            lookup, column = self.text_lookup
            match |= Q(**{f"{lookup}__in": session_search.matching_messages(words, column)})
        return match

    def _find_related(self, pk: UUID) -> Iterator[Any]:
        yield pk
        for table, path in self.related_ids:
            yield from table._default_manager.filter(pk=pk).values_list(path, flat=True)  # noqa: SLF001  Django's documented model API


def _split_words(text: str) -> Iterator[tuple[str, bool]]:
    """Yield each word, and whether it was quoted."""
    for word in smart_split(text.replace("\x00", "")):
        is_quoted = word.startswith(('"', "'")) and word[0] == word[-1] and len(word) > 1
        yield (unescape_string_literal(word) if is_quoted else word), is_quoted
