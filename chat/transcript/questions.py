"""Questions of a waiting call to its user: to fill in a form (forms.py), visit an address, or sign in. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

from chat.protocol.call_answers import AddressQuestionAnswer, SignInQuestionAnswer
from chat.transcript.forms import Question

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
