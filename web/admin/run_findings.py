"""What staff are told of runs that fail: what happened, what they can do, and the unusual events of a run. No queries."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.urls import reverse
from django.utils.translation import gettext, gettext_lazy, ngettext
from django.utils.translation import gettext as _

from chat.models import Run, SentRequest
from chat.models.tool_call import ToolCallStatus
from chat.protocol.errors import RUN_ERRORS
from chat.transcript.finish import CHARACTERS_USED_UP, TOKENS_USED_UP
from web.admin.read_only import admin_url
from web.admin.run_history import AttemptSummary

# Of RUN_ERRORS, whose English words users of the API get.
WORDS: Final = (
    gettext_lazy("The conversation is too long for the model. Shorten it, or use a larger model."),
    gettext_lazy(
        "The prompts of the agent, the project and the chat are too long for the model. Shorten them, or use a larger model."
    ),
    gettext_lazy(
        "The descriptions of the chosen tools are too long for the model. Choose fewer tools, or use a larger model."
    ),
    gettext_lazy("The model returned an empty answer."),
    gettext_lazy("The model reached its output limit before the answer began."),
    gettext_lazy("The model declined to answer."),
    gettext_lazy("The model is not available any more."),
    gettext_lazy("The model cannot use the requested tool."),
    gettext_lazy("The requested tool is not set up on this server."),
    gettext_lazy("The model cannot have an option that was chosen."),
    gettext_lazy("The model server refused an option that was chosen."),
    gettext_lazy("The model server refused the credentials."),
    gettext_lazy("The budget at the model server is used up."),
    gettext_lazy("The model server does not have this model."),
    gettext_lazy("The model server's content filter rejected the request."),
    gettext_lazy("The model server rejected the request."),
    gettext_lazy("The model server is busy."),
    gettext_lazy("The model server failed or is overloaded."),
    gettext_lazy("The model server could not be reached."),
    gettext_lazy("The model server did not answer in time."),
    gettext_lazy("The model server broke off in the middle of the answer."),
    gettext_lazy("The model server sent something that is not a chat completion."),
    gettext_lazy("The answer used all that one answer may use before it had a text."),
    gettext_lazy("The answer took longer than allowed."),
    gettext_lazy("The answer was interrupted too often."),
    gettext_lazy("Something went wrong on our side."),
)
_LONG: Final = gettext_lazy("Enter the window that the model really has, or offer a model with a larger one.")
_OTHER_WORDS: Final = gettext_lazy("Nothing is broken: the user has to ask in another way, or another model.")
_REQUEST: Final = gettext_lazy(
    "Compare the request that was sent with what the server said, and correct the settings of the model."
)
_OUTPUT: Final = gettext_lazy("Raise the output limit of the model, or let it reason less.")
_OFFER: Final = gettext_lazy(
    "Enable the model or its provider again, or take it from the agents that have it."
)
_TOOL: Final = gettext_lazy("Set the tool up, or take it from the agents that have it.")
_OPTION: Final = gettext_lazy("Name the option among the unsupported options of the model.")
_KEY: Final = gettext_lazy("Enter a valid key for this server.")
_BUDGET: Final = gettext_lazy("Top up the budget of the key at this server.")
_NAME: Final = gettext_lazy("Compare the model's name at its server with those that the server lists.")
_BUSY: Final = gettext_lazy("Have the limit at the server raised, or offer another model beside it.")
_SERVER: Final = gettext_lazy("The server runs, but fails or is overloaded: its own log says why.")
_ADDRESS: Final = gettext_lazy("Check the address, that the server runs, and that workers may reach it.")
_PROTOCOL: Final = gettext_lazy(
    "Check that the address is that of an OpenAI-compatible server, and not of a page or a proxy."
)
_LIMIT: Final = gettext_lazy(
    "Raise the limits of a run (MAX_RUN_INFERENCES and others) if such answers are wanted."
)
_TIME: Final = gettext_lazy("See below what took the time: waiting, the model or a tool.")
_WORKERS: Final = gettext_lazy("See below why each attempt ended, and the logs of the workers.")
_LOGS: Final = gettext_lazy("Search the logs of the workers for the id of this run.")
ADVICE: Final[dict[str, Any]] = {
    "context_too_long": _LONG,
    "prompt_too_long": _LONG,
    "tools_too_long": _LONG,
    "empty_response": _REQUEST,
    "output_limit_reached": _OUTPUT,
    "model_refusal": _OTHER_WORDS,
    "model_not_configured": _OFFER,
    "tool_unknown": _TOOL,
    "tool_not_configured": _TOOL,
    "option_unsupported": _OPTION,
    "upstream_option_rejected": _OPTION,
    "upstream_auth": _KEY,
    "upstream_quota": _BUDGET,
    "model_not_found": _NAME,
    "content_filtered": _OTHER_WORDS,
    "upstream_rejected": _REQUEST,
    "upstream_rate_limited": _BUSY,
    "upstream_unavailable": _SERVER,
    "upstream_unreachable": _ADDRESS,
    "upstream_timeout": _SERVER,
    "upstream_interrupted": _SERVER,
    "upstream_malformed": _PROTOCOL,
    "run_limit_reached": _LIMIT,
    "deadline_exceeded": _TIME,
    "worker_lost": _WORKERS,
    "internal_error": _LOGS,
}


def words_of(code: str) -> str:
    """Return what happened in the language of the page; a code of another version as it is."""
    return gettext(RUN_ERRORS[code][0]) if code in RUN_ERRORS else code


def advice_of(code: str) -> str:
    """Return what staff can do; empty for a code of another version."""
    return str(ADVICE.get(code, ""))


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
