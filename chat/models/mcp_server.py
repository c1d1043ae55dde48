"""McpServer: a tool server that staff have entered, speaking MCP or described by OpenAPI, and the tools it listed."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from typing import Any, Self

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from chat.protocol.server_tool_names import MAX_SERVER_NAME, is_chosen, server_of
from chat.transcript.tools import DEFAULT_RULE, ApprovalRule, Tools, digest, limited


class Transport(models.TextChoices):
    STDIO = "stdio", "stdio"
    HTTP = "http", "http"
    OPENAPI = "openapi", "openapi"


class McpStatus(models.TextChoices):
    """The result of the latest listing of a server's tools."""

    READY = "ready"
    DOWN = "down"
    NEEDS_SIGN_IN = "needs_sign_in"


class SignInOf(models.TextChoices):
    """The owner of the credentials with which calls are made to a server that demands some."""

    USER = "user", "each user"
    SHARED = "shared", "all users"


EDITED = (
    "name",
    "transport",
    "command",
    "url",
    "document",
    "base_url",
    "env",
    "headers",
    "query",
    "sign_in",
    "oauth_issuer",
    "oauth_client_id",
    "oauth_client_secret",
    "assumes_pkce",
    "sends_structured",
    "approval",
    "enabled_tools",
    "is_enabled",
)
DEMO_NAME = "notes"
# Changing one of these makes it another server.
CONFIGURATION = tuple(
    name for name in EDITED if name not in ("approval", "enabled_tools", "sends_structured")
)
# Where and as whom its tools are called. Of a document, the tools themselves say where.
_ADDRESS = ("transport", "command", "url", "base_url", "env", "headers", "query", "sign_in")
MAX_DOCUMENT_CHARACTERS = 2_000_000


class McpServerQuerySet(models.QuerySet["McpServer"]):
    def named_in(self, choices: Iterable[str]) -> Self:
        """Select enabled servers of which these names choose tools."""
        return self.filter(is_enabled=True, name__in={server_of(choice) for choice in choices})

    def without_documents(self) -> Self:
        """Defer the documents, for readers of many rows: a document may be long, and only workers need it."""
        return self.defer("document")

    def switches(self, ids: Iterable[str]) -> dict[str, McpServer]:
        """Return what staff switch of these servers, by id; without those that are deleted."""
        return {str(row.pk): row for row in self.filter(pk__in=ids).only("is_enabled", "enabled_tools")}

    def offer_demo(self, command: list[str]) -> McpServer:
        """Store the server of a trial, started by this command. A row of that name that staff have entered stays."""
        server, _ = self.get_or_create(
            name=DEMO_NAME, defaults={"is_demo": True, "transport": Transport.STDIO, "command": command}
        )
        if server.is_demo:
            server.change(command=command)
        return server

    def record_listing(self, server: McpServer, **fields: Any) -> bool:
        """Store the result of a listing. False: the server was changed meanwhile, and another listing follows."""
        current = self.filter(pk=server.pk, revision=server.revision)
        return bool(current.update(listed_at=Now(), **fields))


