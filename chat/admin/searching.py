"""How staff find rows: by a user's name, words of a text, the id of anything around it, an error code.

Each word of the search narrows it. Ids and names are looked up where an index has them, before the list is asked.
"""

from collections.abc import Iterator, Sequence
from typing import Any, TypeVar
from uuid import UUID

from django.contrib import admin
from django.contrib.auth import get_user_model
from django.db import models
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils.text import smart_split, unescape_string_literal

from chat.protocol import RUN_ERRORS

M = TypeVar("M", bound=models.Model)


class Found(admin.ModelAdmin[M]):
    """owner_field: lookup of the user it belongs to.  words: lookups of texts.
    error_field: lookup of an error code.  around: tables whose ids lead here, each with the lookup from its rows to the id of ours.
    """

    owner_field = ""
    error_field = ""
    words: Sequence[str] = ()
    around: Sequence[tuple[type[models.Model], str]] = ()
    # Django shows the field where there are some; what it would do with them is done below.
    search_fields = ("pk",)

    def get_search_results(
        self, _request: HttpRequest, queryset: QuerySet[M], search_term: str
    ) -> tuple[QuerySet[M], bool]:
        for word in _words(search_term):
            queryset = queryset.filter(self._matching(word))
        return queryset, False

    def _matching(self, word: str) -> Q:
        try:
            return Q(pk__in=list(self._around(UUID(word))))
        except ValueError:
            pass
        if self.error_field and word in RUN_ERRORS:
            return Q(**{self.error_field: word})
        found = Q(pk__in=[])
        if self.owner_field:
            named = get_user_model().objects.filter(username__iexact=word)
            found |= Q(**{f"{self.owner_field}__in": list(named.values_list("pk", flat=True))})
        for field in self.words:
            found |= Q(**{f"{field}__icontains": word})
        return found

    def _around(self, pk: UUID) -> Iterator[Any]:
        yield pk
        for table, path in self.around:
            yield from table._default_manager.filter(pk=pk).values_list(path, flat=True)  # noqa: SLF001  Django's documented model API


def _words(text: str) -> Iterator[str]:
    for word in smart_split(text.replace("\x00", "")):
        is_quoted = word.startswith(('"', "'")) and word[0] == word[-1] and len(word) > 1
        yield unescape_string_literal(word) if is_quoted else word
