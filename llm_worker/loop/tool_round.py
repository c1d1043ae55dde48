"""Runs the calls of one round concurrently and returns their results.

Packets and rows are left to the host. Failures of tools become results and never end a run.
"""

import asyncio
import logging
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import NamedTuple, Protocol

from chat.protocol.call_answers import CallFacts
from chat.transcript.entries import Document, Image
from chat.transcript.questions import AnyQuestion
from llm_worker.loop.calls import CallResult, PlannedCall, no_such_tool, with_notes
from llm_worker.request.numbered_documents import render_found
from llm_worker.stream.sanitiser import clean
from llm_worker.tools.tool import InputNeeded, Tool, ToolContext, ToolFailed, ToolOutcomeUnknown, ToolResult

logger = logging.getLogger(__name__)

# A cancelled tool that has not ended after this time is abandoned, and its result is discarded.
CANCEL_GRACE_S = 1.0


class KeptImages(NamedTuple):
    """The images of a call. note: tells the model about images that it is not shown; empty if it is shown all."""

    images: Sequence[Image] = ()
    note: str = ""


NO_IMAGES = KeptImages()


class RoundHost(Protocol):
    """Stores and shows a round; the loop uses RoundRunner. Exceptions that it raises end the round."""

    async def begin(self, calls: Sequence[PlannedCall]) -> None:
        """Store the calls. Returns when they are committed; no call runs before."""
        ...

    def context(self, tab: int) -> AbstractContextManager[ToolContext]:
        """Provide the context that the call of this tab may use while it runs."""
        ...

    def number(self, documents: Sequence[Document]) -> Sequence[Document]:
        """Return the documents with their numbers in this turn."""
        ...

    async def keep_images(self, tab: int, contents: Sequence[bytes]) -> KeptImages:
        """Store the images of a call. Returns images that can be shown, once they have been read."""
        ...

    async def finished(self, tab: int, result: CallResult) -> None:
        """Store and show the result of a call. Called once per call, in the order in which they end."""
        ...

    async def asked(self, tab: int, question: AnyQuestion) -> None:
        """Store that the call waits for the user's answer and then runs again. Called instead of finished()."""
        ...


async def execute(calls: Sequence[PlannedCall], host: RoundHost, limit_s: float) -> list[CallResult | None]:
    """Run the calls that have no result yet and return all results, in tab order.

    None: the call waits for its user, or is handed over to the caller.

    limit_s: the limit for tools without their own. Cancelling this cancels the tools.
    """
    await host.begin(calls)
    await asyncio.sleep(0)  # a stop that came while they were stored takes effect before any of them runs
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(_settle(tab, call, host, limit_s)) for tab, call in enumerate(calls)]
    except ExceptionGroup as broken:
        raise broken.exceptions[0] from None  # raised by the host; the other calls were cancelled
    return [task.result() for task in tasks]


async def _settle(tab: int, call: PlannedCall, host: RoundHost, limit_s: float) -> CallResult | None:
    if call.needs_approval or call.is_handed_over:
        return None
    if call.result:
        result = call.result
    elif call.tool is None:
        result = no_such_tool(call.name)
    else:
        began_at = asyncio.get_running_loop().time()
        outcome = await _run_tool(tab, call, call.tool, host, limit_s)
        if not isinstance(outcome, CallResult):
            await host.asked(tab, outcome)
            return None
        ran_s = asyncio.get_running_loop().time() - began_at
        facts = CallFacts(duration_ms=round(ran_s * 1000))
        result = replace(with_notes(outcome, call.answers), facts=facts)
    await host.finished(tab, result)
    return result


async def _run_tool(
    tab: int, call: PlannedCall, tool: Tool, host: RoundHost, limit_s: float
) -> CallResult | AnyQuestion:
    limit_s = tool.time_limit_s or limit_s
    with host.context(tab) as context:
        running = asyncio.create_task(tool.run(call.arguments, context), name=f"tool {tool.name}")
        running.add_done_callback(_retrieve_exception)
        try:
            await asyncio.wait({running}, timeout=limit_s)
            if not running.done():
                return _timed_out(tool, limit_s)
        finally:
            # Give a tool that has not ended a moment to close what it holds.
            if not running.done():
                running.cancel()
                await asyncio.wait({running}, timeout=CANCEL_GRACE_S)
    failure = _failure(running)
    if failure is None:
        return await _completed(tab, tool, running.result(), host)
    if isinstance(failure, InputNeeded):
        return failure.question
    if isinstance(failure, ToolOutcomeUnknown) and not tool.annotations.may_run_again:
        return CallResult("unknown", f"{clean(str(failure))} The call may or may not have taken effect.")
    if not isinstance(failure, ToolFailed):
        logger.error("tool %s broke", tool.name, exc_info=failure)
        return CallResult("failed", f"{tool.name} failed because of an internal error.")
    return CallResult("failed", clean(str(failure)) or f"{tool.name} failed.")


async def _completed(tab: int, tool: Tool, outcome: ToolResult, host: RoundHost) -> CallResult:
    if outcome.is_safe_summary:
        return CallResult(
            "completed", clean(outcome.response), is_safe_summary=True, arguments=outcome.arguments
        )
    documents = tuple(host.number([_clean_document(document) for document in outcome.documents]))
    response = clean(outcome.response) or (
        render_found(documents, outcome.note)
        if documents or outcome.note
        else f"{tool.name} returned nothing."
    )
    kept = await host.keep_images(tab, outcome.images) if outcome.images else NO_IMAGES
    return CallResult(
        "completed",
        "\n\n".join(filter(None, (response, kept.note))),
        documents,
        arguments=outcome.arguments,
        is_knowledge_search=outcome.is_knowledge_search,
        structured=outcome.structured,
        images=tuple(kept.images),
    )


def _timed_out(tool: Tool, limit_s: float) -> CallResult:
    sentence = f"{tool.name} did not finish within {limit_s:g} seconds"
    if tool.annotations.may_run_again:
        return CallResult("failed", f"{sentence}.")
    return CallResult("unknown", f"{sentence}; it may or may not have taken effect.")


def _failure(running: asyncio.Task[ToolResult]) -> BaseException | None:
    return asyncio.CancelledError() if running.cancelled() else running.exception()


def _retrieve_exception(running: asyncio.Task[ToolResult]) -> None:
    # asyncio logs exceptions that are never retrieved; those of an abandoned tool do not matter.
    _failure(running)


def _clean_document(document: Document) -> Document:
    return replace(
        document,
        document_id=clean(document.document_id),
        title=clean(document.title),
        contents=clean(document.contents),
        url=clean(document.url),
        metadata={clean(name): clean(value) for name, value in document.metadata.items()},
    )
