"""Questions of a waiting call to its user: to fill in a form, visit an address, or sign in. Pure.

A form is a schema of an object with primitive properties: the `requestedSchema` of elicitation in the Model Context
Protocol (revision 2025-11-25, modelcontextprotocol.io). It may come from a model or from a server.
"""

import json
import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

from chat.protocol.call_answers import AddressQuestionAnswer, QuestionAnswer, SignInQuestionAnswer
from chat.transcript.tool_arguments import first_violation

MAX_PROPERTIES: Final = 50
# A form and the arguments of its call together stay under wire.MAX_PACKET_BYTES.
MAX_CHARACTERS: Final = 10_000
LONGEST_PROBLEM: Final = 300

_TEXT: Final = {"type": "string"}
_COUNT: Final = {"type": "integer", "minimum": 0}
_NUMBER: Final = {"type": "number"}
_TEXTS: Final = {"type": "array", "minItems": 1, "items": _TEXT}
_TITLED: Final = {
    "type": "array",
    "minItems": 1,
    "items": {"type": "object", "properties": {"const": _TEXT, "title": _TEXT}, "required": ["const"]},
}
_SHOWN: Final = {"type": _TEXT, "title": _TEXT, "description": _TEXT}
_OPTIONS: Final = {
    "type": "object",
    "properties": {"type": _TEXT, "enum": _TEXTS, "anyOf": _TITLED},
    "anyOf": [{"required": ["enum"]}, {"required": ["anyOf"]}],
}
# Type of a property -> its keywords, and the schemas of their values. Other keywords are left out.
_KEYWORDS: Final[Mapping[str, Mapping[str, Any]]] = {
    "string": {
        **_SHOWN,
        "default": _TEXT,
        "minLength": _COUNT,
        "maxLength": _COUNT,
        "format": {"enum": ["email", "uri", "date", "date-time"]},
        "enum": _TEXTS,
        "enumNames": _TEXTS,
        "oneOf": _TITLED,
    },
    "number": {**_SHOWN, "default": _NUMBER, "minimum": _NUMBER, "maximum": _NUMBER},
    "integer": {**_SHOWN, "default": {"type": "integer"}, "minimum": _NUMBER, "maximum": _NUMBER},
    "boolean": {**_SHOWN, "default": {"type": "boolean"}},
    "array": {
        **_SHOWN,
        "default": {"type": "array", "items": _TEXT},
        "minItems": _COUNT,
        "maxItems": _COUNT,
        "items": _OPTIONS,
    },
}
_EMAIL: Final = re.compile(r"[^@\s]+@[^@\s]+")


class FormInvalid(ValueError):
    """The form is invalid; the message is a sentence that says why."""


class Problem(NamedTuple):
    """The reason why an answer does not fit. name: of the property; empty: the answer as a whole."""

    name: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Question:
    """A form that a call asks its user to fill in. form: from `read_form`."""

    message: str
    form: Mapping[str, Any]

    def present(self) -> QuestionAnswer:
        return QuestionAnswer(self.message, dict(self.form))