class McpServer(models.Model):
    """command: with stdio, the program and its arguments.  url: with http, the server's; with openapi, the document's.
    document: with openapi, its text if it was pasted.  base_url: the address of its operations, if it names none.

    env, headers, query: for a name, the name of the environment variable of the workers that has its value, never the value.
    oauth_*: the client that staff have registered with the issuer, where it accepts no other; oauth_client_secret is
    the name of such a variable, too.
    enabled_tools: the server's own names of the tools that are offered; empty: all.
    tools: [{name, tool, description, parameters, read_only, destructive, idempotent, open_world}]: `name` is the name
    for models, `tool` the server's own; with openapi also `operation`, by which the tool is called; `claimed` has hints
    that are not believed yet.  is_listed: whether there was such a list. Not those that a server lists to one user
    (McpToolList).
    expires_at: when that list expires, as the server said.  revision: changes with each change of the configuration.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    name = models.CharField(
        max_length=MAX_SERVER_NAME,
        unique=True,
        help_text="The names of its tools begin with it: letters, digits, - and _.",
    )
    transport = models.CharField(max_length=7, choices=Transport.choices)
    command = models.JSONField(
        default=list,
        blank=True,
        help_text='Of stdio: ["program", "argument"]. MCP_COMMANDS names the programs.',
    )
    url = models.CharField(
        max_length=2_000, blank=True, default="", help_text="Of http; of openapi that of its document."
    )
    document = models.TextField(
        blank=True,
        default="",
        db_default="",
        help_text="Of openapi, instead of a url: the document itself, JSON or YAML.",
    )
    base_url = models.CharField(
        max_length=2_000,
        blank=True,
        default="",
        db_default="",
        help_text="Of openapi: where the operations are, if not where the document says; headers and query are sent there alone.",
    )
    env = models.JSONField(
        default=dict,
        blank=True,
        help_text='{"NAME": "VARIABLE"}: the server gets NAME with the value that VARIABLE has for the workers.',
    )
    headers = models.JSONField(
        default=dict,
        blank=True,
        help_text='{"Header": "VARIABLE"}: requests have the value that VARIABLE has for the workers.',
    )
    query = models.JSONField(
        default=dict,
        db_default={},
        blank=True,
        help_text='Of openapi, {"key": "VARIABLE"}: requests have ?key= with the value that VARIABLE has for the workers.',
    )
    sign_in = models.CharField(
        max_length=6,
        choices=SignInOf.choices,
        default=SignInOf.USER,
        db_default=SignInOf.USER.value,
        help_text="Of http: who signs in to a server that demands it, each user, or staff for all users.",
    )
    oauth_issuer = models.CharField(
        max_length=2_000,
        blank=True,
        default="",
        db_default="",
        help_text="Of http: the issuer with which staff have registered a client, if it accepts no others.",
    )
    oauth_client_id = models.CharField(
        max_length=500, blank=True, default="", db_default="", help_text="The id of that client."
    )
    oauth_client_secret = models.CharField(
        max_length=200,
        blank=True,
        default="",
        db_default="",
        help_text="The variable of the workers that has the secret of that client; empty: it has none.",
    )
    assumes_pkce = models.BooleanField(
        default=False,
        db_default=False,
        help_text="Of http: its issuer takes PKCE with S256, although its metadata does not say so (Entra ID, Cognito).",
    )
    sends_structured = models.BooleanField(
        default=True,
        db_default=True,
        help_text="Models read the structured content of an answer as well if its text leaves some of it out.",
    )
    approval = models.CharField(
        max_length=20,
        choices=[(rule.value, rule.value.replace("_", " ")) for rule in ApprovalRule],
        default=DEFAULT_RULE.value,
        help_text="Whether users are asked before a tool is called; a rule of the tool itself comes first.",
    )
    enabled_tools = models.JSONField(
        default=list, blank=True, help_text="Its own names of the tools that are offered; empty: all."
    )
    is_enabled = models.BooleanField(default=True)
    is_demo = models.BooleanField(
        default=False,
        editable=False,
        help_text="Of a trial: it comes with Turnwire, and MCP_COMMANDS need not name it.",
    )
    status = models.CharField(
        max_length=13, choices=McpStatus.choices, default=McpStatus.DOWN, editable=False
    )
    problem = models.CharField(max_length=500, blank=True, default="", editable=False)
    tools = models.JSONField(default=list, editable=False)
    is_listed = models.BooleanField(default=False, db_default=False, editable=False)
    listed_at = models.DateTimeField(null=True, editable=False)
    expires_at = models.DateTimeField(null=True, editable=False)
    requested_at = models.DateTimeField(null=True, editable=False)
    revision = models.UUIDField(default=uuid.uuid4, editable=False)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+", editable=False
    )
    created_at = models.DateTimeField(auto_now_add=True)

    objects = McpServerQuerySet.as_manager()

    class Meta:
        ordering = ("name",)
        verbose_name = "MCP server"
        constraints = [
            models.CheckConstraint(
                condition=Q(transport__in=Transport.values), name="mcp_server_transport_known"
            ),
            models.CheckConstraint(condition=Q(status__in=McpStatus.values), name="mcp_server_status_known"),
            models.CheckConstraint(condition=Q(sign_in__in=SignInOf.values), name="mcp_server_sign_in_known"),
            models.CheckConstraint(
                condition=Q(approval__in=[rule.value for rule in ApprovalRule]),
                name="mcp_server_approval_known",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    def change(self, **fields: Any) -> None:
        """Set fields that staff may edit. Tools that another configuration has listed are forgotten."""
        is_another = any(name in fields and fields[name] != getattr(self, name) for name in CONFIGURATION)
        if is_another:
            fields |= {
                "revision": uuid.uuid4(),
                "status": McpStatus.DOWN,
                "problem": "",
                "tools": [],
                "is_listed": False,
                "listed_at": None,
                "expires_at": None,
                "requested_at": None,
            }
        for name, value in fields.items():
            setattr(self, name, value)
        self.save(update_fields=list(fields))

    @property
    def edited(self) -> dict[str, Any]:
        """The fields that staff edit."""
        return {name: getattr(self, name) for name in EDITED}

    @property
    def address_digest(self) -> str:
        """The digest of how the server is reached. What people have allowed holds for this address alone."""
        return digest([getattr(self, name) for name in _ADDRESS])

    @property
    def approval_rule(self) -> ApprovalRule:
        return ApprovalRule(self.approval)

    @property
    def is_shared(self) -> bool:
        """Whether staff sign in for all users."""
        return self.sign_in == SignInOf.SHARED

    @property
    def takes_sign_ins(self) -> bool:
        """Whether a refusal means that somebody has to sign in: not if staff have entered an Authorization header."""
        return self.transport == Transport.HTTP and not any(
            name.lower() == "authorization" for name in self.headers
        )

    def enables(self, tool: str) -> bool:
        """Return whether staff let a tool be called. tool: the server's own name of it."""
        return self.is_enabled and (not self.enabled_tools or tool in self.enabled_tools)

    def offered_to(self, own: Tools | None = None) -> Tools:
        """Return the tools that a user may choose now: none of a server that is down or disabled.
        If the user has not signed in to the server, a call waits until they have.
        own: what the server has listed to this user (McpToolList); None: nothing yet, and what it lists to all is offered.
        """
        waits = self.status == McpStatus.NEEDS_SIGN_IN and self.takes_sign_ins
        if not (self.status == McpStatus.READY or waits):
            return []
        tools = self.tools if own is None else limited(own, self.tools)
        return [tool for tool in tools if self.enables(tool["tool"])]

    def chosen_tools(self, choices: frozenset[str], own: Tools | None) -> Tools:
        """Return the offered tools that are chosen. choices: names of tools, `server__*` among them."""
        return [tool for tool in self.offered_to(own) if is_chosen(tool["name"], choices)]
