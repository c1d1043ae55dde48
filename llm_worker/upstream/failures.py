"""What a model server says about an error, in the dialects of different servers, and the error code it has. Pure.

OpenAI, LiteLLM, Azure: {"error": {"code", "type", "message"}}, where a code may be a status; vLLM: the same, or flat;
Anthropic: {"type": "error", "error": {"type", "message"}}; Ollama: {"error": "…"}; FastAPI: {"detail": …}; Google:
OpenAI's form in a list; MiniMax: {"base_resp": {"status_code", "status_msg"}}; proxies: HTML. A message may be JSON itself.

Statuses alone are not enough: a conversation that is too long is a 400 here, a 413 or 500 there, and an exhausted
budget shares its 429 with a busy server.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any, Final, NamedTuple

from llm_worker.upstream.redaction import MAX_INPUT_CHARACTERS

_CODES: Final = ("code", "type", "error_type", "status", "status_code", "statusCode")
_MESSAGES: Final = (
    "error", "errors", "message", "detail", "msg", "error_message", "innererror", "base_resp", "status_msg",
)  # fmt: skip
# Codes that say nothing.
_EMPTY: Final = frozenset({"", "none", "null", "error"})
_MAX_DEPTH: Final = 6
_MAX_ITEMS: Final = 10


@dataclass
class ErrorReport:
    """The content of an error. codes: codes and types in words, the outermost and most specific first.

    numbers: codes of the server's own that are numbers. status: the HTTP status, if the report has one.
    """

    codes: list[str] = field(default_factory=list)
    numbers: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    status: int | None = None

    @property
    def code(self) -> str:
        return self.codes[0] if self.codes else ""

    @property
    def message(self) -> str:
        return "; ".join(dict.fromkeys(self.texts))

    @property
    def searched(self) -> str:
        """All codes and texts in lower case, for classification; before a number stands `code`."""
        numbers = [f"code {number}." for number in self.numbers]
        return " ".join([*self.codes, *numbers, *self.texts]).lower()


def read_error(said: str) -> ErrorReport:
    """Read an error report. said: the body of a response: JSON, HTML or a text."""
    report = ErrorReport()
    _collect(said, report, 0)
    return report


def _collect(said: object, report: ErrorReport, depth: int) -> None:
    if depth > _MAX_DEPTH or len(report.texts) >= _MAX_ITEMS:
        return
    match said:
        case str():
            _collect_text(said[:MAX_INPUT_CHARACTERS].strip(), report, depth)
        case Mapping():
            for name in _CODES:
                _add_code(report, said.get(name))
            before = len(report.texts)
            for name in _MESSAGES:
                _collect(said.get(name), report, depth + 1)
            _prefix_place(said.get("loc"), report.texts, before)
        case list():
            for item in said[:_MAX_ITEMS]:
                _collect(item, report, depth + 1)


def _collect_text(text: str, report: ErrorReport, depth: int) -> None:
    if text.startswith(("{", "[")) and (inner := _json_in(text)) is not None:
        before = len(report.texts)
        _collect(inner, report, depth + 1)
        if len(report.texts) > before:
            return
    if text.startswith("<"):
        text = _text_of(text)
    if text:
        report.texts.append(text)


def _add_code(report: ErrorReport, code: object) -> None:
    text = str(code).strip() if isinstance(code, str | int) and not isinstance(code, bool) else ""
    if text.isascii() and text.isdecimal():
        if report.status is None and len(text) == 3 and text[0] in "45":
            report.status = int(text)
        elif len(text) > 3:
            report.numbers.append(text[:20])
    elif text.lower() not in _EMPTY and text not in report.codes:
        report.codes.append(text[:MAX_INPUT_CHARACTERS])


def _prefix_place(place: object, texts: list[str], first: int) -> None:
    """Prefix the texts with the place of the error in the body, which FastAPI names beside its message."""
    if isinstance(place, Sequence) and not isinstance(place, str):
        path = ".".join(str(part)[:100] for part in place[:_MAX_ITEMS])
        texts[first:] = [f"{path}: {text}" for text in texts[first:]]


def _json_in(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


class _TextParser(HTMLParser):
    """Collects the text of a page, without scripts and styles."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self._is_hidden = False

    def handle_starttag(self, tag: str, _attributes: object) -> None:
        self._is_hidden = tag in ("script", "style")

    def handle_endtag(self, _tag: str) -> None:
        self._is_hidden = False

    def handle_data(self, data: str) -> None:
        if not self._is_hidden and data.strip():
            self.texts.append(data.strip())


