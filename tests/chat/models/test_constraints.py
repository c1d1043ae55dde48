"""The database itself refuses what must never be: every named constraint, by name."""

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth.models import Group
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from chat.models import (
    Agent,
    Approval,
    ChatMessage,
    CitedDocument,
    Compression,
    DailyUse,
    DefaultLimits,
    Feedback,
    GroupLimits,
    Invitation,
    McpCatalog,
    McpCredential,
    McpRequest,
    McpRevocation,
    McpServer,
    McpSignIn,
    McpToolList,
    MessageFile,
    ModelConfig,
    PromptBlock,
    PromptVersion,
    Provider,
    Role,
    Run,
    RunSetup,
    SentRequest,
    Session,
    SessionEvent,
    SideRequest,
    SystemPrompt,
    ToolCall,
    ToolCallImage,
    ToolPolicy,
    Turn,
)
from chat.models.token_scope import TokenScope
from chat.transcript.tools import AskedTool
from features.agui.models import AgUiRun
from features.prompts.models import SavedPrompt
from features.webhooks.models import Webhook
from knowledge.models import File
from tests import factories

pytestmark = pytest.mark.django_db

TREE_KEYS = import_module("chat.migrations.0001_version_0_2_0").KEYS
# Unique because they contain the primary key: they exist as targets of the tree's composite foreign keys.
TARGETS = {"message_session_id", "message_id_role", "message_id_reply_to"}


@dataclass
class World:
    """alice's session with a question being answered, and another session of hers."""

    session: Session
    other: Session
    question: ChatMessage
    answer: ChatMessage
    turn: Turn
    run: Run


@pytest.fixture
def world() -> World:
    alice = factories.create_user("alice")
    session, other = Session.objects.start(alice), Session.objects.start(alice)
    question = ChatMessage.objects.append(
        ChatMessage.objects.root_of(session), role=Role.USER, text="Why?", client_message_id="one"
    )
    answer = ChatMessage.objects.append(question, role=Role.ASSISTANT)
    turn = Turn.objects.create(session=session, user_message=question)
    run = Run.objects.create(turn=turn, message=answer, model="m", model_index=0, deadline=timezone.now())
    return World(session, other, question, answer, turn, run)


def message(world: World, **fields: Any) -> ChatMessage:
    return ChatMessage.objects.create(**{"session": world.session, "role": Role.USER, **fields})


def invitation(**fields: Any) -> Invitation:
    return Invitation.objects.create(digest="d", expires_at=timezone.now(), **fields)


def change(row: Any, **fields: Any) -> None:
    type(row).objects.filter(pk=row.pk).update(**fields)


def summary(world: World, cutoff: ChatMessage) -> ChatMessage:
    return ChatMessage.objects.append(world.question, role=Role.SUMMARY, last_summarized_message=cutoff)


def tool_call(world: World, **fields: Any) -> ToolCall:
    given = {"run": world.run, "message": world.answer, "turn_number": 0, "tool_call_id": "c", "name": "n"}
    return ToolCall.objects.create(**given | fields)


def mcp_server() -> McpServer:
    return McpServer.objects.get_or_create(name="a", transport="http")[0]


def shared_credential(**fields: Any) -> McpCredential:
    """Of all users, which is one as well."""
    return McpCredential.objects.create(**{"server": mcp_server(), "encrypted_secret": "x"} | fields)


def mcp_catalog() -> McpCatalog:
    return McpCatalog.objects.create(server=mcp_server(), revision=uuid.uuid4(), expires_at=timezone.now())


def mcp_tool_list(world: World) -> McpToolList:
    return McpToolList.objects.create(
        server=mcp_server(), user=world.session.owner, revision=uuid.uuid4(), expires_at=timezone.now()
    )


def approval(world: World, **fields: Any) -> Approval:
    row = Approval.for_call(tool_call(world), world.session, AskedTool({}))
    for name, value in fields.items():
        setattr(row, name, value)
    row.save()
    return row


def sent(world: World, **fields: Any) -> SentRequest:
    given = {"common": 0, "messages": [], "tokens": 1, "prefix_share": 0, "sent_at": timezone.now()}
    return SentRequest.objects.create(**{"run": world.run, "attempt": 1, "cycle": 1} | given | fields)


def setup(world: World, **fields: Any) -> RunSetup:
    version, _ = PromptVersion.objects.get_or_create(digest="d", defaults={"content": {}})
    given = {"run": world.run, "attempt": 1, "version": version, "options": {}}
    return RunSetup.objects.create(**given | fields)


def side_request(world: World, **fields: Any) -> SideRequest:
    given = {
        "session": world.session,
        "run": world.run,
        "purpose": "title",
        "model": "m",
        "sent_at": timezone.now(),
    }
    return SideRequest.objects.create(**given | fields)


