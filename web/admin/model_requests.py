"""The admin of requests to models: of those for answers, compared with each other, and of those for titles and summaries.

The page of a request shows each message with its tokens, the prefix shared with the previous request, and the parts of the branch that
were left out, with the reason.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any, Final, Literal, NamedTuple

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from chat.models import ChatMessage, Compression, Run, SentRequest, Session, SideRequest, Turn
from chat.models.model_requests import Purpose
from web.admin.read_only import ReadOnlyAdmin, ReadOnlyInline
from web.admin.search import ModelFilter, RunModelFilter, SearchAdmin

Kind = Literal["same", "added", "removed"]
# Unchanged lines that are displayed around changed ones; the rest of longer passages is folded.
CONTEXT_LINES: Final = 2
# Maximum length of a compared message; a longer one is displayed as removed and added. It bounds the time of difflib.
MAX_LINES: Final = 4_000


@dataclass(frozen=True)
class SentMessage:
    """A message as it was sent. is_known: part of the prefix shared with the request before."""

    number: int
    letter: str
    noun: str
    tokens: int | None
    text: str
    calls: str
    is_known: bool = False

    @property
    def whole_text(self) -> str:
        return "\n".join(part for part in (self.text, self.calls) if part)


class Hunk(NamedTuple):
    """Consecutive lines. is_folded: unchanged lines that are not near a changed one."""

    kind: Kind
    lines: Sequence[str]
    is_folded: bool = False

    @property
    def text(self) -> str:
        return "\n".join(self.lines)


class Section(NamedTuple):
    """Consecutive messages that are the same, added or removed; or one changed message, with the hunks of its text."""

    kind: Literal["same", "added", "removed", "changed"]
    messages: Sequence[SentMessage]
    hunks: Sequence[Hunk] = ()


def compare_requests(before: Sequence[SentMessage], after: Sequence[SentMessage]) -> list[Section]:
    """Return the sections in the order of `after`; removed messages are at their former place."""
    matcher = SequenceMatcher(None, _keys(before), _keys(after), autojunk=False)
    sections: list[Section] = []
    for tag, start, end, new_start, new_end in matcher.get_opcodes():
        if tag == "equal":
            sections.append(Section("same", after[new_start:new_end]))
        else:
            sections += _compare_parts(before[start:end], after[new_start:new_end])
    return sections


def _keys(messages: Sequence[SentMessage]) -> list[tuple[str, str]]:
    return [(one.noun, one.whole_text) for one in messages]


def _compare_parts(before: Sequence[SentMessage], after: Sequence[SentMessage]) -> Iterator[Section]:
    """Pair the messages of the same kind, in their order; the others were removed or added."""
    matcher = SequenceMatcher(None, [one.noun for one in before], [one.noun for one in after], autojunk=False)
    for tag, start, end, new_start, new_end in matcher.get_opcodes():
        if tag == "equal":
            for old, new in zip(before[start:end], after[new_start:new_end], strict=True):
                yield Section("changed", [new], compare_lines(old.whole_text, new.whole_text))
            continue
        if start < end:
            yield Section("removed", before[start:end])
        if new_start < new_end:
            yield Section("added", after[new_start:new_end])


def compare_lines(before: str, after: str) -> list[Hunk]:
    old, new = before.splitlines(), after.splitlines()
    if max(len(old), len(new)) > MAX_LINES:
        return [Hunk("removed", old), Hunk("added", new)]
    hunks: list[Hunk] = []
    opcodes = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    for place, (tag, start, end, new_start, new_end) in enumerate(opcodes):
        if tag == "equal":
            hunks += _fold(new[new_start:new_end], is_first=place == 0, is_last=place == len(opcodes) - 1)
            continue
        if start < end:
            hunks.append(Hunk("removed", old[start:end]))
        if new_start < new_end:
            hunks.append(Hunk("added", new[new_start:new_end]))
    return hunks


def _fold(lines: Sequence[str], *, is_first: bool, is_last: bool) -> Iterator[Hunk]:
    """Split unchanged lines: those beside changed lines are displayed, those between are folded."""
    top = 0 if is_first else CONTEXT_LINES
    bottom = len(lines) - (0 if is_last else CONTEXT_LINES)
    # Folding a single line saves no space.
    if bottom - top < 2:
        yield Hunk("same", lines)
        return
    parts = (
        Hunk("same", lines[:top]),
        Hunk("same", lines[top:bottom], is_folded=True),
        Hunk("same", lines[bottom:]),
    )
    yield from (part for part in parts if part.lines)


# Names of the letters that mark parts of a request (llm_worker/request/model_message.py).
LETTERS: Final = {
    "S": _("system prompt"), "SUM": _("summary"), "U": _("question"), "A": _("answer"), "TC": _("tool calls"),
    "TR": _("tool response"), "TI": _("images of tools"), "CA": _("agent prompt"), "P": _("project documents"), "D": _("dynamic context"),
    "N": _("files no longer shown"), "F": _("attached files"), "R": _("reminder"),
}  # fmt: skip
# Why a part of the branch is not in a request (llm_worker/loop/context_report.py).
WHY: Final = {
    "summary": _("covered by a summary, which is sent instead"),
    "summary_too_long": _("the summary itself: it leaves no room in this model's window"),
    "budget": _("history over the budget: the oldest messages go first"),
    "earlier_response": _("tool responses of earlier turns, replaced by one sentence each"),
    "shortened": _("the middle of tool responses of this turn that are too long"),
    "file": _("files of messages that are not shown any more"),
    "tool": _("tools that this model's server refused, or more than it takes"),
    "image": _("pictures: this model does not see, and gets a line instead of each"),
}
MESSAGES: Final = frozenset({"summary", "summary_too_long", "budget"})


@admin.register(SentRequest)
class SentRequestAdmin(SearchAdmin[SentRequest], ReadOnlyAdmin[SentRequest]):
    """The admin of requests, which are stored for KEEP_REQUESTS_HOURS."""

    list_display = ("short_id", "run", "attempt", "cycle", "tool_call", "tokens", "prefix_share", "sent_at")
    list_select_related = ("run", "tool_call")
    list_filter = (RunModelFilter, "sent_at")
    ordering = ("-sent_at",)
    owner_field = "run__turn__session__owner"
    related_ids = (
        (Run, "sent_requests"),
        (ChatMessage, "run__sent_requests"),
        (Turn, "runs__sent_requests"),
        (Session, "turns__runs__sent_requests"),
    )
    search_help_text = _("A user's name, the id of a run, of its turn, answer or session.")

    def get_queryset(self, request: HttpRequest) -> QuerySet[SentRequest]:
        return super().get_queryset(request).defer("messages", "parts")

    def get_readonly_fields(self, request: HttpRequest, obj: SentRequest | None = None) -> list[str]:
        shown_above = ("messages", "parts", "account")
        return [name for name in super().get_readonly_fields(request, obj) if name not in shown_above]

    def page_context(self, request: HttpRequest, row: SentRequest) -> dict[str, Any]:
        return super().page_context(request, row) | _page_context(row)


def list_messages(sent: SentRequest) -> list[SentMessage]:
    """Return the messages of the request in their order."""
    return present_messages(sent.weighed(), sent.common)


def present_messages(
    weighed: Iterable[tuple[dict[str, Any], tuple[str, int] | None]], common: int = 0
) -> list[SentMessage]:
    """Return the messages for display. weighed: messages as in SentRequest.weighed().
    common: the number of messages at the beginning that the previous request had too.
    """
    return [
        SentMessage(
            number,
            part[0] if part else "",
            _noun(part[0]) if part else message.get("role", ""),
            part[1] if part else None,
            _text(message.get("content")),
            json.dumps(message["tool_calls"], indent=1, ensure_ascii=False)
            if message.get("tool_calls")
            else "",
            number <= common,
        )
        for number, (message, part) in enumerate(weighed, 1)
    ]


def _noun(letters: str) -> str:
    """Name a message by its letters; it has several if it was joined for a server that demands alternating roles."""
    return " + ".join(str(LETTERS.get(letter, letter)) for letter in letters.split())


def _page_context(sent: SentRequest) -> dict[str, Any]:
    """Return the page's data besides the columns of the row."""
    cycles = SentRequest.objects.filter(run=sent.run_id, attempt=sent.attempt, tool_call=sent.tool_call_id)
    numbers = dict(cycles.values_list("cycle", "pk"))
    parts = list_messages(sent)
    previous = find_previous(sent)
    return {
        "previous": previous,
        "sections": _compare(previous, sent) if previous else [],
        "sent": sent,
        "run": Run.objects.select_related("turn__session").get(pk=sent.run_id),
        "parts": parts,
        "known": [part for part in parts if part.is_known],
        "fresh": [part for part in parts if not part.is_known],
        "options": list(sent.account.get("options", {}).items()),
        "left_out": [_left_out(one) for one in sent.account.get("left_out", ())],
        "before": numbers.get(sent.cycle - 1),
        "after": numbers.get(sent.cycle + 1),
        "share_percent": round(100 * sent.prefix_share),
    }


