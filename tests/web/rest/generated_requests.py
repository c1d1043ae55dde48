"""What generated requests are about: alice's objects, whose ids and names take the place of generated ones.

Generated values stay in a fourth of the valid requests, and in all invalid ones.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit
from uuid import UUID
from zlib import crc32

from django.contrib.auth.models import Group
from django.core.files.base import ContentFile
from django.core.signals import request_finished, request_started
from django.db import close_old_connections, transaction
from django.test import Client
from knox.models import AuthToken
from schemathesis.core.parameters import ParameterLocation

from chat.infrastructure.redis_client import sync_redis
from chat.models import Agent, McpRequest, McpServer, Provider, Run, Session
from chat.models.outcome import RunOutcome
from chat.presenters.tools import choosable_tools
from chat.protocol.states import Status
from chat.runs.completion import announce, commit_end
from chat.transcript.finish import Finish
from features.prompts.models import SavedPrompt
from features.webhooks.models import Webhook
from knowledge.models import File, KnowledgeBase, Project
from tests import factories
from tests.features.transfer.foreign_exports.examples import chatgpt

MODELS: Final = ("quick", "deep", "wide", "low")
CSRF: Final = "c" * 32
MCP_URL: Final = "https://mcp.example.com/mcp"
WEBHOOK_URL: Final = "https://hooks.example.com/"
# Bodies that name what there is.
OF_OPERATIONS: Final[dict[str, dict[str, Any]]] = {
    "auth_token": {"username": "alice", "password": "alice"},
    "auth_password": {"old_password": "alice", "new_password": "four tides a week"},
    # The agent belongs to one of the scopes.
    "auth_tokens_create": {"name": "Pier", "scope": "chat", "tokens_per_day": 1000},
    # Without a worker, only a response in the background is answered.
    "openai_responses_create": {"input": "Why two tides?", "background": True},
    "openai_input_tokens_count": {"input": "Why two tides?"},
    "openai_conversations_create": {
        "items": [{"role": "user", "content": "Why two tides?"}],
        "metadata": {"app": "pier"},
    },
    "mcp_resources_attach": {"uri": MCP_URL},
    "mcp_prompts_fill": {"name": "tide", "arguments": {}},
}


class World:
    """alice may do everything. Her objects, by the names that paths have for them, and `special` by operation."""

    def __init__(self) -> None:
        sync_redis().flushdb()
        for name in MODELS:
            factories.create_model(name, is_default=name == MODELS[0])
        self._alice = factories.create_user("alice", password="alice", is_staff=True, is_superuser=True)
        self.client = factories.api_client(self._alice)
        self._log_in()
        self._group = Group.objects.create(name="Harbour").pk
        agent = Agent.objects.create(
            owner=self._alice, name="Tides", prompt="Be brief.", tools=[*choosable_tools()]
        )
        session = str(Session.objects.start(self._alice, agent=agent).pk)
        started = factories.complete_turn(self.client, session)
        run = started["runs"][0]
        self.ids = {
            "agent": str(agent.pk),
            "model": "agent/tides",
            "session": session,
            "turn": started["turn"],
            "tag": "Tides",
        }
        Session.objects.filter(pk=session).update(tags=[self.ids["tag"]])
        self.ids |= {
            "message": run["message"],
            "run": run["id"],
            "parent": run["message"],
            "leaf": run["message"],
        }
        self.ids |= {
            "response_id": f"resp_{UUID(run['id']).hex}",
            "conversation_id": f"conv_{UUID(session).hex}",
            "item_id": f"msg_{UUID(started['user_message']).hex}",
        }
        self.ids["before"] = started["user_message"]
        self.ids["share"] = self.client.post(f"/api/sessions/{session}/shares/", {}, format="json").json()[
            "id"
        ]
        self.ids["token"] = self.client.post("/api/auth/tokens/").json()["id"]
        self._add_servers()
        self.ids["prompt"] = str(SavedPrompt.objects.create(owner=self._alice, name="Tides", text="When?").pk)
        link = self.client.get(f"/api/sessions/{session}/shares/").json()[0]["url"]
        project = Project.objects.create(owner=self._alice, name="Tides")
        files = [
            File.objects.create(
                owner=self._alice, name=f"{place}.txt", status="ready", text="Two.", project=place
            )
            for place in (project, None)
        ]
        self.ids |= {"link": urlsplit(link).path.strip("/").rpartition("/")[2], "project": str(project.pk)}
        files[0].content.save("any", ContentFile(b"Two tides a day."))
        self.ids["file"] = str(files[0].pk)
        self._free_file = str(files[1].pk)
        self._add_knowledge_base()
        self.special = self._answers_in_progress() | {
            "regenerations_create": started["user_message"],
            "files_thumbnail": str(factories.create_picture(self._alice, "moon.png").pk),
            "trash_delete": self._trashed_session(),
            "trash_restore": self._trashed_session(),
        }
        self.file = b"".join(self.client.get(f"/api/sessions/{session}/export/").streaming_content)
        self.cursor = parse_qs(urlsplit(self.client.get("/api/sessions/?limit=1").json()["next"]).query)[
            "cursor"
        ][0]

    def _add_servers(self) -> None:
        provider = Provider.objects.create(name="cloud", base_url="https://api.example.com/v1")
        server = McpServer.objects.create(name="tides", transport="http", url=MCP_URL)
        webhook = Webhook.objects.create(owner=self._alice, url=WEBHOOK_URL, encrypted_secret="x")
        self.ids |= {"provider": str(provider.pk), "server": str(server.pk), "webhook": str(webhook.pk)}
        shown = {"name": "tide", "title": "Tide", "description": ""}
        factories.create_mcp_catalog(
            server,
            resources=[{**shown, "uri": MCP_URL, "content_type": "", "size": None}],
            prompts=[{**shown, "arguments": []}],
        )
        asked = McpRequest.objects.begin(self._alice, server, kind="prompt", target="tide")
        self.ids["mcp_request"] = str(asked.pk)

    def _add_knowledge_base(self) -> None:
        base = KnowledgeBase.objects.start(self._alice, name="Tides")
        member = base.members.create(user=factories.create_user("bob"), role="reader")
        factories.create_user("carol")
        document = File.objects.create(
            owner=self._alice, name="Tides", status="ready", text="Two.", knowledge_base=base
        )
        document.content.save("any", ContentFile(b"Two tides a day."))
        self.ids |= {
            "knowledge_base": str(base.pk), "member": str(member.pk), "document": str(document.pk),
        }  # fmt: skip

    def _trashed_session(self) -> str:
        session = Session.objects.start(self._alice).pk
        self.client.delete(f"/api/sessions/{session}/")
        return str(session)

    def _answers_in_progress(self) -> dict[str, str]:
        """A run that waits for a worker, a question that waits for its answer, and a run that was cut."""
        session = Session.objects.start(self._alice).pk
        running = factories.send_turn(self.client, session).json()
        waiting = factories.send_turn(self.client, session).json()
        self.ids["tool_call"] = self._waiting_call()
        cut = factories.send_turn(self.client, Session.objects.start(self._alice).pk).json()["runs"][0]["id"]
        run = Run.objects.claim(cut, owner=1)
        assert commit_end(
            cut,
            run.attempt,
            RunOutcome(Status.COMPLETED, last_seq=3, text="Two ti", finish=Finish("length", 2)),
        )
        announce(run.pk)
        return {
            "runs_cancel": running["runs"][0]["id"],
            "turns_cancel": running["turn"],
            "withdrawal_create": waiting["user_message"],
            "messages_update": waiting["user_message"],
            "runs_continue": cut,
            "continuations_create": str(Run.objects.get(pk=cut).message_id),
        }

    def _waiting_call(self) -> str:
        session = Session.objects.start(self._alice).pk
        run = Run.objects.get(pk=factories.send_turn(self.client, session).json()["runs"][0]["id"])
        return str(factories.create_waiting_call(run, {"type": "object"}, {}).pk)

    def login(self, case: Any) -> dict[str, dict[str, str]]:
        """The headers and cookies of alice's login. A token creates no other token."""
        operation = operation_of(case)
        if operation != "auth_tokens_create":
            scheme = "Bearer" if operation.startswith("openai_") else "Token"
            return {"headers": {"Authorization": f"{scheme} {self._token}"}}
        # Cookies of a login would take the place of missing ones.
        is_without = ParameterLocation.COOKIE in case.meta.components and case.meta.is_negative_at(
            ParameterLocation.COOKIE
        )
        return {} if is_without else self._browser

    def _log_in(self) -> None:
        self._token = AuthToken.objects.create(self._alice)[1]
        browser = Client()
        browser.force_login(self._alice)
        cookies = {"sessionid": browser.cookies["sessionid"].value, "csrftoken": CSRF}
        self._browser = {"headers": {"X-CSRFToken": CSRF}, "cookies": cookies}

    def complete(self, case: Any) -> None:
        """Put in what a schema cannot say: names and limits of models, groups, cursors, pages that exist, and which of two times is the earlier one."""
        valid = valid_places(case)
        if (case.query or {}).get("stream") == "true":
            # A stream is sent by an event loop alone.
            case.query["stream"] = "false"
        if ParameterLocation.QUERY in valid:
            case.query = self._query(case.query)
        if ParameterLocation.BODY in valid and isinstance(case.body, dict):
            case.body = _completed(operation_of(case), case.body)
            if "shared_with" in case.body:
                case.body |= {"shared_with": [self._group][: len(case.body["shared_with"])]}

    def fill(self, case: Any) -> None:
        """Put in objects that exist, into three fourths of the valid paths, queries and bodies."""
        self.complete(case)
        if crc32(repr((case.path_parameters, case.query, case.body)).encode()) % 4 == 0:
            return
        operation, valid = operation_of(case), valid_places(case)
        if ParameterLocation.PATH in valid:
            case.path_parameters = {
                name: self.special.get(operation, self.ids[name]) for name in case.path_parameters
            }
        if ParameterLocation.QUERY in valid:
            case.query = {name: self.ids.get(name, value) for name, value in case.query.items()}
        self.fill_body(case)

    def fill_body(self, case: Any) -> None:
        if operation_of(case) == "sessions_import_foreign":
            case.body = json.dumps(chatgpt()).encode()
        elif ParameterLocation.BODY in valid_places(case) and isinstance(case.body, dict):
            case.body = self._body(operation_of(case), case.body)

    def _query(self, query: dict[str, Any]) -> dict[str, Any]:
        known = {"cursor": self.cursor, "page": 1}
        filled = {name: known.get(name, value) for name, value in query.items()}
        if isinstance(filled.get("from"), str):
            filled["from"], filled["to"] = sorted((filled["from"], str(filled.get("to", "8999-12-30"))))
        return filled

    def _body(self, operation: str, body: dict[str, Any]) -> dict[str, Any]:
        if operation == "sessions_import":
            return body if "title" in body else json.loads(self.file)
        if operation == "members_create":
            return {"user": "carol", "role": body["role"]}
        if operation in OF_OPERATIONS:
            return OF_OPERATIONS[operation]
        known: dict[str, Any] = {
            name: self.ids[name] for name in ("agent", "parent", "leaf", "message", "tag")
        }
        known |= {
            "project": self.ids["project"],
            "knowledge_bases": [],
            "shared_with_users": [],
            "replace": {"run": self.ids["run"]},
        }
        known |= {"file": self._free_file, "files": [self._free_file], "ids": [self.ids["session"]]}
        return {name: known.get(name, value) for name, value in body.items()}


