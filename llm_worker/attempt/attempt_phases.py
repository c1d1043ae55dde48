"""The phases of an attempt, as immutable values, each made from the one before: opened, briefed, ended.

An attempt that is cancelled before it is briefed ends from the first. attempt_completion.py has the last.
"""

import asyncio
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Self
from uuid import UUID

from django.conf import settings

from chat.log.producer import PacketProducer
from chat.models import Run
from chat.models.run_spending import run_limits
from chat.protocol.wire import Snapshot
from chat.transcript.dialect import UNTAGGED_THINKING
from chat.transcript.packets import Blocks
from chat.transcript.run_options import asks_for_json
from chat.transcript.token_usage import TokenUsage
from llm_worker.attempt.checkpointer import CheckpointTracker
from llm_worker.loop.allowance import Allowance
from llm_worker.loop.brief import Brief
from llm_worker.loop.context_report import ContextReport
from llm_worker.loop.emitter import AnswerForm, Emitter
from llm_worker.loop.state import RunState
from llm_worker.records.request_recorder import RequestRecorder
from llm_worker.records.token_calibration import ReportedRequest
from llm_worker.records.window_usage import WindowUsage
from llm_worker.upstream.model_request import Request


@dataclass(frozen=True)
class OpenedAttempt:
    """A claimed run, whose packet log this attempt writes.

    started_at: a time on the event loop's clock, not after the lease began.  is_shown: readers see what earlier
    attempts saved, in the snapshot that opened the log.
    """

    run: Run
    producer: PacketProducer
    started_at: float
    is_shown: bool = False

    def continue_from(self, snapshot: Snapshot) -> Self:
        """Open the log with what earlier attempts saved."""
        self.producer.open_with_snapshot(snapshot)
        return replace(self, is_shown=True)

    def show_start(self) -> None:
        for placement, packet in self._blocks().run_start(self.run.model):
            self.producer.emit(placement, packet)

    def emitter(self, state: RunState, *, is_json: bool = False, is_untagged: bool = False) -> Emitter:
        form = AnswerForm(settings.MAX_RUN_CHARACTERS, is_json=is_json, is_untagged=is_untagged)
        return Emitter(self.producer, state, self._blocks(), asyncio.get_running_loop().time, form)

    def _blocks(self) -> Blocks:
        return Blocks(model_index=self.run.model_index)


@dataclass(frozen=True)
class BriefedAttempt:
    """An attempt with everything that its loop needs. What the loop leaves to be saved is in the state of the emitter.

    requests, reported: the requests that were sent, and those whose tokens the server has counted.
    """

    opened: OpenedAttempt
    brief: Brief
    emitter: Emitter
    checkpoint: CheckpointTracker
    allowance: Allowance
    window_usage: WindowUsage
    requests: RequestRecorder = field(default_factory=RequestRecorder)
    reported: list[ReportedRequest] = field(default_factory=list)

    @classmethod
    def begin(cls, opened: OpenedAttempt, brief: Brief) -> Self:
        state = RunState(usage=brief.earlier.usage, cycles=brief.earlier.cycles)
        emitter = opened.emitter(
            state,
            is_json=asks_for_json(brief.options),
            is_untagged=UNTAGGED_THINKING in brief.model.dialect,
        )
        return cls(
            opened,
            brief,
            emitter,
            CheckpointTracker(opened.run, emitter, opened.producer, opened.started_at, brief.setup),
            Allowance(run_limits(), brief.earlier.spent),
            WindowUsage(settings.COMPRESSION_TRIGGER_RATIO, brief),
        )

    def record(self, inside: str, request: Request, report: ContextReport) -> None:
        """Record a request that is being sent. inside: the row of the agent call that sends it; may be empty."""
        tool_call = UUID(inside) if inside else None
        self.requests.record(request.sent_messages, datetime.now(UTC), tool_call=tool_call, report=report)
        if not inside:
            self.window_usage.record(report.context)

    def record_usage(self, request: Request, usage: TokenUsage) -> None:
        if reported := ReportedRequest.compare(request, usage):
            self.reported.append(reported)
