"""ToolCard: what every process knows of a tool, and how people see it. It stands in the tool's folder (llm_worker/tools)."""

from typing import Annotated, Literal

from django.conf import settings

from chat.protocol.answer import Answer, doc


class ToolCard(Answer, kw_only=True):
    """Texts are in English, and translated when they are served (gettext_noop marks them for translation).

    doing, done and failed are alternatives: the first is used whose placeholders the arguments of the call can fill. `host` is
    that of the argument `url`.
    """

    name: str
    label: str
    about: Annotated[str, doc("A sentence for those who choose it.")] = ""
    icon: Annotated[str, doc("Its name in elements/icons.js.")]
    doing: list[str]
    done: list[str]
    failed: Annotated[list[str], doc("Without a claim that anything was done.")]
    several: Annotated[
        str, doc("Of calls whose `done` differs; empty: that of a call without arguments.")
    ] = ""
    shows: Annotated[
        list[str], doc("The arguments beside it; empty: the title of the first document it found.")
    ] = []
    result: Annotated[
        Literal["text", "search", "report", "form"],
        doc(
            "text: verbatim, or documents. search: documents, a checked summary, and a note while they are indexed. report: "
            "Markdown. form: what the user answered."
        ),
    ] = "text"
    is_choosable: Annotated[bool, doc("False: a run is offered it by the files and bases that it has.")] = (
        True
    )
    needs: Annotated[str, doc("The setting that it works with; empty: it always works.")] = ""

    def is_set_up(self) -> bool:
        return not self.needs or bool(getattr(settings, self.needs))
