"""Reads a branch from the database, measures it, and plans the summary that it needs.

Does not decide where the summary ends (plan.py), ask a model or write rows.
"""

from dataclasses import dataclass, replace

from django.conf import settings

from chat.compressions.summaries import Summary
from chat.models import Compression, ModelConfig, Run, TriggeredBy
from chat.models.turn import SentBeside
from chat.prompts import dynamic_context
from chat.prompts.prompt_blocks import run_context, stores_prompt_blocks
from chat.turns.knowledge_bases import load_bound_bases
from compression.plan import (
    CompressionParams,
    Split,
    get_compression_params,
    get_messages_to_summarize,
    measure_rows,
)
from compression.prompt import to_messages
from compression.summarise import SummaryRequest, shown_tokens
from llm_worker.loading.branch import load_branch
from llm_worker.loading.branch_summaries import ModelWindow
from llm_worker.loading.turn_context import TurnContext, budget_of
from llm_worker.request.message_renderer import MessageRenderer
from llm_worker.request.token_counters import estimate_tokens, exact_counter
from llm_worker.upstream.deltas import ModelFailed
from llm_worker.upstream.endpoint import resolve_model

# The share of the history window that a summary may take, but at most MAX_SUMMARY_TOKENS.
SUMMARY_SHARE = 1 / 8
MAX_SUMMARY_TOKENS = 2_000
MIN_SUMMARY_WORDS = 50


@dataclass(frozen=True)
class CompressionJob:
    """A planned summary.  cutoff: the id of the last message it will replace.  summariser: the model that writes it.

    otherwise: the same with another model, which is asked if no text of this one is acceptable.
    """

    request: SummaryRequest
    params: CompressionParams
    reserved_tokens: int
    cutoff: str
    summariser: ModelConfig
    otherwise: "CompressionJob | None" = None

    def tokens_after(self, summary_tokens: int) -> int:
        """Return the tokens of the history once a summary of `summary_tokens` is in use."""
        return self.params.history_tokens - self.request.replaced_tokens + shown_tokens(summary_tokens)


@dataclass(frozen=True)
class BranchMeasurement:
    """A branch as later requests would show it.  split: None if all rows must stay verbatim."""

    params: CompressionParams
    reserved_tokens: int
    split: Split | None
    summary: Summary | None
    summary_tokens: int


def plan_job(held: Compression) -> CompressionJob | None:
    """Plan the summary. Returns None if none is needed or possible. Raises ModelFailed if no model can write it."""
    config = held.model_config
    if config is None:
        raise ModelFailed("model_not_configured", f"{held.model} has no configuration")
    branch = measure_branch(held, config)
    is_wanted = branch.params.is_due or held.is_history_cut or held.triggered_by != TriggeredBy.AUTO
    if branch.split is None or not is_wanted:
        return None
    summariser = _summariser(config)
    job = CompressionJob(
        request=_summary_request(held, branch, branch.split, summariser),
        params=branch.params,
        reserved_tokens=branch.reserved_tokens,
        cutoff=branch.split.cutoff,
        summariser=summariser,
    )
    if summariser.pk == config.pk or config.is_demo:
        return job
    own = _summary_request(held, branch, branch.split, config)
    return replace(job, otherwise=replace(job, request=own, summariser=config))


def measure_branch(held: Compression, config: ModelConfig) -> BranchMeasurement:
    run = _run(held)
    reserved = _reserved(run, config) if held.reserved_tokens is None else held.reserved_tokens
    history_window = max(0, config.counted_window - reserved)
    # The branch as a later run of this model sees it, with the summary that it would use.
    sees_images = config.supports_vision
    branch = load_branch(
        held.leaf_id, window=lambda: ModelWindow(history_window, sees_images), sees_images=sees_images
    )
    if not stores_prompt_blocks(run.turn.session.agent):
        branch = branch.without_blocks()
    renderer = MessageRenderer(estimate_tokens, sees_images=config.supports_vision)
    rows = measure_rows(branch.entries, renderer)
    summary_tokens = shown_tokens(branch.summary.token_count) if branch.summary else 0
    params = get_compression_params(
        rows,
        summary_tokens,
        history_window=history_window,
        trigger_ratio=settings.COMPRESSION_TRIGGER_RATIO,
    )
    # Of a history that is longer than the window as much is kept as of one that fills the window.
    kept_of = min(params.history_tokens, params.history_window)
    split = get_messages_to_summarize(rows, kept_of, settings.RECENT_MESSAGES_RATIO)
    return BranchMeasurement(params, reserved, split, branch.summary, summary_tokens)


def _summary_request(
    held: Compression, branch: BranchMeasurement, split: Split, summariser: ModelConfig
) -> SummaryRequest:
    model = resolve_model(summariser)
    if model is None:
        raise ModelFailed("model_not_configured", f"{summariser.name} has no address")
    tokens_of = exact_counter(summariser.tokenizer) or estimate_tokens
    renderer = MessageRenderer(tokens_of)
    # Sibling answers share the summary, so nothing after its parent is shown to the model that writes it.
    recent = [row.entry for row in split.recent]
    parent_index = next(index for index, entry in enumerate(recent) if entry.id == str(held.parent_id))
    max_tokens = min(
        int(branch.params.history_window * SUMMARY_SHARE), summariser.answer_reserve // 2, MAX_SUMMARY_TOKENS
    )
    return SummaryRequest(
        model=model,
        older=to_messages([row.entry for row in split.older], renderer),
        recent=to_messages(recent[: parent_index + 1], renderer),
        replaced_tokens=branch.summary_tokens + sum(row.tokens for row in split.older),
        budget=budget_of(summariser).tokens,
        words=max(MIN_SUMMARY_WORDS, max_tokens * 3 // 4),
        tokens_of=tokens_of,
        previous=branch.summary.text if branch.summary else "",
        limit_s=settings.RUN_DEADLINE_S,
    )


def _summariser(config: ModelConfig) -> ModelConfig:
    name = settings.COMPRESSION_MODEL
    chosen = ModelConfig.objects.usable().filter(name=name).first() if name else config
    if chosen is None:
        raise ModelFailed("model_not_configured", f"COMPRESSION_MODEL {name} is not configured")
    if chosen.is_demo:
        raise ModelFailed("model_not_configured", "the demo model cannot summarise")
    return chosen


def _run(held: Compression) -> Run:
    """Return the run that wrote the leaf or, if the leaf is a user message, its newest run."""
    runs = Run.objects.for_work().select_related("turn__session__agent").order_by("-created_at")
    run = runs.filter(message=held.leaf_id).first() or runs.filter(turn__user_message=held.parent_id).first()
    if run is None:
        raise ModelFailed("model_not_configured", f"no run has answered message {held.parent_id}")
    return run


def _reserved(run: Run, config: ModelConfig) -> int:
    """Return the tokens of the window that would not be left for history if the run were sent now."""
    session = run.turn.session
    provided = dynamic_context.build(session, load_bound_bases(session, (), run.turn.user_message.parent_id))
    context = run.dynamic_context or run_context(session.agent, provided, SentBeside())
    return config.counted_window - TurnContext.of_run(run, config, dynamic_context=context).history_window
