"""Stores rounds of tool calls, fenced by the attempt: each round before it runs, each call as it ends."""

import asyncio
import logging
import uuid
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import asdict, replace
from io import BytesIO
from typing import Any, Final, NamedTuple
from uuid import UUID, uuid4

from django.contrib.auth.models import User
from django.db import transaction
from msgspec import structs

from chat.infrastructure.fault_points import reach
from chat.loaders.attachments import load_tool_images
from chat.loaders.rounds import document_record
from chat.models import Approval, Run, StoredBytes, ToolCall, ToolCallImage
from chat.models.tool_call import ToolCallStatus
from chat.protocol.errors import ApiError
from chat.runs import new_files, quotas
from chat.transcript.entries import Image
from chat.transcript.tokens import count_tokens
from chat.transcript.usage import RunSpending
from knowledge.files import blobs
from knowledge.files.file_types import HEAD_BYTES, detect_type
from knowledge.models import File, FileKind, FileStatus
from llm_worker.attempt.checkpointer import CheckpointTracker
from llm_worker.attempt.fenced_writes import Checkpoint, owns_run, save_checkpoint
from llm_worker.database import Database
from llm_worker.loop.allowance import Allowance
from llm_worker.loop.calls import CallResult, PlannedCall
from llm_worker.loop.deps import AgentReport, NewRound
from llm_worker.request.model_message import call_text
from llm_worker.side_requests.safe_summary import log_safe_summary


class BegunRound(NamedTuple):
    """A round to store before it runs. held: the answer so far; None inside an agent tool.

    spent: what the run has used until now, these calls included.  approvals: the approvals that calls wait for.
    """

    rows: Sequence[ToolCall]
    held: Checkpoint | None
    spent: RunSpending
    approvals: Sequence[Approval] = ()


class DatabaseRoundStore:
    """The RoundStore of one attempt. on_lost: called when another process owns the run."""

    def __init__(
        self,
        run: Run,
        database: Database,
        checkpoint: CheckpointTracker,
        allowance: Allowance,
        on_lost: Callable[[], None],
    ) -> None:
        self._run = run
        self._allowance = allowance
        self._database = database
        self._checkpoint = checkpoint
        self._on_lost = on_lost

    async def begin(self, new_round: NewRound) -> list[str]:
        rows = [row_of(self._run, new_round, tab, call) for tab, call in enumerate(new_round.calls)]
        # The reasoning is stored with the round; the message keeps only the reasoning that follows.
        checkpoint = replace(self._checkpoint.build(), reasoning="") if not new_round.inside else None
        session = self._run.turn.session
        approvals = [
            Approval.for_call(row, session, call.asked_tool, call.question)
            for row, call in zip(rows, new_round.calls, strict=True)
            if call.needs_approval and call.tool
        ]
        await self._write(
            begin_round, self._run, BegunRound(rows, checkpoint, self._allowance.spent, approvals)
        )
        return [str(row.pk) for row in rows]

    async def start(self, approved: Mapping[str, PlannedCall]) -> None:
        await self._write(start_approved, self._run, approved)

    async def finish(self, row: str, result: CallResult, report: AgentReport) -> None:
        if result.logged_as:
            log_safe_summary(f"{result.logged_as}_persist_started", tool_call=row)
        await self._write(finish_call, self._run, row, result, report)
        if result.logged_as:
            log_safe_summary(f"{result.logged_as}_persist_done", tool_call=row)

    async def wait(self, row: str, call: PlannedCall) -> None:
        row_asked = ToolCall(id=UUID(row), run=self._run, name=call.name, arguments=dict(call.arguments))
        approval = Approval.for_call(row_asked, self._run.turn.session, call.asked_tool, call.question)
        await self._write(wait_for_answer, self._run, approval)

    async def store_images(self, row: str, name: str, contents: Sequence[bytes]) -> Sequence[Image]:
        return await store_and_read_images(self._database, self._run, ReturnedImages(row, name, contents))

    async def _write(self, function: Callable[..., bool], *args: Any) -> None:
        if not await until_written(self._database.call_with_retry(function, *args)):
            self._on_lost()
            await asyncio.Event().wait()  # until on_lost() has cancelled this task


