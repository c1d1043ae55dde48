"""Reads a branch from the database, measures it, and plans the summary that it needs.

Does not decide where the summary ends (plan.py), ask a model or write rows.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from django.conf import settings

from chat.compressions.summaries import Summary
from chat.models import Compression, ModelConfig, Run, TriggeredBy
from chat.prompts import dynamic_context
from chat.prompts.prompt_blocks import stores_prompt_blocks
from compression.plan import (
    CompressionParams,
    Row,
    Split,
    get_compression_params,
    get_messages_to_summarize,
    measure_rows,
    split_at,
)
from compression.prefetch import find_prepared, is_nearly_due
from compression.prompt import to_messages
from compression.summarise import SummaryRequest, shown_tokens
from llm_worker.loading.branch import Branch, load_branch
from llm_worker.loading.build_brief import build_prompt_parts
from llm_worker.loading.project import ProjectContext, build_project_context
from llm_worker.request.context import request_budget
from llm_worker.request.message_renderer import MessageRenderer
from llm_worker.request.tokens import estimate_tokens, exact_counter
from llm_worker.tools import select_tools
from llm_worker.tools.schemas import schema_tokens
from llm_worker.upstream.deltas import ModelFailed
from llm_worker.upstream.endpoint import resolve_model

# A summary may take one eighth of the history window, but at most MAX_SUMMARY_TOKENS.
SUMMARY_SHARE = 8
MAX_SUMMARY_TOKENS = 2_000
MIN_SUMMARY_WORDS = 50


@dataclass(frozen=True)
class CompressionJob:
    """A planned summary.  cutoff: id of the last message it will replace.  summariser: the model that writes it.

    is_ahead: it is prepared before it is needed.  prepared_text: written ahead of time; then no model is asked.
    """

    request: SummaryRequest
    params: CompressionParams
    reserved_tokens: int
    cutoff: str
    summariser: ModelConfig
    is_ahead: bool = False
    prepared_text: str = ""

    def tokens_after(self, summary_tokens: int) -> int:
        """Tokens of the history once the summary is in use."""
        return self.params.history_tokens - self.request.replaced_tokens + shown_tokens(summary_tokens)


@dataclass(frozen=True)
class BranchMeasurement:
    """A branch as later requests would show it.  split: None if nothing is older than what must stay verbatim."""

    rows: Sequence[Row]
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
    is_wanted = branch.params.is_due or held.triggered_by != TriggeredBy.AUTO
    prepared = find_prepared(held, branch.rows) if held.triggered_by == TriggeredBy.AUTO else None
    is_ahead = not is_wanted and prepared is None and is_nearly_due(branch.params)
    split = split_at(branch.rows, prepared.prepared_cutoff_id) if prepared else branch.split
    if split is None or not (is_wanted or is_ahead):
        return None
    summariser = _summariser(config)
    return CompressionJob(
        request=_summary_request(held, branch, split, summariser),
        params=branch.params,
        reserved_tokens=branch.reserved_tokens,
        cutoff=split.cutoff,
        summariser=summariser,
        is_ahead=is_ahead,
        prepared_text=prepared.prepared_text if prepared else "",
    )


def measure_branch(held: Compression, config: ModelConfig) -> BranchMeasurement:
    run = _run(held)
    branch = load_branch(held.leaf_id)
    if not stores_prompt_blocks(run.turn.session.agent):
        branch = branch.without_blocks()
    renderer = MessageRenderer(estimate_tokens, sees_images=config.supports_vision)
    rows = measure_rows(branch.entries, renderer)
    summary_tokens = shown_tokens(branch.summary.token_count) if branch.summary else 0
    reserved = held.reserved_tokens
    if reserved is None:
        reserved = _reserved(run, config, branch, renderer)
    params = get_compression_params(
        rows,
        summary_tokens,
        history_window=max(0, _smallest_window(run, config) - reserved),
        trigger_ratio=settings.COMPRESSION_TRIGGER_RATIO,
    )
    split = get_messages_to_summarize(rows, params.history_tokens, settings.RECENT_MESSAGES_RATIO)
    return BranchMeasurement(rows, params, reserved, split, branch.summary, summary_tokens)


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
        branch.params.history_window // SUMMARY_SHARE, model.max_output_tokens // 2, MAX_SUMMARY_TOKENS
    )
    return SummaryRequest(
        model=model,
        older=to_messages([row.entry for row in split.older], renderer),
        recent=to_messages(recent[: parent_index + 1], renderer),
        replaced_tokens=branch.summary_tokens + sum(row.tokens for row in split.older),
        budget=request_budget(summariser.context_window, model.max_output_tokens).tokens,
        words=max(MIN_SUMMARY_WORDS, max_tokens * 3 // 4),
        tokens_of=tokens_of,
        previous=branch.summary.text if branch.summary else "",
    )


def _summariser(config: ModelConfig) -> ModelConfig:
    name = settings.COMPRESSION_MODEL
    chosen = ModelConfig.objects.filter(name=name, enabled=True).first() if name else config
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


def _smallest_window(run: Run, config: ModelConfig) -> int:
    """The smallest context window of the turn's models, whose answers share the summary."""
    others = ModelConfig.objects.filter(runs__turn=run.turn_id)
    return min(config.context_window, *others.values_list("context_window", flat=True), config.context_window)


def _reserved(run: Run, config: ModelConfig, branch: Branch, renderer: MessageRenderer) -> int:
    """Return the tokens of everything but history: prompts, tools, project, dynamic context and the answer."""
    agent = run.turn.session.agent
    tools = select_tools(agent.tools) if agent and config.supports_tools else []
    # Stored blocks are part of the branch and counted there.
    project = (
        ProjectContext(branch)
        if stores_prompt_blocks(run.turn.session.agent)
        else build_project_context(run, config, branch, in_the_branch=False)
    )
    prompt_parts = build_prompt_parts(run, tools, project)
    current_context = prompt_parts.dynamic_context or dynamic_context.build(run.turn.session)
    texts = (prompt_parts.system, prompt_parts.agent_prompt, prompt_parts.project, current_context)
    prompts = sum(renderer.render_text("S", text).tokens for text in texts if text)
    return prompts + schema_tokens(tools) + config.max_output_tokens
