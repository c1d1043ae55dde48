"""The parts around the branch in every request of a run, and the history window that they leave.

They are known before the branch is loaded, and decide how much of it is loaded. Reads the database.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from chat.models import Agent, ModelConfig, Run, ToolCall
from chat.models.sql.model_configs import STANDING_PROMPTS, StandingPrompts
from chat.prompts.definition import base_prompt_of
from chat.prompts.prompt_blocks import stores_prompt_blocks
from chat.runs import turn_parts
from chat.transcript.dialect import MAX_TOOLS, max_tools, refused_tools
from chat.transcript.tokens import TOKENS_PER_MESSAGE
from chat.transcript.waits import CallerTools
from llm_worker.loading.branch_summaries import ModelWindow
from llm_worker.loading.project import NOT_SHOWN, ProjectFiles, estimate_project_tokens, load_project
from llm_worker.request.context import Budget, request_budget
from llm_worker.request.system_prompt import (
    AgentPrompt,
    SystemPrompts,
    add_instructions,
    build_system_prompts,
)
from llm_worker.request.token_counters import estimate_tokens
from llm_worker.tools.knowledge_base_search import tool as knowledge_base_search
from llm_worker.tools.registry import PROJECT_TOOLS, add_caller_tools, add_source_tools, select_tools
from llm_worker.tools.tool import Tool, callers_names, schema_tokens, tool_schemas
from llm_worker.upstream.request_body import name_of, taken_tools
from llm_worker.worker_part import WorkerPart


def budget_of(config: ModelConfig, tools: Sequence[Tool] = ()) -> Budget:
    """Return the budget of a request, in tokens of our estimate or of the model's own encoding."""
    return request_budget(
        config.context_window, config.answer_reserve, schema_tokens(tools), factor=config.estimate_factor
    )


# Of the tools that a server takes, those that search and read the files and bases of a run have their places.
TOOLS_BESIDE: Final = len(PROJECT_TOOLS) + 1