def _completed(operation: str, body: dict[str, Any]) -> dict[str, Any]:
    if operation in (
        "openai_responses_create",
        "openai_input_tokens_count",
        "openai_conversations_create",
    ):
        return OF_OPERATIONS[operation]
    if "providers" in operation:
        return _of_providers(body)
    if "mcp_servers" in operation:
        return _of_mcp_servers(body)
    if "webhooks" in operation:
        return {**body, "url": WEBHOOK_URL}
    return _of_tools(_of_models(body))


def _of_tools(body: dict[str, Any]) -> dict[str, Any]:
    """With tools that there are, or belong to a server that there is."""
    known = {
        "tools": [_tool(name) for name in body.get("tools") or ()],
        "forced_tool": min(choosable_tools()),
    }
    return {name: known[name] if name in known and value else value for name, value in body.items()}


def _tool(name: str) -> str:
    return name if name in choosable_tools() else "tides__" + name.rpartition("__")[2][:50]


def _of_mcp_servers(body: dict[str, Any]) -> dict[str, Any]:
    """With a name of its own, an address, a whole client, and nothing that belongs to a program or a document."""
    nothing = {"command": [], "env": {}, "headers": {}, "query": {}, "document": "", "base_url": ""}
    known = {"name": "ebb", "transport": "http", **nothing}
    body = {name: known.get(name, value) for name, value in body.items()} | {"url": MCP_URL}
    client = {"oauth_issuer": MCP_URL, "oauth_client_id": "ours", "oauth_client_secret": "MCP_EBB_SECRET"}
    return body | client if client.keys() & body.keys() else body


