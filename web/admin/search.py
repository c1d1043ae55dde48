"""How staff find rows: by a user's name, words of a text, the id of anything around it, an error code.

Each word of the search narrows it; "quoted", it is a text and not a user's name. Ids and names are looked up where an index has them, before the list is asked.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Literal, TypeVar
from uuid import UUID

from django.contrib import admin
from django.contrib.auth import get_user_model
from django.db import models
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils.text import smart_split, unescape_string_literal

from chat.models.sql import session_search
from chat.protocol.wire import RUN_ERRORS

M = TypeVar("M", bound=models.Model)


class Found(admin.ModelAdmin[M]):
    """owner_field: lookup of the user it belongs to.  error_field: lookup of an error code.  words: lookups of short texts.

    said: (lookup, column) where what was said in messages leads here.
    around: tables whose ids lead here, each with the lookup from its rows to the id of ours.
    """

    owner_field = ""
    error_field = ""
    words: Sequence[str] = ()
    said: tuple[str, Literal["id", "session_id"]] | None = None
    around: Sequence[tuple[type[models.Model], str]] = ()
    # Django shows the field where there are some; what it would do with them is done below.
    search_fields = ("pk",)

    def get_search_results(
        self, _request: HttpRequest, queryset: QuerySet[M], search_term: str
    ) -> tuple[QuerySet[M], bool]:
        for word, is_quoted in _words(search_term):
            queryset = queryset.filter(self._texts(word) if is_quoted else self._matching(word))
        return queryset, False

    def _matching(self, word: str) -> Q:
        """The first that it can be: an id, an error code, a user's name, a word."""
        try:
            return Q(pk__in=list(self._around(UUID(word))))
        except ValueError:
            pass
        if self.error_field and word in RUN_ERRORS:
            return Q(**{self.error_field: word})
        if self.owner_field:
            named = get_user_model().objects.filter(username__iexact=word).values_list("pk", flat=True)
            if owners := list(named):
                return Q(**{f"{self.owner_field}__in": owners})
        return self._texts(word)

    def _texts(self, words: str) -> Q:
        found = Q(pk__in=[])
        for field in self.words:
            found |= Q(**{f"{field}__icontains": words})
        if self.said:
            lookup, column = self.said
            found |= Q(**{f"{lookup}__in": session_search.said(words, column)})
        return found

    def _around(self, pk: UUID) -> Iterator[Any]:
        yield pk
        for table, path in self.around:
            yield from table._default_manager.filter(pk=pk).values_list(path, flat=True)  # noqa: SLF001  Django's documented model API


def _words(text: str) -> Iterator[tuple[str, bool]]:
    """Each, and whether it was quoted: then it is meant as text."""
    for word in smart_split(text.replace("\x00", "")):
        is_quoted = word.startswith(('"', "'")) and word[0] == word[-1] and len(word) > 1
        yield (unescape_string_literal(word) if is_quoted else word), is_quoted
