"""What staff are told of a run's error: what happened, and what they can do."""

from typing import Any, Final

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from chat.protocol.errors import RUN_ERRORS

# Of RUN_ERRORS, whose English words users of the API get.
WORDS: Final = (
    _("The conversation is too long for the model. Shorten it, or use a larger model."),
    _(
        "The prompts of the agent, the project and the chat are too long for the model. Shorten them, or use a larger model."
    ),
    _(
        "The descriptions of the chosen tools are too long for the model. Choose fewer tools, or use a larger model."
    ),
    _("The model returned an empty answer."),
    _("The model reached its output limit before the answer began."),
    _("The model declined to answer."),
    _("The model is not available any more."),
    _("The model cannot use the requested tool."),
    _("The requested tool is not set up on this server."),
    _("The model cannot have an option that was chosen."),
    _("The model server refused an option that was chosen."),
    _("The model server refused the credentials."),
    _("The budget at the model server is used up."),
    _("The model server does not have this model."),
    _("The model server's content filter rejected the request."),
    _("The model server rejected the request."),
    _("The model server is busy."),
    _("The model server failed or is overloaded."),
    _("The model server could not be reached."),
    _("The model server did not answer in time."),
    _("The model server broke off in the middle of the answer."),
    _("The model server sent something that is not a chat completion."),
    _("The answer used all that one answer may use before it had a text."),
    _("The answer took longer than allowed."),
    _("The answer was interrupted too often."),
    _("Something went wrong on our side."),
)
_LONG: Final = _("Enter the window that the model really has, or offer a model with a larger one.")
_OTHER_WORDS: Final = _("Nothing is broken: the user has to ask in another way, or another model.")
_REQUEST: Final = _(
    "Compare the request that was sent with what the server said, and correct the settings of the model."
)
_OUTPUT: Final = _("Raise the output limit of the model, or let it reason less.")
_OFFER: Final = _("Enable the model or its provider again, or take it from the agents that have it.")
_TOOL: Final = _("Set the tool up, or take it from the agents that have it.")
_OPTION: Final = _("Name the option among the unsupported options of the model.")
_KEY: Final = _("Enter a valid key for this server.")
_BUDGET: Final = _("Top up the budget of the key at this server.")
_NAME: Final = _("Compare the model's name at its server with those that the server lists.")
_BUSY: Final = _("Have the limit at the server raised, or offer another model beside it.")
_SERVER: Final = _("The server runs, but fails or is overloaded: its own log says why.")
_ADDRESS: Final = _("Check the address, that the server runs, and that workers may reach it.")
_PROTOCOL: Final = _(
    "Check that the address is that of an OpenAI-compatible server, and not of a page or a proxy."
)
_LIMIT: Final = _("Raise the limits of a run (MAX_RUN_INFERENCES and others) if such answers are wanted.")
_TIME: Final = _("See below what took the time: waiting, the model or a tool.")
_WORKERS: Final = _("See below why each attempt ended, and the logs of the workers.")
_LOGS: Final = _("Search the logs of the workers for the id of this run.")
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