def _text_of(page: str) -> str:
    parser = _TextParser()
    parser.feed(page)
    parser.close()
    return " ".join(dict.fromkeys(parser.texts))


# The status of an error inside a stream or a successful response, unless it names one.
NO_STATUS: Final = None
TIMEOUT: Final = "upstream_timeout"
# Codes of failures that pass by themselves.
TRANSIENT: Final = frozenset({"upstream_rate_limited", "upstream_unavailable", "upstream_unreachable"})
BY_STATUS: Final = {
    401: "upstream_auth",
    402: "upstream_quota",
    403: "upstream_auth",
    404: "model_not_found",
    408: TIMEOUT,
    413: "context_too_long",
    429: "upstream_rate_limited",
    504: TIMEOUT,
    524: TIMEOUT,  # Cloudflare
}
# Statuses that say that the server is too busy; 529 is Anthropic's.
OVERLOADED: Final = frozenset({503, 529})
# Statuses with which servers refuse a form of the request; 500 comes from their chat templates.
REFUSALS: Final = frozenset({NO_STATUS, 400, 404, 422, 500, 501})


class _Rule(NamedTuple):
    """A code that applies to these statuses if the pattern is found in what was said, in lower case."""

    code: str
    statuses: frozenset[int | None]
    pattern: re.Pattern[str]


def _rule(code: str, statuses: set[int | None], *patterns: str) -> _Rule:
    return _Rule(code, frozenset(statuses), re.compile("|".join(patterns)))


# What servers say of a context that is too long, in lower case.
TOO_LONG: Final = (
    ("OpenAI, DeepSeek, Mistral, Ollama", r"context.?length"),
    ("Azure, LiteLLM, OpenRouter", r"context.?window"),
    ("llama.cpp", r"available context size|exceed_context_size"),
    ("LM Studio", r"context the overflows|context overflow|greater than the context"),
    ("Anthropic", r"prompt is too long|exceed context limit"),
    ("Bedrock", r"input is too long|too many (?:input |prompt )?tokens"),
    ("Google", r"token count.{0,80}exceeds"),
    ("vLLM", r"maximum (?:model|input|prompt|sequence) length|longer than the (?:maximum )?model"),
    ("vLLM, newer", r"(?:prompt|input|request).{0,80}exceeds? (?:the )?(?:maximum|max)[ _](?:model[ _])?len"),
    ("vLLM, of what is left for the answer", r"max_(?:completion_)?tokens\b.{0,60}\B-\d"),
    (
        "LMDeploy, Qwen, of images",
        r"tokens.{0,60}exceeds? (?:the )?(?:max|maximum)[ _](?:message|input|prompt|model|context)\w*[ _]tokens",
    ),
    ("SGLang", r"maximum allowed (?:input )?length|is longer than the model's context"),
    ("TGI", r"tokens.{0,60}must be <=|`inputs` must have less than"),
    ("Moonshot", r"exceeded model token limit"),
    ("Qwen (DashScope)", r"range of input length should be"),
    ("Zhipu", r"(?:prompt|input).{0,40}exceeds? (?:the )?(?:max|maximum|model).{0,20}(?:length|limit)"),
    ("Cohere", r"too many tokens|total number of tokens.{0,60}exceed"),
    ("xAI, Groq", r"maximum prompt length|reduce the length of the (?:messages|prompt|input)"),
    ("TensorRT-LLM, NIM", r"prompt length.{0,40}exceeds? (?:the )?max"),
    ("Together, Fireworks", r"must be less than.{0,40}tokens|prompt too long|input too long"),
)
# What servers say of an account without money, whatever the status.
_EMPTY_ACCOUNT: Final = (
    r"insufficient (?:account )?balance", r"balance (?:is )?(?:insufficient|too low|not enough)", r"no resource package",
    r"please recharge", r"\barrearage\b", r"out of (?:funds|credits?)", r"payment required", r"account.{0,20}overdue",
    r"exceeded_current_quota", r"no (?:remaining|available) (?:balance|credits?)",
    # Codes of Zhipu, MiniMax and SiliconFlow, whose words may be in any language
    r"\bcode (?:1113|1008|30001)\.",
    "欠费", r"余额(?:不足|已用完)", r"充值", r"残高(?:が)?不足", "잔액이? ?부족", r"guthaben.{0,40}(?:aufgebraucht|erschöpft|reicht nicht)",
    r"(?:solde|crédits?) (?:\w+ )?(?:insuffisant|épuisé)", r"(?:saldo|crédito) (?:\w+ )?insuf", r"недостаточно (?:средств|баланса)",
)  # fmt: skip

