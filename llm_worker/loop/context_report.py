"""Reports how a request was built: its budget, and which parts of the branch it omits and why. No I/O.

The report is stored with the request for admins. While a run streams, it only has references; as_json() does the work.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from llm_worker.loop.brief import Brief
from llm_worker.request.context import Context
from llm_worker.request.message_renderer import OMITTED_RESPONSE
from llm_worker.request.model_message import LanguageModelInput
from llm_worker.tools.tool import Tool, schema_tokens

# The maximum number of ids or names of omitted parts that are listed.
MAX_NAMES: Final = 20


@dataclass(frozen=True, slots=True)
class ContextReport:
    """A report on one request. context: as built from `brief`.  tools: the tools offered in this request."""

    context: Context
    brief: Brief
    tools: Sequence[Tool] = ()
    tool_choice: str = "auto"

    def as_json(self) -> dict[str, Any]:
        """Return the report as JSON values, its sizes in tokens. left_out: see omissions()."""
        brief = self.brief
        return {
            "window": brief.context_window,
            "output": brief.answer_reserve,
            "schemas": schema_tokens(brief.tools),
            "factor": round(brief.token_factor, 3),
            "budget": brief.budget.tokens,
            "tools": [tool.name for tool in self.tools],
            "tool_choice": self.tool_choice if self.tools else "",
            "options": dict(brief.options),
            "left_out": list(self.omissions()),
        }

    def omissions(self) -> Iterator[dict[str, Any]]:
        """Yield the omitted parts: `why` and, where known, count, tokens (stored counts) and what (ids or names)."""
        context, prompt_parts = self.context, self.brief.prompt_parts
        if prompt_parts.summary:
            has_it = any(message.letter == "SUM" for message in context.messages)
            yield {
                "why": "summary" if has_it else "summary_too_long",
                "what": _first_names([prompt_parts.summary_id]),
            }
        if context.omitted_entries:
            yield {
                "why": "budget",
                "count": len(context.omitted_entries),
                "tokens": sum(entry.token_count for entry in context.omitted_entries),
                "what": [context.omitted_entries[0].id, context.omitted_entries[-1].id],
                "partly": context.is_partly_omitted,
            }
        if omitted := _count_omitted_responses(context.messages):
            yield {"why": "earlier_response", "count": omitted}
        if context.truncated:
            yield {
                "why": "shortened",
                "count": len(context.truncated),
                "what": _first_names(context.truncated),
            }
        if context.omitted_files:
            names = [file.name for file in context.omitted_files]
            yield {"why": "file", "count": len(names), "what": _first_names(names)}
        if left_out := self.brief.left_out_tools:
            yield {"why": "tool", "count": len(left_out), "what": _first_names(left_out)}
        if not prompt_parts.sees_images and (images := self._images()):
            yield {"why": "image", "count": images}

    def _images(self) -> int:
        return sum(len(entry.images) for entry in self.brief.entries[len(self.context.omitted_entries) :])


def _count_omitted_responses(messages: LanguageModelInput) -> int:
    return sum(message.letter == "TR" and message.text == OMITTED_RESPONSE for message in messages)


def _first_names(names: Sequence[str]) -> list[str]:
    return [name for name in names[:MAX_NAMES] if name]
