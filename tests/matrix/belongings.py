"""What the matrix is about: rows of one user, one of each kind that a path, a body or an admin page can name."""

from collections import Counter
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cache
from typing import Any
from uuid import UUID

from django.apps import apps
from django.contrib.auth.models import Group
from django.core.files.base import ContentFile
from django.db import connection
from django.utils import timezone
from rest_framework.test import APIClient

from chat.models import (
    Agent,
    ChatMessage,
    CitedDocument,
    DefaultLimits,
    Invitation,
    McpCredential,
    McpRequest,
    McpServer,
    McpSignIn,
    Preferences,
    PromptVersion,
    Provider,
    Run,
    SentRequest,
    Session,
    SideRequest,
    Suggestion,
    SystemPrompt,
    TokenScope,
    ToolCall,
    ToolPolicy,
)
from chat.models.mcp_attachments import McpRequestStatus
from chat.models.model_requests import Purpose
from chat.models.outcome import RunOutcome
from chat.protocol.states import Status
from chat.runs.completion import announce, commit_end
from chat.transcript.finish import LENGTH, Finish
from chat.transcript.questions import SignInQuestion
from knowledge.models import File, KnowledgeBase, MembershipChange, Project
from tests import factories

# In every text of the owner: nobody else's response contains it.
MARK = "tidemark"
# Of a session of each; tags are named by their words.
TAG = f"{MARK} tag"
# Of a resource that a server has listed to each alone.
MCP_URI = f"tides://{MARK}"
# Rows that belong to nobody, and never change.
CONSTANT_TABLES = {"django_migrations", "django_content_type", "auth_permission"}


@dataclass
class Belongings:
    """A user, and ids by what they are examples of."""

    user: Any
    ids: dict[str, str] = field(default_factory=dict)

    @property
    def secrets(self) -> set[str]:
        return {MARK, *self.ids.values()}


def create_belongings(name: str) -> Belongings:
    """Everything that a user can have. Models must exist."""
    owned = Belongings(factories.create_user(name, email=f"{name}@example.org"))
    # Of nobody; staff alone name it.
    owned.ids["provider"] = str(Provider.objects.get().pk)
    server = McpServer.objects.get()
    owned.ids["mcp_server"] = str(server.pk)
    sign_in = McpSignIn.objects.begin(owned.user, server, "https://chat.example.com/mcp/callback/")
    credential = McpCredential.objects.store(sign_in, "https://auth.example.com", {"access_token": MARK})
    _add_mcp_catalog(owned, credential)
    client = factories.api_client(owned.user)
    owned.ids["agent"] = client.post(
        "/api/agents/", {"name": f"{MARK} agent", "prompt": f"{MARK} prompt"}, format="json"
    ).json()["id"]
    owned.ids["agent_model"] = f"agent/{MARK} agent"
    owned.ids["prompt"] = client.post(
        "/api/prompts/", {"name": f"{MARK} prompt", "text": MARK}, format="json"
    ).json()["id"]
    owned.ids["webhook"] = client.post(
        "/api/webhooks/", {"url": f"https://{MARK}.example.com/"}, format="json"
    ).json()["id"]
    Preferences.objects.change(owned.user, instructions=MARK)
    row, _ = TokenScope.objects.create_token(owned.user)
    owned.ids["token"] = str(UUID(row.digest[:32]))
    project = Project.objects.create(owner=owned.user, name=f"{MARK} project", instructions=MARK)
    file = File.objects.create(
        owner=owned.user, name=f"{MARK}.txt", status="ready", text=MARK, token_count=1, project=project,
        content=ContentFile(MARK.encode(), name="any"),
    )  # fmt: skip
    picture = factories.create_picture(owned.user, f"{MARK}.png")
    owned.ids |= {"project": str(project.pk), "file": str(file.pk), "picture": str(picture.pk)}
    _add_knowledge_base(owned)
    _add_answered_session(owned, client)
    _add_live_session(owned, client)
    _add_cut_session(owned, client)
    _add_waiting_call(owned, client)
    _add_trashed_session(owned, client)
    client.patch(f"/api/sessions/{owned.ids['session']}/", {"tags": [TAG]}, format="json")
    return owned