def compression(world: World, **fields: Any) -> Compression:
    given = {"session": world.session, "parent": world.question, "leaf": world.answer, "model": "m"}
    return Compression.objects.create(**given | {"triggered_by": "auto"} | fields)


def twice(make: Callable[[], Any]) -> None:
    make()
    make()


def agent(world: World, **fields: Any) -> Agent:
    return Agent.objects.create(**{"owner": world.session.owner, "name": "Tides", **fields})


def attached(world: World, file: File | None = None, **fields: Any) -> MessageFile:
    file = file or File.objects.create(owner=world.session.owner, name="tides.txt")
    return MessageFile.objects.create(**{"message": world.question, "file": file, "position": 0, **fields})


def one_file_twice(world: World) -> None:
    first = attached(world)
    attached(world, first.file, position=1)


def two_files_of_one_number(world: World) -> None:
    attached(world, number=1)
    attached(world, position=1, number=1)


def provider(**fields: Any) -> Provider:
    return Provider.objects.create(**{"name": "cloud", "base_url": "https://api.example.com/v1", **fields})


def another_run(world: World, **fields: Any) -> Run:
    reply = ChatMessage.objects.append(world.question, role=Role.ASSISTANT)
    given = {"turn": world.turn, "message": reply, "model": "m", "deadline": timezone.now()}
    return Run.objects.create(**given | fields)


def two_defaults(_: World) -> None:
    ModelConfig.objects.create(name="a", is_default=True)
    ModelConfig.objects.create(name="b", is_default=True)


def image_twice(w: World) -> None:
    image = {"tool_call": tool_call(w), "file": File.objects.create(owner=w.session.owner, name="moon.png")}
    twice(lambda: ToolCallImage.objects.create(**image, position=0))


def nested_twice(world: World) -> None:
    outer = tool_call(world)
    twice(lambda: tool_call(world, message=None, parent_tool_call=outer))