def find_previous(sent: SentRequest) -> SentRequest | None:
    """Return the request of the previous cycle; for a first cycle, the last earlier one of the session's runs."""
    whole = SentRequest.objects.defer("messages", "parts")
    if sent.cycle > 1:
        same = whole.filter(run=sent.run_id, attempt=sent.attempt, tool_call=sent.tool_call_id)
        return same.filter(cycle=sent.cycle - 1).first()
    session = Run.objects.values("turn__session").filter(pk=sent.run_id)
    earlier = whole.filter(run__turn__session__in=session, tool_call=None, sent_at__lt=sent.sent_at)
    return earlier.order_by("-sent_at", "-pk").first()


def _compare(previous: SentRequest, sent: SentRequest) -> list[Section]:
    before, after = (_list_compared(one) for one in (previous, sent))
    return compare_requests(before, after)


def _list_compared(sent: SentRequest) -> list[SentMessage]:
    """Return the messages, after one with what was sent beside them: tools and options."""
    given = {name: sent.account.get(name) for name in ("tools", "tool_choice", "options")}
    text = json.dumps(given, indent=1, ensure_ascii=False, sort_keys=True)
    return [SentMessage(0, "", str(_("tools and options")), None, text, ""), *list_messages(sent)]


def _left_out(entry: dict[str, Any]) -> dict[str, Any]:
    """Add a text to an entry of the context report, and split its references into messages and other names."""
    what: Iterable[str] = entry.get("what") or ()
    names = list(dict.fromkeys(what))
    return {
        **entry,
        "words": WHY.get(entry["why"], entry["why"]),
        "messages": names if entry["why"] in MESSAGES else [],
        "names": [] if entry["why"] in MESSAGES else names,
    }


