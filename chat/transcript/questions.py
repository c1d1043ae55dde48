"""What a call may ask its user while it waits: a form to fill in (forms.py), to go to an address, or to sign in to its server. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

from chat.transcript.forms import Question

MAX_ADDRESS_CHARACTERS: Final = 2_000


@dataclass(frozen=True, slots=True)
class SignInQuestion:
    """server: the id of its row; empty: it was deleted.  name: the server's.  credential: the id of what the server has refused; empty: the user had none."""

    server: str
    name: str
    credential: str = field(default="", compare=False)

    def present(self) -> dict[str, Any]:
        return {"server": self.server or None, "name": self.name}


@dataclass(frozen=True, slots=True)
class AddressQuestion:
    """To go to an address, and to say when that is done (elicitation in URL mode). url: from `read_address`."""

    message: str
    url: str

    def present(self) -> dict[str, Any]:
        return {"message": self.message, "url": self.url}


# What a call may ask its user, and how clients call it.
AnyQuestion = Question | SignInQuestion | AddressQuestion
_MEMBERS: Final[Mapping[type[AnyQuestion], str]] = {
    Question: "question",
    SignInQuestion: "sign_in",
    AddressQuestion: "address",
}


class Answered(NamedTuple):
    """A question that its user has answered. values: by the names of its form; None: they declined, or signed in. Of an address none.  note: for the model."""

    question: AnyQuestion
    values: Mapping[str, Any] | None
    note: str = ""


def present_question(question: AnyQuestion | None) -> dict[str, Any]:
    """As a member of what clients are told of the call; empty: it asks nothing."""
    if question is None:
        return {}
    return {_MEMBERS[type(question)]: question.present()}


def read_address(text: str) -> str:
    """Where a browser may be sent; empty: nowhere. Not with a name and password, which would hide the host."""
    if len(text) > MAX_ADDRESS_CHARACTERS or not text.isprintable() or " " in text:
        return ""
    try:
        parts = urlsplit(text)
    except ValueError:
        return ""
    is_open = parts.scheme in ("http", "https") and parts.hostname and "@" not in parts.netloc
    return text if is_open else ""
