"""Brief: the input of one loop, of a run or of an agent tool inside it. Values only; loading builds it."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from chat.transcript.entries import Document, Entry
from chat.transcript.rebuild import ShownRound
from chat.transcript.token_usage import TokenUsage
from llm_worker.request.prompt_parts import PromptParts
from llm_worker.tools.tool import Tool
from llm_worker.upstream.model_request import Model


@dataclass(frozen=True)
class EarlierProgress:
    """What earlier attempts left. Calls of the last round may lack their response.

    text, reasoning: after the rounds, to be continued.  is_shown: readers see all of it already, in the snapshot that
    opened this attempt.
    """

    rounds: Sequence[ShownRound] = ()
    text: str = ""
    reasoning: str = ""
    is_shown: bool = False
    usage: TokenUsage = field(default_factory=TokenUsage)
    cycles: int = 0


@dataclass(frozen=True)
class Brief:
    """entries: the branch after the summary, oldest first; the last one is the message to answer.

    context_window: tokens, the answer included.  tokenizer: the model's, for exact counts; empty: the default.
    documents: of files and the project, which may be cited from the start.
    highest_number: of the documents on the branch.  inside: the row of the agent call it belongs to, if any.
    """

    model: Model
    entries: Sequence[Entry]
    prompt_parts: PromptParts
    context_window: int
    max_cycles: int
    tokenizer: str = ""
    tools: Sequence[Tool] = ()
    forced_tool: str = ""
    reminder: str = ""
    cache_key: str = ""
    documents: Sequence[Document] = ()
    highest_number: int = 0
    earlier: EarlierProgress = field(default_factory=EarlierProgress)
    inside: str = ""
