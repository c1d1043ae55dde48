"""From rows to work: how long a branch is for its models, and what of it is to be summarised. Reads the database."""

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
    measured,
    split_at,
)
from compression.prefetch import find_prepared, is_nearly_due
from compression.prompt import said
from compression.summarise import Work, shown_tokens
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

# Of the window of history, for the summary; and never more than this.
SUMMARY_SHARE = 8
MOST_SUMMARY_TOKENS = 2_000
FEWEST_WORDS = 50


@dataclass(frozen=True)
class Case:
    """One branch that is worth a summary.  cutoff: the last message it will stand for.  summariser: who writes it.

    is_ahead: it is not needed yet.  written: what was written ahead of time; then nobody is asked.
    """

    work: Work
    params: CompressionParams
    reserved_tokens: int
    cutoff: str
    summariser: ModelConfig
    is_ahead: bool = False
    written: str = ""

    def tokens_after(self, summary_tokens: int) -> int:
        return self.params.history_tokens - self.work.replaced_tokens + shown_tokens(summary_tokens)


@dataclass(frozen=True)
class Measured:
    """What a later request would hold of a branch.  split: None, if nothing is older than what must stay."""

    rows: Sequence[Row]
    params: CompressionParams
    reserved_tokens: int
    split: Split | None
    summary: Summary | None
    summary_tokens: int


def case_of(held: Compression) -> Case | None:
    """None: there is nothing to summarise, or not yet. Raises ModelFailed if nobody can be asked."""
    config = held.model_config
    if config is None:
        raise ModelFailed("model_not_configured", f"{held.model} has no configuration")
    found = measure(held, config)
    is_wanted = found.params.is_due or held.triggered_by != TriggeredBy.AUTO
    prepared = find_prepared(held, found.rows) if held.triggered_by == TriggeredBy.AUTO else None
    is_ahead = not is_wanted and prepared is None and is_nearly_due(found.params)
    split = split_at(found.rows, prepared.prepared_cutoff_id) if prepared else found.split
    if split is None or not (is_wanted or is_ahead):
        return None
    summariser = _summariser(config)
    return Case(
        work=_work(held, found, split, summariser),
        params=found.params,
        reserved_tokens=found.reserved_tokens,
        cutoff=split.cutoff,
        summariser=summariser,
        is_ahead=is_ahead,
        written=prepared.prepared_text if prepared else "",
    )


def measure(held: Compression, config: ModelConfig) -> Measured:
    run = _run(held)
    branch = load_branch(held.leaf_id)
    if not stores_prompt_blocks(run.turn.session.agent):
        branch = branch.without_blocks()
    renderer = MessageRenderer(estimate_tokens, sees_images=config.supports_vision)
    rows = measured(branch.entries, renderer)
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
    return Measured(rows, params, reserved, split, branch.summary, summary_tokens)


def _work(held: Compression, found: Measured, split: Split, summariser: ModelConfig) -> Work:
    model = resolve_model(summariser)
    if model is None:
        raise ModelFailed("model_not_configured", f"{summariser.name} has no address")
    tokens_of = exact_counter(summariser.tokenizer) or estimate_tokens
    renderer = MessageRenderer(tokens_of)
    # What came after the parent is one answer of perhaps several: no other's history may learn of it.
    shown = [row.entry for row in split.recent]
    ends = next(index for index, entry in enumerate(shown) if entry.id == str(held.parent_id))
    longest = min(
        found.params.history_window // SUMMARY_SHARE, model.max_output_tokens // 2, MOST_SUMMARY_TOKENS
    )
    return Work(
        model=model,
        older=said([row.entry for row in split.older], renderer),
        recent=said(shown[: ends + 1], renderer),
        replaced_tokens=found.summary_tokens + sum(row.tokens for row in split.older),
        budget=request_budget(summariser.context_window, model.max_output_tokens).tokens,
        words=max(FEWEST_WORDS, longest * 3 // 4),
        tokens_of=tokens_of,
        previous=found.summary.text if found.summary else "",
    )


def _summariser(config: ModelConfig) -> ModelConfig:
    name = settings.COMPRESSION_MODEL
    chosen = ModelConfig.objects.filter(name=name, enabled=True).first() if name else config
    if chosen is None:
        raise ModelFailed("model_not_configured", f"COMPRESSION_MODEL {name} is not configured")
    if chosen.is_demo:
        raise ModelFailed("model_not_configured", "the demo cannot summarise")
    return chosen


def _run(held: Compression) -> Run:
    """The one that wrote the leaf; of a question without an answer on this branch, the newest."""
    runs = Run.objects.for_work().select_related("turn__session__agent").order_by("-created_at")
    run = runs.filter(message=held.leaf_id).first() or runs.filter(turn__user_message=held.parent_id).first()
    if run is None:
        raise ModelFailed("model_not_configured", f"nobody has answered message {held.parent_id}")
    return run


def _smallest_window(run: Run, config: ModelConfig) -> int:
    """Of the turn's models: its answers share the summary."""
    others = ModelConfig.objects.filter(runs__turn=run.turn_id)
    return min(config.context_window, *others.values_list("context_window", flat=True), config.context_window)


def _reserved(run: Run, config: ModelConfig, branch: Branch, renderer: MessageRenderer) -> int:
    """Tokens of the system prompt, tools, agent prompt, project and dynamic context, and of the answer."""
    agent = run.turn.session.agent
    tools = select_tools(agent.tools) if agent and config.supports_tools else []
    # What is stored in the branch counts where it stands.
    project = (
        ProjectContext(branch)
        if stores_prompt_blocks(run.turn.session.agent)
        else build_project_context(run, config, branch, in_the_branch=False)
    )
    prompt_parts = build_prompt_parts(run, tools, project)
    said_now = prompt_parts.dynamic_context or dynamic_context.build(run.turn.session)
    texts = (prompt_parts.system, prompt_parts.agent_prompt, prompt_parts.project, said_now)
    shown = sum(renderer.render_text("S", text).tokens for text in texts if text)
    return shown + schema_tokens(tools) + config.max_output_tokens
