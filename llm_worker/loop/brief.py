"""Brief: the input of one loop, of a run or of an agent tool inside it. Values only; loading builds it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from chat.transcript.answer_settings import AnswerSetup, RunOptions
from chat.transcript.entries import Document, Entry
from chat.transcript.finish import WHOLE, Finish
from chat.transcript.rebuild import ShownRound
from chat.transcript.tokens import answer_reserve, count_tokens
from chat.transcript.usage import NOTHING_SPENT, RunSpending, TokenUsage
from llm_worker.loop.state import NOTHING_WRITTEN, Utterance
from llm_worker.request.context import Budget, request_budget
from llm_worker.request.prompt_parts import PromptParts
from llm_worker.tools.tool import Tool, schema_tokens
from llm_worker.upstream.model_request import Model


@dataclass(frozen=True)
class EarlierProgress:
    """The progress that earlier attempts saved. Calls of the last round may lack their response.

    text, reasoning: the part after the rounds, to be continued.  is_shown: readers see all of it already, in the
    snapshot that opened this attempt.  after_calls: what the model wrote after the calls of the last round, which waited for
    the user; its inference had ended.  is_continued: the user let the model go on, so it may write as much again.
    """

    rounds: Sequence[ShownRound] = ()
    text: str = ""
    reasoning: str = ""
    after_calls: Utterance = NOTHING_WRITTEN
    is_shown: bool = False
    is_continued: bool = False
    usage: TokenUsage = field(default_factory=TokenUsage)
    cycles: int = 0
    spent: RunSpending = NOTHING_SPENT
    finish: Finish = WHOLE  # of the inference that the user continues


@dataclass(frozen=True)
class Brief:
    """The input of one loop. entries: the branch after the summary, oldest first; the last one is to be answered.

    context_window: in the server's tokens, the answer included.  tokenizer: the tokenizer of the model, for exact
    counts; empty for the default.  token_factor: the server's tokens per token of our estimate; 1 with a tokenizer.
    documents: documents of files and the project, which may be cited from the start.  highest_number: the highest
    number of a document on the branch.  inside: the row of the agent call that the loop belongs to; may be empty.
    setup: the record of how the answer is set up.  left_out_tools: names of chosen tools that the model's server does
    not take.  tools_needing_approval: the names of tools whose calls need the user's approval, each with what changed
    since the user has allowed it (ToolChange, or empty).  must_call: the model calls some tool first.  given_rounds: how
    many rounds of `earlier` the caller gave with the question.
    """

    model: Model
    entries: Sequence[Entry]
    prompt_parts: PromptParts
    context_window: int
    max_cycles: int
    tokenizer: str = ""
    token_factor: float = 1.0
    tools: Sequence[Tool] = ()
    left_out_tools: Sequence[str] = ()
    tools_needing_approval: Mapping[str, str] = field(default_factory=dict)
    forced_tool: str = ""
    must_call: bool = False
    given_rounds: int = 0
    reminder: str = ""
    options: RunOptions = field(default_factory=dict)
    cache_key: str = ""
    documents: Sequence[Document] = ()
    highest_number: int = 0
    earlier: EarlierProgress = field(default_factory=EarlierProgress)
    inside: str = ""
    setup: AnswerSetup | None = None

    @property
    def known_documents(self) -> list[Document]:
        """The documents that have a number, shown or not: they keep it when a tool finds them again."""
        return [*self.documents, *(file.document for file in self.prompt_parts.summarised_files)]

    @property
    def counted_window(self) -> int:
        """The context window in tokens of our estimate."""
        return int(self.context_window / self.token_factor)

    @property
    def answer_reserve(self) -> int:
        """The tokens of the window that requests leave free for the answer."""
        more = count_tokens(self.earlier.text) if self.earlier.is_continued else 0
        return answer_reserve(self.context_window, self.model.max_output_tokens) + more

    @property
    def budget(self) -> Budget:
        """The tokens that a request may use besides the answer, with all tools."""
        tools = schema_tokens(self.tools)
        return request_budget(self.context_window, self.answer_reserve, tools, factor=self.token_factor)
