"""Translations of states and other choices in the admin. The models, the API and the log keep their English names."""

from typing import Any, Final

from django.db.models import Model
from django.utils.functional import lazy
from django.utils.text import capfirst
from django.utils.translation import gettext, override
from django.utils.translation import gettext_lazy as _

CHOICES: Final = (
    # Runs, tool calls, compressions and files.
    _("queued"), _("running"), _("stopping"), _("waiting"), _("completed"), _("failed"), _("stopped"),
    _("pending"), _("refused"), _("unknown"), _("done"), _("nothing"), _("processing"), _("ready"),
    # Steps of a run's history that are no states (run_history.py).
    _("made"), _("announced"), _("lost"),
    # Who requested a compression; the purpose of a request.
    _("auto"), _("user"), _("staff"), _("title"), _("summary"), _("Safe Summary"), _("expansion"),
    # Messages and prompts.
    _("root"), _("assistant"), _("moving"), _("Append Only"), _("agent prompt"), _("project documents"), _("dynamic context"),
    _("reject"), _("enqueue"), _("interrupt"),
    # Tool policies and approvals.
    _("never"), _("ask"), _("ask unless read only"), _("approved"), _("expired"), _("approval"), _("question"), _("answered"), _("declined"), _("sign in"), _("signed in"), _("address"),
    # Files and members.
    _("text"), _("image"), _("tabular"), _("owner"), _("editor"), _("reader"), _("full"), _("restricted"), _("read"), _("write"),
    # MCP servers.
    _("down"), _("needs sign in"), _("each user"), _("all users"),
)  # fmt: skip
_capitalised: Any = lazy(lambda word: capfirst(gettext(word)), str)


def translate_choices(*tables: type[Model]) -> None:
    """Replace the labels of choices by lazy texts. They are the same in English, so no migration is needed."""
    with override(None):
        known = {str(word) for word in CHOICES}
    for table in tables:
        for field in table._meta.fields:  # noqa: SLF001  Django's documented model API
            if field.choices:
                field.choices = [
                    (value, _translatable(str(label), known)) for value, label in field.flatchoices
                ]


def _translatable(label: str, known: set[str]) -> Any:
    """Return the label as a lazy text. A label that is a name of the API stays as it is."""
    word = label if label in known else label.lower()
    if word not in known:
        return label
    return _(word) if word == label else _capitalised(word)


def translate_logged(message: str) -> str:
    """Translate the log message of a staff action: its name and its result."""
    return ": ".join(gettext(part) for part in message.split(": ") if part)
