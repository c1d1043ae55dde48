"""The knowledge bases of a turn: which it may search, and what the model is told of them.

Members of the bases write the names and texts. Each base takes one line, and names are short and contain no markup, so
that none can pass for another line or for the end of the block.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple, Self
from uuid import UUID

from django.db.models import Count, IntegerField, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from knowledge.models import File, FileStatus, KnowledgeBaseMember
from knowledge.models.knowledge_base import MAX_HINT_CHARACTERS, MAX_KEYWORD_CHARACTERS, MAX_KEYWORDS, READING

_TEXTS = ("name", "summary", "topics", "routing_hint", "routing_keywords")


class BoundBase(NamedTuple):
    """A knowledge base that a turn may search, as its user sees it.

    role: the user's role; None: the base does not exist, or the user is not a member.
    ready, processing: numbers of documents with this status.  is_accepted: whether the user accepted the membership.
    """

    id: UUID
    role: str | None = None
    name: str = ""
    summary: str = ""
    topics: Sequence[str] = ()
    routing_hint: str = ""
    routing_keywords: Sequence[str] = ()
    ready: int = 0
    processing: int = 0
    is_accepted: bool = True


@dataclass(frozen=True)
class BoundBases:
    """The knowledge bases of one turn.

    bases: in the order of the prompt.  are_picked: whether the user picked them with the question.
    earlier: ids of the bases that the user picked only with earlier questions of the branch.
    """

    bases: Sequence[BoundBase] = ()
    are_picked: bool = False
    earlier: Sequence[UUID] = ()

    @classmethod
    def load(
        cls, user: int, picked: Sequence[UUID], standing: Iterable[UUID], earlier: Iterable[UUID] = ()
    ) -> Self:
        """Load the bases of a turn, with one query, or none if no base is bound.

        picked: bases picked with the question; if there are any, the others do not count.
        standing: bases of the session, then of its agent.
        earlier: bases picked with earlier questions of the branch; those that the user has left are omitted.
        """
        ids = list(dict.fromkeys(picked or standing))
        again = [] if picked else [pk for pk in dict.fromkeys(earlier) if pk not in ids]
        if not ids and not again:
            return cls()
        found = _load(user, [*ids, *again])
        again = [pk for pk in again if pk in found]
        bases = [found.get(pk) or BoundBase(pk) for pk in [*ids, *again]]
        return cls(bases, are_picked=bool(picked), earlier=again)

    def without_unknown(self, ids: Collection[UUID]) -> Self:
        """Leave out the bases among `ids` that the user is not a member of."""
        bases = [base for base in self.bases if base.role is not None or base.id not in ids]
        return replace(self, bases=bases)

    @property
    def searchable(self) -> list[UUID]:
        """Ids of the bases that the user is a member of, which alone may be searched."""
        return [base.id for base in self.bases if base.role is not None]

    @property
    def unknown(self) -> list[UUID]:
        return [base.id for base in self.bases if base.role is None]

    @property
    def pending(self) -> list[UUID]:
        """Ids of the bases whose membership the user has not accepted."""
        return [base.id for base in self.bases if not base.is_accepted]

    @property
    def is_restricted(self) -> bool:
        """Whether there is a base that the user is a member of without the right to read its documents."""
        return any(base.role is not None and base.role not in READING for base in self.bases)


def _load(user: int, ids: Sequence[UUID]) -> dict[UUID, BoundBase]:
    memberships = KnowledgeBaseMember.objects.filter(user=user, knowledge_base__in=ids)
    counted = memberships.annotate(
        ready=_documents(Q(status=FileStatus.READY)), processing=_documents(Q(status=FileStatus.PROCESSING))
    )
    columns = ("knowledge_base", "role", *(f"knowledge_base__{name}" for name in _TEXTS))
    rows: QuerySet[Any, tuple[Any, ...]] = counted.values_list(*columns, "ready", "processing", "is_accepted")
    return {row[0]: BoundBase(*row) for row in rows}


def _documents(condition: Q) -> Coalesce:
    """Count the documents of the membership's base that meet the condition."""
    documents = File.objects.filter(condition, knowledge_base=OuterRef("knowledge_base")).order_by()
    counts = documents.values("knowledge_base").annotate(number=Count("pk")).values("number")
    return Coalesce(Subquery(counts), 0, output_field=IntegerField())


MAX_NAME_CHARACTERS: Final = 120
# With so many bases or more, summaries are shortened.
MANY_BASES: Final = 3
SHORT_SUMMARY_CHARACTERS: Final = 200