def _of_models(body: dict[str, Any]) -> dict[str, Any]:
    """With names of models that there are, and no longer an answer than they give."""
    if "models" in body:
        body = {**body, "models": [*MODELS[: len(body["models"])]]}
    options = body.get("options")
    if isinstance(options, dict) and options.get("max_output_tokens"):
        body = {**body, "options": {**options, "max_output_tokens": 1 + options["max_output_tokens"] % 1000}}
    return body


def _of_providers(body: dict[str, Any]) -> dict[str, Any]:
    """With an address, and models whose names nobody else has."""
    if "base_url" in body:
        body = {**body, "base_url": "https://api.example.com/v1"}
    if "models" in body:
        models = [
            {**model, "upstream_name": f"large {place}", "name": f"large {place}"}
            for place, model in enumerate(body["models"])
        ]
        body = {**body, "models": models}
    return body


def operation_of(case: Any) -> str:
    return str(case.operation.definition.raw["operationId"])


def valid_places(case: Any) -> set[Any]:
    """Where what was generated is as the document says; the body only if it is an object."""
    places = {place for place in case.meta.components if not case.meta.is_negative_at(place)}
    return places if isinstance(case.body, dict) else places - {ParameterLocation.BODY}


@contextmanager
def undone() -> Iterator[None]:
    """Roll back what is stored inside. As in Django's test client, a request does not close the connection."""
    point = transaction.savepoint()
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    try:
        yield
    finally:
        for signal in (request_started, request_finished):
            signal.connect(close_old_connections)
        transaction.savepoint_rollback(point)
