"""The admin of requests to models.
It shows each message with its tokens, the prefix shared with the previous request, and the parts of the branch that
were left out, with the reason.
"""

import json
from collections.abc import Iterable
from typing import Any, Final

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from chat.models import ChatMessage, Run, SentRequest, Session, Turn
from web.admin.filters import RunModelFilter
from web.admin.read_only import ReadOnlyAdmin
from web.admin.request_diff import Section, SentMessage, compare_requests
from web.admin.search import SearchAdmin

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
