"""McpTool: a tool of an MCP server, or of one described by OpenAPI. Does not use the SDK until it is called."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from chat.models import McpServer
from chat.transcript.questions import SignInQuestion
from chat.transcript.tools import Annotations, ApprovalRule, ToolIdentity, digest
from features.mcp.client.configuration import (
    MAX_QUESTIONS,
    Answer,
    Asked,
    Caller,
    CallFailed,
    CallLost,
    Configuration,
    ServerUnavailable,
)
from features.mcp.client.connections import Connections
from features.mcp.client.openapi.operation_calls import call_operation
from llm_worker.tools.tool import InputNeeded, Tool, ToolContext, ToolFailed, ToolOutcomeUnknown, ToolResult


class McpTool(Tool):
    """A tool of one run. Staff may disable it while the run is answered."""

    def __init__(
        self,
        listed: Mapping[str, Any],
        approval_rule: ApprovalRule,
        configuration: Configuration,
        *,
        address: str = "",
        may_sign_in: bool = False,
    ) -> None:
        """Wrap a tool. listed: one of the tools in the server's row (chat/models/mcp_server.py).

        approval_rule: the rule of the server.  address: the digest of how it is reached.  may_sign_in: whether the run's user can sign in to the server.
        """
        self._listed = listed
        self._configuration = configuration
        self._may_sign_in = may_sign_in
        self.name = str(listed["name"])
        self.description = _description(listed)
        self.parameters = listed["parameters"]
        self.annotations = Annotations(
            is_read_only=listed["read_only"],
            is_destructive=listed["destructive"],
            is_idempotent=listed["idempotent"],
            is_open_world=listed["open_world"],
        )
        self.approval_rule = approval_rule
        self.server = (configuration.server, address)
        self.identity = ToolIdentity(*self.server, digest(listed))
        self._calls: set[asyncio.Timeout] = set()

    @property
    def server_id(self) -> str:
        return self._configuration.server

    def follow_switches(self, servers: Mapping[str, McpServer]) -> None:
        """Note whether staff have disabled the tool by now, and then end its running calls.
        servers: the rows by id, without deleted ones.
        """
        server = servers.get(self.server_id)
        self.is_disabled = server is None or not server.enables(self._listed["tool"])
        for call in self._calls if self.is_disabled else ():
            if not call.expired():
                call.reschedule(0)

    async def run(self, arguments: Mapping[str, Any], work: ToolContext) -> ToolResult:
        try:
            async with self._while_enabled():
                answer = await self._call(arguments, work)
        except Asked as asked:
            raise InputNeeded(asked.question) from asked
        except ServerUnavailable as unavailable:
            if unavailable.needs_sign_in and self._can_wait(work):
                raise InputNeeded(self._sign_in) from unavailable
            raise ToolFailed(f"{self.name} was not called: {unavailable}") from unavailable
        except CallFailed as failed:
            raise ToolFailed(str(failed)) from failed
        except CallLost as lost:
            raise ToolOutcomeUnknown(str(lost)) from lost
        if answer.is_error:
            raise ToolFailed(answer.text)
        return ToolResult(response=answer.text, structured=answer.structured, images=answer.images)

    async def _call(self, arguments: Mapping[str, Any], work: ToolContext) -> Answer:
        if operation := self._listed.get("operation"):
            return await call_operation(self._configuration, operation, arguments, work.key)
        caller = Caller(work.key, work.report_progress, work.answers)
        connections = work.part(Connections)
        return await connections.call(self._configuration, self._listed["tool"], arguments, caller)

    @asynccontextmanager
    async def _while_enabled(self) -> AsyncIterator[None]:
        """End the block when staff disable the tool. Raises ToolFailed before it, ToolOutcomeUnknown after it."""
        if self.is_disabled:
            raise ToolFailed(f"{self.name} was not called: it is not available any more.")
        call = asyncio.timeout(None)
        try:
            async with call:
                self._calls.add(call)
                yield
        except TimeoutError:
            if call.expired():
                raise ToolOutcomeUnknown(f"{self.name} is not available any more.") from None
            raise
        finally:
            self._calls.discard(call)

    @property
    def _sign_in(self) -> SignInQuestion:
        reached = self._configuration
        return SignInQuestion(reached.server, reached.name, reached.credential)

    def _can_wait(self, work: ToolContext) -> bool:
        """Return whether the call can wait for a sign-in. Limited in number, as credentials may be refused again."""
        return self._may_sign_in and work.answers is not None and len(work.answers) < MAX_QUESTIONS


def _description(listed: Mapping[str, Any]) -> str:
    """Return the server's description; with the server's own name of the tool before it, if that has letters that models
    are not offered: `______` says nothing.
    """
    own, described = str(listed.get("tool", "")), str(listed["description"])
    is_respelled = any(letter.isalnum() and not letter.isascii() for letter in own)
    return f"{own}: {described}".rstrip(": ") if is_respelled and own not in described else described