def read_form(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Check a form and return it without the keywords that forms may not have. Raises FormInvalid."""
    properties, required = asked.get("properties"), asked.get("required", [])
    if asked.get("type") != "object" or not isinstance(properties, Mapping) or not properties:
        raise FormInvalid("A form is an object with properties.")
    if len(properties) > MAX_PROPERTIES:
        raise FormInvalid(f"A form has at most {MAX_PROPERTIES} properties.")
    if not isinstance(required, list) or not all(
        isinstance(name, str) and name in properties for name in required
    ):
        raise FormInvalid("Required is a list of properties.")
    read = {name: _read_property(name, given) for name, given in properties.items()}
    form = {"type": "object", "properties": read, "required": list(required)}
    if len(json.dumps(form, ensure_ascii=False)) > MAX_CHARACTERS:
        raise FormInvalid(f"A form has at most {MAX_CHARACTERS} characters.")
    return form


def find_problem(values: Mapping[str, Any], form: Mapping[str, Any]) -> Problem | None:
    """Find the first problem of an answer; None if it fits.
    values: by the names of the properties; properties that are not answered are left out."""
    properties: Mapping[str, Any] = form["properties"]
    for name in values:
        if name not in properties:
            return Problem(name[:LONGEST_PROBLEM], "The form does not ask this.")
    for name in form["required"]:
        if name not in values:
            return Problem(name, "This has to be answered.")
    for name, value in values.items():
        if sentence := _violation(name, value, properties[name]):
            return Problem(name, sentence)
    return None


def describe_answer(values: Mapping[str, Any], form: Mapping[str, Any]) -> str:
    """Describe the questions and their answers for a model, one per line."""
    return "\n".join(
        f"{_label(name, asked)} {_describe(values[name], asked) if name in values else '(not answered)'}"
        for name, asked in form["properties"].items()
    )


def _read_property(name: str, given: Any) -> dict[str, Any]:
    kind = given.get("type") if isinstance(given, Mapping) else None
    if not isinstance(kind, str) or kind not in _KEYWORDS:
        raise FormInvalid(f"{name} is none of: {', '.join(_KEYWORDS)}.")
    keywords = _KEYWORDS[kind]
    asked: dict[str, Any] = {keyword: given[keyword] for keyword in keywords if keyword in given}
    needed = ["type", "items"] if kind == "array" else ["type"]
    error = first_violation(asked, {"properties": keywords, "required": needed})
    if error is not None:
        raise FormInvalid(f"{name}: {error.message[:LONGEST_PROBLEM]}.")
    if kind == "array":
        asked["items"] = {
            word: given["items"][word] for word in ("type", "enum", "anyOf") if word in given["items"]
        }
        asked["uniqueItems"] = True
    if "default" in asked and (sentence := _violation(name, asked["default"], asked)):
        raise FormInvalid(f"The default of {name} does not fit: {sentence}")
    return asked


def _violation(name: str, value: Any, asked: Mapping[str, Any]) -> str:
    error = first_violation({name: value}, {"properties": {name: asked}})
    if error is not None:
        return f"{error.message[:LONGEST_PROBLEM]}."
    is_valid = _FORMATS.get(asked.get("format", ""))
    return f"This is not of the format {asked['format']}." if is_valid and not is_valid(value) else ""


def _parses(parse: Callable[[str], object]) -> Callable[[str], bool]:
    def is_valid(text: str) -> bool:
        try:
            return bool(parse(text))
        except ValueError:
            return False

    return is_valid


_FORMATS: Final[Mapping[str, Callable[[str], bool]]] = {
    "email": lambda text: _EMAIL.fullmatch(text) is not None,
    "uri": _parses(lambda text: urlsplit(text).scheme),
    "date": _parses(date.fromisoformat),
    "date-time": _parses(datetime.fromisoformat),
}


def _label(name: str, asked: Mapping[str, Any]) -> str:
    label = str(asked.get("title") or name).strip()
    ends = label != "" and unicodedata.category(label[-1]).startswith("P")
    return label if ends else f"{label}:"


def _describe(value: Any, asked: Mapping[str, Any]) -> str:
    match value:
        case bool():
            return "yes" if value else "no"
        case list():
            return ", ".join(_option_title(one, asked.get("items", {})) for one in value) or "(none)"
        case str():
            return _option_title(value, asked)
    return json.dumps(value)


def _option_title(value: str, asked: Mapping[str, Any]) -> str:
    for option in (*asked.get("oneOf", ()), *asked.get("anyOf", ())):
        if option["const"] == value:
            return str(option.get("title") or value)
    names = asked.get("enumNames", ())
    options = asked.get("enum", ())
    at = options.index(value) if value in options else len(names)
    return str(names[at]) if at < len(names) else value


MAX_ADDRESS_CHARACTERS: Final = 2_000


@dataclass(frozen=True, slots=True)
class SignInQuestion:
    """A request to sign in to the server of the call.

    server: the id of its row; empty: it was deleted.  name: of the server.
    credential: the id of the credential that the server has refused; empty: the user had none.
    """

    server: str
    name: str
    credential: str = field(default="", compare=False)

    def present(self) -> SignInQuestionAnswer:
        return SignInQuestionAnswer(self.server or None, self.name, bool(self.credential))


@dataclass(frozen=True, slots=True)
class AddressQuestion:
    """A request to visit an address and say when that is done (elicitation in URL mode). url: from `read_address`."""

    message: str
    url: str

    def present(self) -> AddressQuestionAnswer:
        return AddressQuestionAnswer(self.message, self.url)


# The questions of a call, and the member that holds each for clients.
AnyQuestion = Question | SignInQuestion | AddressQuestion
_MEMBERS: Final[Mapping[type[AnyQuestion], str]] = {
    Question: "question",
    SignInQuestion: "sign_in",
    AddressQuestion: "address",
}


class Answered(NamedTuple):
    """A question that its user has answered.

    values: by the names of its form; empty for an address; None: the user declined, or signed in.  note: for the model.
    """

    question: AnyQuestion
    values: Mapping[str, Any] | None
    note: str = ""


def present_asked(question: AnyQuestion | None, changed: str, summary: str) -> dict[str, Any]:
    """Return what a call that waits asks, as members of the call for clients. question: None if only whether it may run.
    changed: a ToolChange, or empty.  summary: what its tool does, in a sentence.
    """
    if question:
        return {_MEMBERS[type(question)]: question.present()}
    texts = {"changed": changed, "summary": summary}
    return {name: text for name, text in texts.items() if text}


def read_address(text: str) -> str:
    """Return the address if a browser may be sent there, else an empty text.
    Refused are also addresses with a name or password, which would hide the host."""
    if len(text) > MAX_ADDRESS_CHARACTERS or not text.isprintable() or " " in text:
        return ""
    try:
        parts = urlsplit(text)
    except ValueError:
        return ""
    is_open = parts.scheme in ("http", "https") and parts.hostname and "@" not in parts.netloc
    return text if is_open else ""