def _add_mcp_catalog(owned: Belongings, credential: McpCredential) -> None:
    named = {"description": MARK, "name": MARK}
    factories.create_mcp_catalog(
        credential.server,
        credential,
        resources=[{**named, "uri": MCP_URI, "content_type": "", "size": None}],
        prompts=[{**named, "title": MARK, "arguments": []}],
    )
    request = McpRequest.objects.begin(
        owned.user, credential.server, kind="prompt", target=MARK, arguments={"place": MARK}
    )
    McpRequest.objects.end(request, McpRequestStatus.DONE, text=MARK)
    owned.ids["mcp_request"] = str(request.pk)


def _add_knowledge_base(owned: Belongings) -> None:
    base = KnowledgeBase.objects.start(
        owned.user,
        name=f"{MARK} base",
        summary=MARK,
        topics=[MARK],
        routing_hint=MARK,
        routing_keywords=[MARK],
    )
    member = base.members.create(user=factories.create_user(f"{MARK} {owned.user}"), role="reader")
    MembershipChange.objects.create(
        knowledge_base=base.pk, name=base.name, actor=f"{MARK} actor", user=f"{MARK} user", after="reader"
    )
    Agent.objects.get(pk=owned.ids["agent"]).shared_with_users.add(member.user)
    document = File.objects.create(
        owner=owned.user, name=f"{MARK} document", status="ready", text=MARK, knowledge_base=base,
        content=ContentFile(MARK.encode(), name="any"), size_bytes=len(MARK),
    )  # fmt: skip
    owned.ids |= {"knowledge_base": str(base.pk), "member": str(member.pk), "document": str(document.pk)}


def create_models() -> None:
    factories.create_model("quick", is_default=True, supports_prefill=True)
    factories.create_model("deep")
    Provider.objects.create(name="cloud", base_url="https://api.example.com/v1")
    McpServer.objects.create(name="tides", transport="http", url="https://mcp.example.com/mcp")


def add_rows_of_staff(owned: Belongings) -> None:
    """The rows that only the admin shows."""
    run = Run.objects.get(pk=owned.ids["run"])
    ToolCall.objects.create(
        run=run, message=run.message, turn_number=0, tool_call_id="c1", name="web_search", response=MARK
    )
    CitedDocument.objects.create(message=run.message, number=1, document_id="a", title=MARK)
    SentRequest.objects.create(
        run=run, attempt=1, cycle=1, common=0, messages=[], tokens=1, prefix_share=0, sent_at=timezone.now()
    )
    SideRequest.objects.create(
        purpose=Purpose.TITLE, session=run.turn.session, run=run, model="quick", sent_at=timezone.now()
    )
    factories.create_summary(run.turn.user_message, run.turn.user_message, MARK, 3)
    PromptVersion.objects.create(digest="d" * 64, content={"base_prompt": MARK})
    SystemPrompt.edit("Be brief.")
    DefaultLimits.objects.create(runs_per_day=1000)
    Suggestion.objects.create(text="Sum up a file")
    Group.objects.create(name="some group")
    ToolPolicy.objects.create(name="act", approval="ask")
    Invitation.objects.create(digest="d" * 64, expires_at=timezone.now())


@cache
def _fingerprint_sql(ignored: tuple[str, ...]) -> str:
    tables = sorted(set(connection.introspection.table_names()) - CONSTANT_TABLES - set(ignored))
    selects = (f"SELECT '{table}', md5(t::text) FROM \"{table}\" t" for table in tables)
    return " UNION ALL ".join(selects)


def fingerprint(*ignored: str) -> Counter[tuple[str, str]]:
    """Every row of every table but the ignored, as a digest of all its columns."""
    with connection.cursor() as cursor:
        cursor.execute(_fingerprint_sql(ignored))
        return Counter(cursor.fetchall())