@dataclass(frozen=True)
class TurnContext:
    """The parts around the branch. chosen: tools of the agent and the session.  base_prompt: edited or default.

    left_out: names of chosen tools that the model's server does not take.

    instructions: the instructions of the session's owner for all chats.  dynamic_context: of the run's turn.
    """

    run: Run
    config: ModelConfig
    chosen: Sequence[Tool]
    base_prompt: str
    instructions: str
    dynamic_context: str
    left_out: Sequence[str] = ()

    @classmethod
    def of_run(
        cls,
        run: Run,
        config: ModelConfig,
        *,
        prompts: StandingPrompts | None = None,
        dynamic_context: str | None = None,
    ) -> "TurnContext":
        """Load the surroundings of a run. prompts: the row of STANDING_PROMPTS; None if not queried yet.

        dynamic_context: None for the one stored with the run.
        """
        session = run.turn.session
        chosen = []
        if config.supports_tools:
            chosen = _chosen_tools(session.chosen_tools, session.owner_id)
            chosen = add_caller_tools(chosen, CallerTools.from_json(run.turn.caller_tools).functions)
        [standing] = [prompts] if prompts else STANDING_PROMPTS.all(owner=session.owner_id)
        context = run.dynamic_context if dynamic_context is None else dynamic_context
        sent = _taken_by(config, chosen, run)
        left_out = [tool.name for tool in chosen if tool not in sent]
        return cls(
            run, config, sent, base_prompt_of(standing.edited), standing.instructions, context, left_out
        )

    @cached_property
    def tools(self) -> Sequence[Tool]:
        """The tools that the model is offered, sorted by name.

        These are the chosen tools, and tools that search the knowledge bases and a project that is left out.

        Whether files of messages are left out is known only with the branch (file_reading.py).
        """
        project = PROJECT_TOOLS if self._searches_project else ()
        callers = callers_names(self.chosen)
        sources = (tool for tool in (*self._knowledge_tools, *project) if tool.name not in callers)
        tools = add_source_tools(self.chosen, tuple(sources))
        return sorted(tools, key=lambda tool: tool.name)

    @property
    def _searches_project(self) -> bool:
        return self.project.are_searched and self.config.supports_tools and not self.run.is_restricted

    @property
    def _knowledge_tools(self) -> tuple[Tool, ...]:
        if not (self.run.knowledge_bases and self.config.supports_tools):
            return ()
        if self.run.is_restricted:
            return (
                knowledge_base_search.SEARCH_PICKED_RESTRICTED
                if self.run.are_bases_picked
                else knowledge_base_search.SEARCH_RESTRICTED,
            )
        return (
            knowledge_base_search.SEARCH_PICKED if self.run.are_bases_picked else knowledge_base_search.TOOL,
        )

    @property
    def reminder(self) -> str:
        return self.run.turn.session.own_reminder

    def system_prompts(self, *, has_documents: bool, tools: Sequence[Tool] | None = None) -> SystemPrompts:
        """Build the system prompts. tools: None for the tools that the model is offered."""
        session = self.run.turn.session
        own = AgentPrompt(
            session.own_prompt() if self._agent or session.project_id or session.settings.prompt else "",
            replaces=bool(self._agent and self._agent.replaces_system_prompt),
        )
        prompts = build_system_prompts(
            self.base_prompt,
            own,
            self.tools if tools is None else tools,
            has_documents=has_documents,
            session_began_at=session.created_at,
        )
        return prompts._replace(system=add_instructions(prompts.system, self.instructions))

    @cached_property
    def project(self) -> ProjectFiles:
        """The readable files of the session's project: all of them, or none if they need too much of the window.

        Measured without the dynamic context, with which the project could come and go from turn to turn, and without
        the tools that search a project that is left out.
        """
        project = self.run.turn.session.project_id
        return load_project(project, self._window(self.chosen), self.config) if project else ProjectFiles()

    @property
    def hides_project(self) -> bool:
        """Whether the model can neither be shown the texts of the project nor search them."""
        return self.project.are_searched and not self._searches_project

    @cached_property
    def history_window(self) -> int:
        """The tokens of a request that are left for the summary, the messages after it and the question."""
        beside = _tokens(self.dynamic_context) + (_tokens(NOT_SHOWN) if self.hides_project else 0)
        beside += _tokens(self.project.others.note) + self.project.others.tokens
        if self.project.whole and not self._stores_blocks:
            beside += estimate_project_tokens(self.project.whole)
        return self._window(self.tools, beside)

    @property
    def model_window(self) -> ModelWindow:
        return ModelWindow(self.history_window, self.config.supports_vision)

    def _window(self, tools: Sequence[Tool], beside: int = 0) -> int:
        """Return the history window with these tools. beside: tokens that are sent besides the prompts."""
        return budget_of(self.config, tools).history_window(self._prompt_tokens(tools) + beside)

    def _prompt_tokens(self, tools: Sequence[Tool]) -> int:
        """Estimate the tokens of prompts and reminder. Stored blocks are part of the branch, and counted there."""
        prompts = self.system_prompts(has_documents=True, tools=tools)
        moving = "" if self._stores_blocks else prompts.agent_prompt
        return sum(map(_tokens, (prompts.system, moving, self.reminder)))

    @cached_property
    def _stores_blocks(self) -> bool:
        return stores_prompt_blocks(self._agent)

    @property
    def _agent(self) -> Agent | None:
        return self.run.turn.session.agent


def _chosen_tools(names: set[str], user_id: int) -> list[Tool]:
    parts: Sequence[type[WorkerPart]] = turn_parts.worker_parts()
    return [*select_tools(names), *(tool for part in parts for tool in part.load_tools(names, user_id))]


def _taken_by(config: ModelConfig, chosen: list[Tool], run: Run) -> list[Tool]:
    """Return the chosen tools that the model's server takes, as far as is known; of too many, those used most."""
    traits = config.dialect_at(config.source)
    most = max_tools(traits)
    if not chosen or not (refused_tools(traits) or (most and len(chosen) > most - TOOLS_BESIDE)):
        return chosen
    uses = {}
    if most:
        traits |= {f"{MAX_TOOLS}{max(1, most - TOOLS_BESIDE)}"}
        uses = ToolCall.objects.count_uses(run.turn.session.owner_id, [tool.name for tool in chosen])
        uses |= {run.forced_tool: sys.maxsize}
    names = {
        name_of(schema) for schema in taken_tools(tool_schemas(chosen), traits, uses, callers_names(chosen))
    }
    return [tool for tool in chosen if tool.name in names]


def _tokens(text: str) -> int:
    return estimate_tokens(text, 0) + TOKENS_PER_MESSAGE if text else 0
