"""Counts the tokens that a response would read: its turn is started, measured by its rows, and taken back."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from django.db import transaction
from django.db.models import F, Q
from msgspec import json, to_builtins

from chat.models import ChatMessage, Run, ToolCall, Turn
from chat.models.sql.message_sizes import SIZES
from chat.models.sql.model_configs import STANDING_PROMPTS
from chat.models.tool_call import ToolCallStatus
from chat.prompts.definition import base_prompt_of
from chat.protocol.errors import ApiError
from chat.transcript.caller_tools import CallerTools
from chat.transcript.tokens import OMITTED_RESPONSE_TOKENS, TOKENS_PER_MESSAGE, count_tokens
from features.openai.authentication import Caller
from features.openai.response_body import OpenAIResponseBody
from features.openai.responses import start_response
from llm_worker.loading.branch_summaries import ModelWindow, find_summary
from llm_worker.request.context import request_budget
from llm_worker.request.summary_choice import BranchSummary


def count_input(caller: Caller, body: OpenAIResponseBody) -> int:
    """Return the tokens of the first request that the model would get, as its server counts them or as estimated.

    Raises ApiError where the response would not begin. Nothing is stored.
    """
    if body.inline_files:
        message = "A file in the request is read for an answer alone. Upload it, and name it by file_id."
        raise ApiError("invalid_value", message, field="input")
    with transaction.atomic():
        texts = _load(start_response(caller, body).run)
        transaction.set_rollback(True)
    # Long texts take a while: nothing is locked any more.
    return texts.measure()


class _InputTexts(NamedTuple):
    """What a response would read. factor: the tokens of the model's server by estimated ones.

    measured: tokens that the server has counted.  stored: tokens by stored counts.  messages: those without a count.
    outputs: of calls.  functions: as JSON; measured_functions: those that are in `measured`.
    """

    factor: float
    measured: int
    stored: int
    messages: Sequence[str]
    outputs: Sequence[str]
    functions: str
    measured_functions: str = ""

    def measure(self) -> int:
        tokens = self.stored + sum(count_tokens(text) + TOKENS_PER_MESSAGE for text in self.messages if text)
        # By stored counts, a line stands for each of the outputs.
        tokens += sum(count_tokens(output) - OMITTED_RESPONSE_TOKENS for output in self.outputs)
        tokens += count_tokens(self.functions) - count_tokens(self.measured_functions)
        return self.measured + round(self.factor * tokens)


def _load(run: Run) -> _InputTexts:
    config = run.model_config
    # The worker knows the tools of an agent and what prompts say of them: it has counted both.
    before = _find_measured(run)
    usage = before.context_usage if before else None
    summary = _find_summary(run, usage)
    # The messages behind the summary, and the answer.
    length = summary.cutoff_depth + 1 if summary else None
    texts = _InputTexts(
        config.estimate_factor if config else 1.0,
        0,
        _count_branch(run, length) + (summary.tokens if summary else 0),
        [run.dynamic_context],
        _load_outputs(run, length),
        _encode_functions(run.turn),
    )
    if before and usage:
        measured = usage["system"] + usage["tools"]
        return texts._replace(measured=measured, measured_functions=_encode_functions(before.turn))
    return texts._replace(messages=[*texts.messages, *_load_prompts(run)])


def _find_measured(run: Run) -> Run | None:
    """Return the latest run of the model that has answered the question, or else what is before it, and was measured."""
    question = run.turn.user_message
    measured = Run.objects.filter(model_config=run.model_config, context_usage__isnull=False)
    measured = measured.select_related("turn")
    of_question = measured.filter(turn__in=[*question.turns.values_list("pk", flat=True)])
    return of_question.order_by("-created_at").first() or measured.filter(message=question.parent_id).first()


def _load_prompts(run: Run) -> Sequence[str]:
    session = run.turn.session
    [standing] = STANDING_PROMPTS.all(owner=session.owner_id)
    replaces = session.agent is not None and session.agent.replaces_system_prompt
    base = "" if replaces else base_prompt_of(standing.edited)
    return base, session.own_prompt(), standing.instructions, session.own_reminder


def _find_summary(run: Run, usage: Mapping[str, int] | None) -> BranchSummary | None:
    """Find the summary that the model would be sent. usage: of a run before, which leaves as much to the history.

    Without it, nothing but the history counts as needing room.
    """
    config, question = run.model_config, run.turn.user_message_id
    if config is None:
        return find_summary(question, None)
    prompts, tools = ((usage or {}).get(part, 0) / config.estimate_factor for part in ("system", "tools"))
    limits = config.context_window, config.answer_reserve
    budget = request_budget(*limits, round(tools), factor=config.estimate_factor)
    return find_summary(question, ModelWindow(budget.history_window(round(prompts)), config.supports_vision))


def _count_branch(run: Run, length: int | None) -> int:
    """Count the question with what precedes it, and the rounds that the answer begins with.

    length: the messages to count; None: all.
    """
    sizes = [size for size in SIZES.all(leaf=run.message_id) if length is None or size.depth < length]
    sees_images = bool(run.model_config and run.model_config.supports_vision)
    tokens = sum(size.tokens + size.image_tokens * sees_images for size in sizes)
    # The answer is no message beside its rounds yet.
    return tokens - TOKENS_PER_MESSAGE


def _load_outputs(run: Run, length: int | None) -> list[str]:
    """Load the responses of calls that the model reads. Of other calls, later turns do not show them."""
    branch = ChatMessage.objects.branch_to(run.message_id, at_most=length).values_list("pk", flat=True)
    is_callers = Q(turn_number__lt=F("run__turn__given_rounds")) | Q(status=ToolCallStatus.PENDING)
    read_calls = ToolCall.objects.filter(Q(run=run) | is_callers, message__in=[*branch])
    return [*read_calls.values_list("response", flat=True)]


def _encode_functions(turn: Turn) -> str:
    functions = CallerTools.from_json(turn.caller_tools).functions
    return json.encode(to_builtins(functions)).decode() if functions else ""
