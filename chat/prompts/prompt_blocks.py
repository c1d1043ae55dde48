"""Agents with context_layout append_only: their prompt and dynamic context stand in the branch, where they were said.

A block is stored above a user message when its text differs from the latest of its kind on the branch, so that each
request begins with the bytes of the one before. What is for one turn only (additional_context) is never stored.
Project documents are stored by the worker (llm_worker/loading/project.py): its model decides whether they are shown.
"""

from chat.models import Agent, ChatMessage, PromptBlock, Session, SystemPrompt
from chat.models.agent import ContextLayout
from chat.models.prompt_block import BlockKind
from chat.prompts import dynamic_context
from chat.transcript.tokens import count_tokens


def are_stored(agent: Agent | None) -> bool:
    """Whether what the agent's turns bring stays in the branch, here and in what models see of it."""
    return agent is not None and agent.context_layout == ContextLayout.APPEND_ONLY


def run_context(agent: Agent | None, known: str, additional: str) -> str:
    """The dynamic context that only the run carries. known: what providers say; stored in the branch or part of it."""
    return dynamic_context.joined("" if are_stored(agent) else known, dynamic_context.additional(additional))


def store(question: ChatMessage, session: Session, known: str) -> None:
    """Put what changed since the branch's latest blocks above `question`, a stored user message.

    An empty text says that the kind's earlier block does not hold any more. In the caller's transaction.
    """
    if not are_stored(session.agent):
        return
    wanted = {BlockKind.AGENT: _agent_prompt(session), BlockKind.DYNAMIC: known}
    latest = PromptBlock.objects.latest_on_branch(question)
    changed = {kind: text for kind, text in wanted.items() if text != latest.get(kind, "")}
    PromptBlock.objects.put(
        [
            PromptBlock(message=question, kind=kind, text=text, token_count=count_tokens(text))
            for kind, text in changed.items()
        ]
    )


def _agent_prompt(session: Session) -> str:
    """Empty where it is the system prompt: because it replaces that, or because there is no other."""
    edited = SystemPrompt.edited()
    has_base = edited is None or bool(edited.strip())
    is_moving = has_base and not (session.agent and session.agent.replaces_system_prompt)
    return session.own_prompt() if is_moving else ""
