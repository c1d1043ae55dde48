"""Prompt blocks of agents with context_layout append_only: their prompt and dynamic context are stored in the branch.

A block is stored above a user message when its text differs from the latest of its kind on the branch, so that each
request to the model has the previous one as its prefix. The additional_context of a request and the description of
knowledge bases are not stored. Blocks of project documents are stored by the worker (llm_worker/loading/project.py),
because they depend on its model.
"""

from collections.abc import Sequence

from chat.models import Agent, ChatMessage, PromptBlock, Session, SystemPrompt
from chat.models.agent import ContextLayout
from chat.models.message_additions import BlockKind
from chat.models.turn import SentBeside
from chat.prompts import dynamic_context
from chat.transcript.tokens import count_tokens


def stores_prompt_blocks(agent: Agent | None) -> bool:
    """Return whether the agent's prompt and dynamic context are stored in the branch."""
    return agent is not None and agent.context_layout == ContextLayout.APPEND_ONLY


def run_context(agent: Agent | None, provided: dynamic_context.ProvidedContext, beside: SentBeside) -> str:
    """Return the dynamic context of a run. The providers' text is left out where it is stored in the branch."""
    own = "" if stores_prompt_blocks(agent) else provided.text
    additional = dynamic_context.additional_block(beside.additional_context, instructs=beside.instructs)
    return dynamic_context.join_blocks(provided.metadata, own, additional)


def store(question: ChatMessage, session: Session, provided: dynamic_context.ProvidedContext) -> None:
    """Store the blocks that have changed since the latest ones of the branch above `question`, a stored user message.

    An empty text revokes the earlier block of its kind. In the caller's transaction.
    """
    if not stores_prompt_blocks(session.agent):
        return
    current = {BlockKind.AGENT: _agent_prompt(session), BlockKind.DYNAMIC: provided.text}
    latest = PromptBlock.objects.latest_on_branch(question)
    changed = {kind: text for kind, text in current.items() if text != latest.get(kind, "")}
    PromptBlock.objects.store(
        [
            PromptBlock(message=question, kind=kind, text=text, token_count=count_tokens(text))
            for kind, text in changed.items()
        ]
    )


def copy(question: ChatMessage, others: Sequence[ChatMessage]) -> None:
    """Copy the blocks of a question that leaves the branch to the questions that followed it, unless these have a block
    of the same kind. In the caller's transaction."""
    own = set(PromptBlock.objects.filter(message__in=others).values_list("message", "kind"))
    PromptBlock.objects.store(
        [
            PromptBlock(
                message=other,
                kind=block.kind,
                text=block.text,
                token_count=block.token_count,
                documents=block.documents,
            )
            for block in question.prompt_blocks.all()
            for other in others
            if (other.pk, block.kind) not in own
        ]
    )


def _agent_prompt(session: Session) -> str:
    """Return the session's own prompt; empty if it is the system prompt itself.
    It is that if the agent replaces the base prompt, or if the base prompt is empty."""
    edited = SystemPrompt.edited()
    has_base = edited is None or bool(edited.strip())
    stands_beside_base = has_base and not (session.agent and session.agent.replaces_system_prompt)
    return session.own_prompt() if stands_beside_base else ""