REFUSED: dict[str, Callable[[World], Any]] = {
    # The tree
    "one_root_per_session": lambda w: message(w, role=Role.ROOT),
    "one_message_per_client_id": lambda w: message(
        w, parent=ChatMessage.objects.root_of(w.session), parent_role="root", client_message_id="one"
    ),
    "one_summary_per_parent_and_cutoff": lambda w: twice(lambda: summary(w, w.question)),
    "message_role_known": lambda w: message(w, role="system"),
    "message_roles_alternate": lambda w: message(w, parent=w.question, parent_role="user"),
    "message_parent_has_role": lambda w: change(w.answer, parent_role=None),
    "message_is_not_its_own_parent": lambda w: change(w.answer, parent=w.answer.pk),
    "root_is_empty": lambda w: change(ChatMessage.objects.root_of(w.session), text="hello"),
    "only_summaries_have_a_cutoff": lambda w: change(w.answer, last_summarized_message=w.question),
    "message_parent_in_same_session": lambda w: message(
        w, parent=ChatMessage.objects.root_of(w.other), parent_role="root"
    ),
    "message_parent_role_is_true": lambda w: message(w, parent=w.question, parent_role="assistant"),
    "message_latest_child_is_a_reply_to_it": lambda w: change(
        ChatMessage.objects.root_of(w.session), latest_child=w.answer
    ),
    "message_cutoff_in_same_session": lambda w: summary(w, ChatMessage.objects.root_of(w.other)),
    # Sessions
    "session_settings_known": lambda w: change(w.session, settings={"options": {"temperature": 3}}),
    "one_event_per_number": lambda w: twice(
        lambda: SessionEvent.objects.create(session=w.session, n=1, kind="turn_started", payload={})
    ),
    # Runs
    "one_answer_per_turn_and_model": lambda w: another_run(w, model_index=0),
    "run_status_known": lambda w: change(w.run, status="asleep"),
    "run_access_known": lambda w: change(w.run, knowledge_access="guessed"),
    "run_options_known": lambda w: change(w.run, options={"mood": "good"}),
    "run_counts_not_negative": lambda w: change(w.run, failures=-1),
    "run_has_an_end_iff_terminal": lambda w: change(w.run, status="completed"),
    "running_run_has_a_lease": lambda w: change(w.run, status="running"),
    "only_failed_runs_have_an_error": lambda w: change(w.run, error_code="internal_error"),
    "announced_after_the_end": lambda w: change(w.run, announced_at=timezone.now()),
    "run_cost_not_negative": lambda w: change(w.run, cost=-1),
    # Limits
    "one_daily_use_per_user_and_day": lambda w: twice(
        lambda: DailyUse.objects.create(user=w.session.owner, day=timezone.now().date())
    ),
    "daily_use_not_negative": lambda w: DailyUse.objects.create(
        user=w.session.owner, day=timezone.now().date(), tokens=-1
    ),
    "group_limits_not_negative": lambda _: GroupLimits.objects.create(
        group=Group.objects.create(name="g"), cost_per_day=-1
    ),
    "default_limits_not_negative": lambda _: DefaultLimits.objects.create(runs_per_day=-1),
    "one_row_of_default_limits": lambda _: DefaultLimits.objects.create(id=2),
    # Agents
    "agent_has_a_name": lambda w: agent(w, name=""),
    "saved_prompt_has_a_name": lambda w: SavedPrompt.objects.create(owner=w.session.owner, name="", text="x"),
    "agent_options_known": lambda w: agent(w, options={"top_p": 2}),
    "agent_context_layout_known": lambda w: agent(w, context_layout="sideways"),
    "webhook_has_a_secret": lambda w: Webhook.objects.create(
        owner=w.session.owner, url="https://hooks.example.com/"
    ),
    "one_run_per_agui_name": lambda w: twice(
        lambda: AgUiRun.objects.create(session=w.session, name="1", run=w.run)
    ),
    "one_prompt_block_per_kind": lambda w: twice(
        lambda: PromptBlock.objects.create(message=w.question, kind="CA", text="Be brief.")
    ),
    "prompt_block_kind_known": lambda w: PromptBlock.objects.create(message=w.question, kind="X", text="x"),
    # What answers rest on
    "one_file_per_position": lambda w: twice(lambda: attached(w)),
    "one_place_per_file_of_a_message": one_file_twice,
    "one_file_per_number": two_files_of_one_number,
    "file_number_positive": lambda w: attached(w, number=0),
    "one_citation_per_number": lambda w: twice(
        lambda: CitedDocument.objects.create(message=w.answer, number=1, document_id="a", title="Tides")
    ),
    "citation_number_positive": lambda w: CitedDocument.objects.create(
        message=w.answer, number=0, document_id="a", title="Tides"
    ),
    # Tool calls
    "tool_call_has_one_parent": lambda w: tool_call(w, message=None),
    "tool_call_status_known": lambda w: tool_call(w, status="asleep"),
    "approval_decision_known": lambda w: approval(w, decision="perhaps"),
    "approval_question_has_form": lambda w: approval(w, kind="question"),
    "tool_policy_approval_known": lambda _: ToolPolicy.objects.create(name="act", approval="sometimes"),
    "mcp_server_transport_known": lambda _: McpServer.objects.create(name="a", transport="sse"),
    "mcp_server_status_known": lambda _: McpServer.objects.create(name="a", transport="http", status="up"),
    "mcp_server_approval_known": lambda _: McpServer.objects.create(
        name="a", transport="http", approval="often"
    ),
    "mcp_server_sign_in_known": lambda _: McpServer.objects.create(
        name="a", transport="http", sign_in="nobody"
    ),
    "one_mcp_credential_of_a_user": lambda _: twice(shared_credential),
    "mcp_credential_has_a_secret": lambda _: shared_credential(encrypted_secret=""),
    "one_mcp_catalog_of_a_credential": lambda _: twice(mcp_catalog),
    "one_mcp_tool_list_of_a_user": lambda world: twice(lambda: mcp_tool_list(world)),
    "mcp_request_kind_known": lambda w: McpRequest.objects.begin(w.session.owner, mcp_server(), kind="tool"),
    "mcp_request_status_known": lambda w: McpRequest.objects.begin(
        w.session.owner, mcp_server(), kind="prompt", status="lost"
    ),
    "mcp_revocation_has_a_secret": lambda _: McpRevocation.objects.create(
        encrypted_secret="", expires_at=timezone.now()
    ),
    "mcp_sign_in_status_known": lambda w: McpSignIn.objects.create(
        user=w.session.owner, server=mcp_server(), status="lost", expires_at=timezone.now()
    ),
    "one_tool_image_per_position": image_twice,
    "one_tool_call_per_place_in_message": lambda w: twice(lambda: tool_call(w)),
    "one_tool_call_per_place_in_tool_call": nested_twice,
    # What was sent to models
    "one_sent_request_per_cycle": lambda w: twice(lambda: sent(w)),
    "sent_request_counts_not_negative": lambda w: sent(w, common=-1),
    "prefix_share_is_a_share": lambda w: sent(w, prefix_share=1.5),
    "side_request_is_for_run_or_compression": lambda w: side_request(w, compression=compression(w)),
    "side_request_counts_positive": lambda w: side_request(w, number=0),
    "side_request_cost_not_negative": lambda w: side_request(w, cost=-1),
    # What runs were answered with
    "one_setup_per_attempt": lambda w: twice(lambda: setup(w)),
    "setup_of_an_attempt": lambda w: setup(w, attempt=0),
    "setup_names_no_agent_without_one": lambda w: setup(w, agent_name="Tides"),
    # Compressions
    "one_live_compression_per_parent": lambda w: twice(lambda: compression(w)),
    "compression_status_known": lambda w: compression(w, status="asleep", ended_at=timezone.now()),
    "compression_trigger_known": lambda w: compression(w, triggered_by="moon"),
    "compression_has_an_end_iff_over": lambda w: compression(w, status="done"),
    "running_compression_has_a_lease": lambda w: compression(w, status="running"),
    "only_vain_compressions_have_an_error": lambda w: compression(w, error_code="internal_error"),
    "compression_counts_not_negative": lambda w: compression(w, failures=-1),
    # The rest
    "one_default_model": two_defaults,
    "model_output_fits_its_window": lambda _: ModelConfig.objects.create(
        name="m", context_window=10, max_output_tokens=10
    ),
    "model_prices_not_negative": lambda _: ModelConfig.objects.create(name="m", cached_price=-1),
    "model_unsupported_options_known": lambda _: ModelConfig.objects.create(
        name="m", unsupported_options=["mood"]
    ),
    "model_dialect_known": lambda _: ModelConfig.objects.create(name="m", dialect=["mumbled"]),
    "model_token_factor_is_bounded": lambda _: ModelConfig.objects.create(name="m", token_factor=0.1),
    "model_has_one_server": lambda _: ModelConfig.objects.create(
        name="m", base_url="http://127.0.0.1:9/v1", provider=provider()
    ),
    "one_provider_of_a_name": lambda _: twice(provider),
    "provider_has_a_name": lambda _: provider(name=""),
    "deleted_provider_has_no_key": lambda _: provider(deleted_at=timezone.now(), encrypted_api_key="x"),
    "token_scope_known": lambda w: TokenScope.objects.create_token(w.session.owner, "everything"),  # type: ignore[arg-type]
    "token_for_an_agent_has_its_scope": lambda w: TokenScope.objects.create_token(
        w.session.owner, agent=Agent.objects.create(owner=w.session.owner, name="Pilot")
    ),
    "token_limits_positive": lambda w: TokenScope.objects.create_token(w.session.owner, tokens_per_day=0),
    "invitation_uses_within_max": lambda _: invitation(uses=2),
    "invitation_by_e_mail_is_for_one": lambda _: invitation(email="a@example.org", max_uses=2),
    "session_in_trash_is_purged": lambda w: change(w.session, deleted_at=timezone.now()),
    "temporary_session_is_in_no_list": lambda w: change(
        w.session, temporary_until=timezone.now(), is_archived=True
    ),
    "one_system_prompt": lambda _: SystemPrompt.objects.create(id=2, text="x"),
    "feedback_says_something": lambda w: Feedback.objects.create(message=w.answer),
}