# The first rule that applies counts.
_RULES: Final = (
    _rule(
        "upstream_rate_limited", {NO_STATUS, 413},
        "rate_limit", r"tokens per minute", r"too many requests", r"throttl",
    ),
    _rule(
        "upstream_quota", {NO_STATUS, 400, 401, 403, 429},
        "insufficient_quota", "billing_hard_limit", *_EMPTY_ACCOUNT,
    ),
    # The model is not missing: it cannot see images or call tools, or an image of the request cannot be loaded.
    _rule(
        "upstream_rejected", {404},
        r"\bsupports?\b.{0,40}\b(?:image|vision|multimodal|audio|tool use|tools)",
        r"\b(?:images?|vision|multimodal|modalit\w+)\b.{0,60}\b(?:unsupported|not (?:be )?(?:supported|available|allowed))",
        r"\b(?:download|fetch|load|retrieve|open)\w*\b.{0,40}\bimage",
    ),
    # A budget that is full again in a moment is a rate limit.
    _rule(
        "upstream_rate_limited", {NO_STATUS, 429},
        r"per (?:second|minute|hour)", r"rate.?limit", r"(?:retry|try again) (?:in|after)\b",
    ),
    _rule("upstream_quota", {429, 403}, r"\bquota\b", r"\bbilling\b", r"\bcredits?\b"),
    _rule(
        "upstream_quota", {NO_STATUS, 400},
        r"\bquota\b", r"\bbilling\b", r"\bcredit balance\b", r"(?:insufficient|not enough|out of|more) credits?\b",
    ),
    _rule(
        "content_filtered", {NO_STATUS, 400, 403, 422, 451},
        r"content_?filter", r"content_?policy", r"content (?:management )?policy", "responsibleaipolicyviolation",
        "data_inspection_failed", r"input was flagged",
    ),
    _rule(
        "context_too_long", {NO_STATUS, 400, 413, 422, 500},
        *(words for _, words in TOO_LONG),
    ),
    # The chat template refuses the messages: not an outage, whatever the status.
    _rule(
        "upstream_rejected", {NO_STATUS, 500},
        "jinja", "raise_exception", r"\broles? must\b", r"\brole not supported",
    ),
    _rule(
        "model_not_found", {NO_STATUS, 400, 403, 422},
        "model_not_found", "deploymentnotfound", r"\bmodel\b.{0,200}(?:not exist|not found)",
        r"(?:unknown|invalid|no such) model\b",
    ),
)  # fmt: skip
# For errors without a status, after the rules above.
_STATUSLESS: Final = (
    _rule("upstream_auth", {NO_STATUS}, "invalid_api_key", "authentication_error", "permission_error"),
    _rule("upstream_unavailable", {NO_STATUS}, "overloaded", "service unavailable"),
    _rule(TIMEOUT, {NO_STATUS}, r"timed out", r"timeout"),
)


def classify_status(status: int, report: ErrorReport) -> str:
    """Return the code of a response with an error status."""
    if code := _by_rule(_RULES, status, report):
        return code
    return BY_STATUS.get(status, "upstream_unavailable" if status >= 500 else "upstream_rejected")


def classify_reported(report: ErrorReport, otherwise: str) -> str:
    """Return the code of an error that a successful response reports, in a stream or instead of an answer."""
    status = report.status
    if status is not None and (status < 500 or status in OVERLOADED | BY_STATUS.keys()):
        return classify_status(status, report)
    return _by_rule(_RULES + _STATUSLESS, NO_STATUS, report) or otherwise


def is_refusal(code: str, status: int | None) -> bool:
    """Return whether a failure may say which form of the request the server does not accept."""
    return code == "upstream_rejected" and status in REFUSALS


def _by_rule(rules: tuple[_Rule, ...], status: int | None, report: ErrorReport) -> str:
    said = report.searched
    return next((rule.code for rule in rules if status in rule.statuses and rule.pattern.search(said)), "")