def written_rows() -> dict[str, int]:
    """By table, how many rows this transaction has inserted, updated or deleted, whether or not that was rolled back.

    Not that a login was used, which is noted behind every answer, refusals too.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT relname::text, n_tup_ins + n_tup_upd + n_tup_del FROM pg_stat_xact_user_tables"
            " WHERE n_tup_ins + n_tup_upd + n_tup_del > 0 AND relname <> 'chat_login'"
        )
        return dict(cursor.fetchall())


def ids_of_rows() -> set[str]:
    """The ids of all rows whose key is a UUID."""
    tables = [model for model in apps.get_models() if model._meta.pk.get_internal_type() == "UUIDField"]
    return {str(pk) for model in tables for pk in model._base_manager.values_list("pk", flat=True)}


def _session(client: APIClient, owned: Belongings, title: str) -> str:
    body = {"title": f"{MARK} {title}", "agent": owned.ids["agent"]}
    return str(client.post("/api/sessions/", body, format="json").json()["id"])


def _add_answered_session(owned: Belongings, client: APIClient) -> None:
    session = _session(client, owned, "answered")
    started = factories.complete_turn(client, session, f"{MARK} question")
    run = started["runs"][0]
    share = client.post(f"/api/sessions/{session}/shares/", {}, format="json").json()
    client.put(f"/api/messages/{run['message']}/feedback/", {"text": MARK}, format="json")
    owned.ids |= {
        "response": f"resp_{UUID(run['id']).hex}",
        "conversation": f"conv_{UUID(session).hex}", "item": f"msg_{UUID(started['user_message']).hex}",
        "session": session, "root": str(ChatMessage.objects.root_of(Session.objects.get(pk=session)).pk),
        "question": started["user_message"], "answer": run["message"],
        "run": run["id"], "turn": started["turn"], "share": share["id"], "link": share["url"].split("/")[2],
    }  # fmt: skip


def _add_live_session(owned: Belongings, client: APIClient) -> None:
    """A turn that is being answered, and a question that waits for it."""
    session = _session(client, owned, "live")
    live = factories.send_turn(client, session, f"{MARK} live").json()
    waiting = factories.send_turn(client, session, f"{MARK} waiting").json()
    owned.ids |= {
        "live_session": session, "live_turn": live["turn"], "live_run": live["runs"][0]["id"],
        "waiting_question": waiting["user_message"],
    }  # fmt: skip


def _add_waiting_call(owned: Belongings, client: APIClient) -> None:
    """A call that asks for approval, and one that waits for a sign-in."""
    session = _session(client, owned, "asking")
    started = factories.send_turn(client, session, f"{MARK} act").json()["runs"][0]
    run = Run.objects.get(pk=started["id"])
    call = factories.create_waiting_call(run, {"type": "object"}, {"what": MARK})
    factories.create_waiting_call(run, {}, {}, tab=1, question=SignInQuestion("", MARK))
    Run.objects.filter(pk=run.pk).update(status=Status.WAITING)
    owned.ids |= {"asking_session": session, "asking_run": started["id"], "tool_call": str(call.pk)}


def _add_cut_session(owned: Belongings, client: APIClient) -> None:
    """An answer that can be continued."""
    session = _session(client, owned, "cut")
    started = factories.send_turn(client, session, f"{MARK} cut").json()["runs"][0]
    run = Run.objects.claim(started["id"], owner=1)
    assert run is not None
    cut = RunOutcome(Status.COMPLETED, last_seq=3, text=f"{MARK} half", finish=Finish(LENGTH, 9))
    assert commit_end(run.pk, run.attempt, cut)
    announce(run.pk)
    owned.ids |= {"cut_session": session, "cut_run": started["id"], "cut_answer": started["message"]}


def past() -> Any:
    return timezone.now() - timedelta(seconds=1)


def _add_trashed_session(owned: Belongings, client: APIClient) -> None:
    session = _session(client, owned, "trashed")
    factories.complete_turn(client, session, f"{MARK} trashed question")
    assert client.delete(f"/api/sessions/{session}/").status_code == 204
    owned.ids["trashed_session"] = session