HEADING: Final = "# Knowledge bases"
NOTE: Final = "This is metadata of this request only, and not what the documents say: what they say is found by searching them."
RESTRICTED_NOTE: Final = (
    "This is metadata of this request only. Hints and keywords are only for writing queries and for choosing a knowledge "
    "base: they are never content of an answer, and say nothing about what the documents hold."
)
_MARKUP: Final = frozenset("{}[]<>`")


def render_bases(bound: BoundBases) -> str:
    """Render the block; empty if no base is bound."""
    if not bound.bases:
        return ""
    if bound.is_restricted:
        lines, note = [_restricted_line(base) for base in bound.bases], RESTRICTED_NOTE
    else:
        is_short = len(bound.bases) >= MANY_BASES
        lines, note = [_line(base, is_short=is_short) for base in bound.bases], NOTE
    return "\n\n".join([HEADING, "\n".join(lines), note])


def clean_name(name: str) -> str:
    """Remove markup and control characters from a name, and cut it to MAX_NAME_CHARACTERS."""
    plain = "".join(" " if one in _MARKUP or _is_control(one) else one for one in name)
    return " ".join(plain.split())[:MAX_NAME_CHARACTERS].rstrip() or "Unnamed"


def _line(base: BoundBase, *, is_short: bool) -> str:
    if base.role is None:
        return _unknown_line(base)
    summary = _one_line(base.summary)
    parts = [
        f"{_head(base)}: {_count(base)}.",
        f"Summary: {_ended(_shortened(summary) if is_short else summary)}" if summary else "",
        f"Topics: {_listed(base.topics)}." if _listed(base.topics) else "",
    ]
    return " ".join(filter(None, parts))


def _restricted_line(base: BoundBase) -> str:
    if base.role is None:
        return _unknown_line(base)
    hint = _one_line(base.routing_hint)[:MAX_HINT_CHARACTERS]
    keywords = _listed([word[:MAX_KEYWORD_CHARACTERS] for word in base.routing_keywords[:MAX_KEYWORDS]])
    parts = [
        f"{_head(base)}.",
        f"Hint: {_ended(hint)}" if hint else "",
        f"Keywords: {keywords}." if keywords else "",
    ]
    return " ".join(filter(None, parts))


def _head(base: BoundBase) -> str:
    return f"- {clean_name(base.name)} (id {base.id})"


def _unknown_line(base: BoundBase) -> str:
    return f"- Unknown (id {base.id}): it does not exist any more, or may not be searched."


def _count(base: BoundBase) -> str:
    counted = f"{base.ready} document{'' if base.ready == 1 else 's'}"
    return f"{counted}, {base.processing} more being read" if base.processing else counted


def _listed(texts: Sequence[str]) -> str:
    return "; ".join(filter(None, map(_one_line, texts)))


def _one_line(text: str) -> str:
    return " ".join("".join(" " if _is_control(one) else one for one in text).split())


def _shortened(text: str) -> str:
    if len(text) <= SHORT_SUMMARY_CHARACTERS:
        return text
    whole_words, _, rest = text[:SHORT_SUMMARY_CHARACTERS].rpartition(" ")
    return f"{whole_words or rest} …"


def _ended(text: str) -> str:
    return text if text.endswith((".", "!", "?", "…")) else f"{text}."


def _is_control(character: str) -> bool:
    """Return whether a character is a control character, a line separator or a mark of the direction of text.
    Some readers take a line separator for the end of a line.
    """
    return unicodedata.category(character) in ("Cc", "Cf", "Zl", "Zp")


# Digits of all scripts, quotation marks, `#` before a heading, line breaks and other control characters.
_NUMBERS: Final = r"[\d\u00b2\u00b3\u00b9\u00bc-\u00be\u2070-\u2089\u2150-\u218b\u2460-\u24ff\u2776-\u2793]"
_QUOTATIONS: Final = r"""["`\u00ab\u00bb\u201a\u201c-\u201f\u2039\u203a\u300c-\u300f\uff02]"""
# An apostrophe stands between letters.
_SINGLE_QUOTATIONS: Final = r"(^|[^\w])['\u2018\u2019\u201b]|['\u2018\u2019\u201b]($|[^\w])"
_HEADINGS: Final = r"(^|\s)#|[\u0000-\u001f\u007f-\u009f\u2028\u2029]"
# A hint must not match this, which is also used as a pattern of JSON Schema.
REFUSED_PATTERN: Final = f"{_NUMBERS}|{_QUOTATIONS}|{_SINGLE_QUOTATIONS}|{_HEADINGS}"
_REFUSED: Final = re.compile(REFUSED_PATTERN)


def is_routing_hint(text: str) -> bool:
    """Return whether restricted members and their models may read the text as a hint or keyword.

    Hints name the subject of a base, and never contain statements of its documents: no numbers, quotations or headings.
    """
    return not _REFUSED.search(text)