async def until_written(writing: Coroutine[Any, Any, bool]) -> bool:
    """Await a write; a cancellation takes effect when it has ended, so that readers are shown what is stored."""
    task = asyncio.create_task(writing)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait({task})
        if current := asyncio.current_task():
            current.cancel()  # again, at the next await
        return task.result()


def begin_round(run: Run, begun: BegunRound) -> bool:
    """Store the round in one transaction. Returns False if another process owns the run. Idempotent."""
    reach("before_round")
    with transaction.atomic():
        if not owns_run(run):
            return False
        if begun.held:
            save_checkpoint(run.owner or 0, begun.held)
        ToolCall.objects.bulk_create(begun.rows, ignore_conflicts=True)
        if begun.approvals:
            Approval.objects.bulk_create(begun.approvals, ignore_conflicts=True)
        Run.objects.spend(run.pk, begun.spent)
    reach("after_round_began")
    return True


def start_approved(run: Run, approved: Mapping[str, PlannedCall]) -> bool:
    """Store that calls which waited run now. Returns False if another process owns the run. Idempotent."""
    with transaction.atomic():
        if not owns_run(run):
            return False
        for row, call in approved.items():
            ToolCall.objects.filter(pk=row).update(
                status=ToolCallStatus.RUNNING,
                arguments=dict(call.arguments),
                token_count=count_tokens(call_text(call.name, call.arguments)),
            )
    reach("after_approved_calls_began")
    return True


def wait_for_answer(run: Run, approval: Approval) -> bool:
    """Store that a call waits, with the arguments that its user is shown. Returns False if another process owns the run. Idempotent."""
    with transaction.atomic():
        if not owns_run(run):
            return False
        ToolCall.objects.filter(pk=approval.tool_call_id).update(
            status=ToolCallStatus.WAITING, arguments=approval.arguments
        )
        Approval.objects.bulk_create([approval], ignore_conflicts=True)
    return True


def finish_call(run: Run, row: str, result: CallResult, report: AgentReport) -> bool:
    """Store the result of a call. Returns False if another process owns the run. Idempotent."""
    reach("before_call_ended")
    with transaction.atomic():
        if not owns_run(run):
            return False
        ToolCall.objects.filter(pk=row).update(
            **(_arguments_that_ran(row, result.arguments) if result.arguments is not None else {}),
            status=result.status,
            response=result.response,
            documents=[document_record(document) for document in result.documents],
            structured=dict(result.structured) if result.structured is not None else None,
            report=report.report,
            report_reasoning=report.reasoning,
            **structs.asdict(result.facts),
        )
    reach("after_call_ended")
    return True


