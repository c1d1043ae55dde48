"""What a call may ask its user while it waits: a form to fill in (forms.py), or to sign in to its server. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from chat.transcript.forms import Question


@dataclass(frozen=True, slots=True)
class SignInQuestion:
    """server: the id of its row; empty: it was deleted.  name: the server's.  credential: the id of what the server has refused; empty: the user had none."""

    server: str
    name: str
    credential: str = field(default="", compare=False)

    def present(self) -> dict[str, Any]:
        return {"server": self.server or None, "name": self.name}


# What a call may ask its user.
AnyQuestion = Question | SignInQuestion


class Answered(NamedTuple):
    """A question that its user has answered. values: by the names of its form; None: they declined, or signed in.  note: for the model."""

    question: AnyQuestion
    values: Mapping[str, Any] | None
    note: str = ""


def present_question(question: AnyQuestion | None) -> dict[str, Any]:
    """As a member of what clients are told of the call; empty: it asks nothing."""
    if question is None:
        return {}
    return {"question" if isinstance(question, Question) else "sign_in": question.present()}