def _text(content: Any) -> str:
    """Return the text of a message. The parts of a message with images are returned as JSON."""
    if content is None or isinstance(content, str):
        return content or ""
    return json.dumps(content, indent=1, ensure_ascii=False)


TEXTS = ("messages", "reply")


class SideRequestInline(ReadOnlyInline):
    """The requests of a row, with links to their texts."""

    model = SideRequest
    fields = (
        "purpose", "attempt", "number", "model", "sent_at", "prompt_tokens", "completion_tokens",
        "estimated_tokens", "cost", "error_code",
    )  # fmt: skip
    verbose_name_plural = _("requests for titles and summaries")

    def get_queryset(self, request: HttpRequest) -> QuerySet[SideRequest]:
        return super().get_queryset(request).defer(*TEXTS)


class RunSideRequestInline(SideRequestInline):
    """The requests for titles and safe summaries. Requests for summaries are on the pages of their compressions."""

    verbose_name_plural = _("requests for titles and safe summaries")

    def get_queryset(self, request: HttpRequest) -> QuerySet[SideRequest]:
        return super().get_queryset(request).exclude(purpose=Purpose.SUMMARY)


@admin.register(SideRequest)
class SideRequestAdmin(SearchAdmin[SideRequest], ReadOnlyAdmin[SideRequest]):
    """The admin of side requests. Texts are stored for KEEP_REQUESTS_HOURS, other columns as long as the session."""

    list_display = (
        "short_id", "purpose", "model", "sent_at", "prompt_tokens", "completion_tokens",
        "estimated_tokens", "cost", "error_code", "session",
    )  # fmt: skip
    list_select_related = ("session",)
    list_filter = ("purpose", ModelFilter, "sent_at")
    ordering = ("-sent_at",)
    owner_field = "session__owner"
    related_ids = (
        (Run, "side_requests"),
        (Compression, "side_requests"),
        (Session, "side_requests"),
    )
    search_help_text = _("A user's name, the id of a run, of its session or of a compression.")

    def get_queryset(self, request: HttpRequest) -> QuerySet[SideRequest]:
        return super().get_queryset(request).defer(*TEXTS)

    def get_readonly_fields(self, request: HttpRequest, obj: SideRequest | None = None) -> list[str]:
        return [name for name in super().get_readonly_fields(request, obj) if name not in TEXTS]

    def page_context(self, request: HttpRequest, row: SideRequest) -> dict[str, Any]:
        kept = row.messages
        return super().page_context(request, row) | {
            "sent": row,
            "parts": None if kept is None else present_messages((one, None) for one in kept),
        }
