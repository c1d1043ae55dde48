"""The errors and unusual events of a run, which its admin page shows first. No queries."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from chat.models import Run, SentRequest
from chat.models.tool_call import ToolCallStatus
from chat.protocol.errors import RUN_ERRORS
from chat.transcript.finish import CHARACTERS_USED_UP, TOKENS_USED_UP
from web.admin.failure_texts import advice_of, words_of
from web.admin.read_only import admin_url
from web.admin.run_history import AttemptSummary


@dataclass(frozen=True, slots=True)
class Finding:
    """An error or unusual event.
    what: a few words. detail: what is known about it. url: the page with more information; empty if there is none.
    advice: what staff can do.
    """

    what: str
    detail: str = ""
    url: str = ""
    advice: str = ""


def list_findings(
    run: Run,
    attempts: Sequence[AttemptSummary],
    calls: Sequence[Any],
    requests: Sequence[SentRequest],
) -> list[Finding]:
    """Return the findings of a run, the most important first. attempts, calls, requests: the run's, oldest first.

    calls: with `response_start`, the beginning of the response.
    """
    return [
        *_error(run),
        *_cut(run),
        *_calls(calls),
        *_takeovers(attempts),
        *_left_out(requests),
    ]


def _error(run: Run) -> Iterator[Finding]:
    if run.error_code:
        url = admin_url(run.model_config) if run.model_config else ""
        what = _("Failed: %(code)s") % {"code": words_of(run.error_code)}
        yield Finding(what, _error_detail(run), url, advice_of(run.error_code))


def _error_detail(run: Run) -> str:
    """Return the status, code and message of the model server; without them, our own message."""
    error = run.upstream_error
    said = " ".join(str(part) for part in (error.status, error.code, error.message) if part)
    return _("The model server said: %(words)s") % {"words": said} if said else _own_message(run)


def _own_message(run: Run) -> str:
    """Return our message as it is stored, in English, if it says more than the words of the code."""
    usual, _retryable = RUN_ERRORS.get(run.error_code, ("", False))
    return "" if run.error_message == usual else run.error_message


def _cut(run: Run) -> Iterator[Finding]:
    if run.finish.is_cut:
        url = admin_url(run.model_config) if run.model_config else ""
        known = {"reason": _cut_reason(run.finish_reason), "tokens": run.finish_tokens}
        detail = _("after %(tokens)s tokens") % known if run.finish_tokens else ""
        yield Finding(_("The answer was cut: %(reason)s") % known, detail, url)


def _cut_reason(reason: str) -> str:
    """Describe a limit of this deployment; return a server's reason as it is."""
    if reason == TOKENS_USED_UP:
        return _("one run may use no more tokens (MAX_RUN_TOKENS)")
    if reason == CHARACTERS_USED_UP:
        return _("one run may write no more characters")
    return reason


def _calls(calls: Sequence[Any]) -> Iterator[Finding]:
    for call in calls:
        if call.status in (ToolCallStatus.FAILED, ToolCallStatus.REFUSED, ToolCallStatus.UNKNOWN):
            what = _("Tool call %(status)s: %(name)s") % {"status": _(call.status), "name": call.name}
            yield Finding(what, call.response_start, admin_url(call))


def _takeovers(attempts: Sequence[AttemptSummary]) -> Iterator[Finding]:
    for one in attempts[:-1]:
        numbers: dict[str, Any] = {"number": one.number, "next": one.number + 1}
        yield Finding(
            _("Attempt %(number)d was followed by attempt %(next)d") % numbers, one.why or _(one.outcome)
        )


def _left_out(requests: Sequence[SentRequest]) -> Iterator[Finding]:
    """Yield what the last request of the run itself (not of a tool) left out."""
    own = [one for one in requests if one.tool_call_id is None]
    if not own:
        return
    for left in own[-1].account.get("left_out", ()):
        url = admin_url(own[-1])
        if left["why"] == "summary":
            summaries = [reverse("admin:chat_chatmessage_change", args=[pk]) for pk in left["what"]]
            what = _("A summary was sent instead of the messages it covers")
            yield Finding(what, url=summaries[0] if summaries else url)
        elif left["why"] == "budget":
            count = left["count"]
            what = ngettext("%(count)d message was left out", "%(count)d messages were left out", count)
            yield Finding(
                what % {"count": count}, _("The history is longer than the model's window allows."), url
            )
        elif left["why"] == "tool":
            count = left["count"]
            what = ngettext("%(count)d tool was left out", "%(count)d tools were left out", count)
            yield Finding(what % {"count": count}, ", ".join(left["what"]), url)
