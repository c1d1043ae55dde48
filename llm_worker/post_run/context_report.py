"""What was weighed when a request was made: its budget, and what of the branch it does not hold, and why. No I/O.

Kept beside the request for whoever looks at it later. While a run streams only references are held.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from llm_worker.brief import Brief
from llm_worker.request.context import Context, request_budget
from llm_worker.request.message import LanguageModelInput
from llm_worker.request.message_renderer import OMITTED_RESPONSE
from llm_worker.tools.schemas import schema_tokens
from llm_worker.tools.tool import Tool

# Of the ids and names of what was left out.
MOST_NAMED: Final = 20


@dataclass(frozen=True, slots=True)
class ContextReport:
    """context: as it was built from `brief`.  tools: those offered in this request."""

    context: Context
    brief: Brief
    tools: Sequence[Tool] = ()
    tool_choice: str = "auto"

    def as_json(self) -> dict[str, Any]:
        """As JSON takes it; tokens throughout. left_out: see left_out()."""
        brief, schemas = self.brief, schema_tokens(self.brief.tools)
        output = brief.model.max_output_tokens
        return {
            "window": brief.context_window,
            "output": output,
            "schemas": schemas,
            "budget": request_budget(brief.context_window, output, schemas).tokens,
            "tools": [tool.name for tool in self.tools],
            "tool_choice": self.tool_choice if self.tools else "",
            "left_out": list(self.left_out()),
        }

    def left_out(self) -> Iterator[dict[str, Any]]:
        """Each with `why`; and where there is one: count, tokens (by the stored counts), what (ids or names)."""
        context, prompt_parts = self.context, self.brief.prompt_parts
        if prompt_parts.summary:
            has_it = any(message.letter == "SUM" for message in context.messages)
            yield {
                "why": "summary" if has_it else "summary_too_long",
                "what": _named([prompt_parts.summary_id]),
            }
        if context.omitted_entries:
            yield {
                "why": "budget",
                "count": len(context.omitted_entries),
                "tokens": sum(entry.token_count for entry in context.omitted_entries),
                "what": [context.omitted_entries[0].id, context.omitted_entries[-1].id],
                "partly": context.is_partly_omitted,
            }
        if gone := _gone(context.messages):
            yield {"why": "earlier_response", "count": gone}
        if context.truncated:
            yield {"why": "shortened", "count": len(context.truncated), "what": _named(context.truncated)}
        if context.omitted_files:
            names = [file.name for file in context.omitted_files]
            yield {"why": "file", "count": len(names), "what": _named(names)}
        if not prompt_parts.sees_images and (images := self._images()):
            yield {"why": "image", "count": images}

    def _images(self) -> int:
        return sum(len(entry.images) for entry in self.brief.entries[len(self.context.omitted_entries) :])


def _gone(messages: LanguageModelInput) -> int:
    return sum(message.letter == "TR" and message.text == OMITTED_RESPONSE for message in messages)


def _named(names: Sequence[str]) -> list[str]:
    return [name for name in names[:MOST_NAMED] if name]