def _arguments_that_ran(row: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns to change, with the arguments that the call really ran with."""
    name = ToolCall.objects.values_list("name", flat=True).filter(pk=row).first() or ""
    return {"arguments": dict(arguments), "token_count": count_tokens(call_text(name, arguments))}


def row_of(run: Run, new_round: NewRound, tab: int, call: PlannedCall) -> ToolCall:
    # A refused call is stored as ended, so that an attempt that resumes the round does not run it.
    begins_as = ToolCallStatus.WAITING if call.needs_approval else ToolCallStatus.RUNNING
    if call.is_handed_over:
        begins_as = ToolCallStatus.PENDING
    status, response = (call.result.status, call.result.response) if call.result else (begins_as, "")
    return ToolCall(
        id=uuid4(),
        run=run,
        message_id=None if new_round.inside else run.message_id,
        parent_tool_call_id=new_round.inside or None,
        turn_number=new_round.number,
        tab_index=tab,
        tool_call_id=call.id,
        name=call.name,
        arguments=dict(call.arguments),
        text_before=new_round.before.text,
        reasoning=new_round.before.reasoning,
        reasoning_ms=new_round.before.reasoning_ms,
        token_count=count_tokens(call_text(call.name, call.arguments)),
        status=status,
        response=response,
        sent_back=asdict(new_round.sent_back) if new_round.sent_back and tab == 0 else None,
    )


logger = logging.getLogger(__name__)

# The answer goes on without images that have not been read by then; later turns have them.
WAIT_S: Final = 15.0
_POLL_S: Final = 0.1


class ReturnedImages(NamedTuple):
    """The images of one call. row: the row of the call.  name: the name of its tool.  contents: not parsed yet."""

    row: str
    name: str
    contents: Sequence[bytes]


async def store_and_read_images(database: Database, run: Run, returned: ReturnedImages) -> Sequence[Image]:
    """Store images and return those that were read, with contents. Empty if there is no room or the storage fails."""
    if not await database.call_with_retry(store_images, run, returned):
        return ()
    try:
        async with asyncio.timeout(WAIT_S):
            while await database.call_with_retry(_are_being_read, returned.row):  # noqa: ASYNC110  another process reads them
                await asyncio.sleep(_POLL_S)
    except TimeoutError:
        logger.warning("tool call %s: its images have not been read within %g s", returned.row, WAIT_S)
    return await database.call_with_retry(_load, returned.row)


def store_images(run: Run, returned: ReturnedImages) -> bool:
    """Store contents and rows, and have them read. Returns False if nothing is stored.

    Replaces the images of an earlier execution.
    """
    files = [_row_of(run, returned, number) for number in range(1, len(returned.contents) + 1)]
    stored: list[str] = []
    try:
        with blobs.discarded_on_failure(stored):
            for file, content in zip(files, returned.contents, strict=True):
                file.content.name = blobs.store(BytesIO(content), blobs.upload_path(file.pk))
                stored.append(str(file.content.name))
            is_stored = _store_rows(run, returned.row, files)
    except (OSError, ApiError) as error:
        logger.warning("tool call %s: its images are not stored: %s", returned.row, error)
        return False
    if not is_stored:
        blobs.discard_all(stored)
    reach("after_tool_images_stored")
    return is_stored


def _row_of(run: Run, returned: ReturnedImages, number: int) -> File:
    content = returned.contents[number - 1]
    return File(
        pk=uuid.uuid4(),
        owner_id=run.turn.session.owner_id,
        name=f"{returned.name}, image {number}",
        content_type=detect_type("", content[:HEAD_BYTES]).content_type,
        kind=FileKind.IMAGE,
        size_bytes=len(content),
        is_tool_image=True,
    )


def _store_rows(run: Run, row: str, files: Sequence[File]) -> bool:
    """Store the rows. Returns False if another process owns the run. Raises ApiError if the owner has no room."""
    owner = run.turn.session.owner_id
    with transaction.atomic():
        if not owns_run(run):
            return False
        quotas.lock_user(User(pk=owner))
        ToolCallImage.objects.filter(tool_call=UUID(row)).delete()
        size = sum(file.size_bytes for file in files)
        quotas.check_storage(owner, StoredBytes.objects.sum_of(owner), size)
        File.objects.bulk_create(files)
        ToolCallImage.objects.bulk_create(
            ToolCallImage(tool_call_id=UUID(row), file=file, position=position)
            for position, file in enumerate(files)
        )
        for file in files:
            new_files.extract_on_commit(file)
    return True


def _are_being_read(row: str) -> bool:
    return File.objects.filter(tool_calls__tool_call=UUID(row), status=FileStatus.PROCESSING).exists()


def _load(row: str) -> Sequence[Image]:
    images = load_tool_images([UUID(row)], with_contents=True).get(UUID(row), ())
    return [image for image in images if image.url]