def checked(act: Callable[[World], Any], world: World) -> None:
    with transaction.atomic():
        act(world)
        connection.check_constraints()  # now, and not at the end of the test's transaction


@pytest.mark.parametrize("name", REFUSED)
def test_the_database_refuses(world: World, name: str) -> None:
    with pytest.raises(IntegrityError) as caught:
        checked(REFUSED[name], world)
    assert caught.value.__cause__.diag.constraint_name == name  # type: ignore[union-attr]


def test_every_constraint_has_its_case() -> None:
    declared = {
        one.name for model in apps.get_app_config("chat").get_models() for one in model._meta.constraints
    }
    assert set(REFUSED) | TARGETS == declared | set(TREE_KEYS)


def test_the_world_itself_is_allowed(world: World) -> None:
    world.question.choose()
    world.answer.choose()
    summary(world, world.question)
    connection.check_constraints()


def test_a_session_goes_with_everything_in_it(world: World) -> None:
    world.question.choose()
    world.answer.choose()
    world.session.point_at(world.answer)
    tool_call(world)
    compression(world, summary=summary(world, world.answer))
    world.session.delete()
    connection.check_constraints()
    assert set(Session.objects.values_list("pk", flat=True)) == {world.other.pk}


def test_a_latest_child_that_is_a_summary_is_refused(world: World) -> None:
    with pytest.raises(IntegrityError):
        checked(lambda w: change(w.question, latest_child=summary(w, w.question)), world)


def test_a_parent_that_does_not_exist_is_refused(world: World) -> None:
    with pytest.raises(IntegrityError):
        checked(lambda w: message(w, parent_id=uuid.uuid4(), parent_role="root"), world)
