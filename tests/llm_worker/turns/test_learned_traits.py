"""A server is taken at its word, once, and what it refused is remembered with its model."""

import pytest

from chat.models import ModelConfig, ToolCall
from chat.protocol.states import Status
from chat.protocol.wire import MessageDelta, Snapshot
from chat.runs.cancellation import stop_run
from tests import factories
from tests.llm_worker.outcomes import ended, stopped, wait_for_text
from tests.llm_worker.screens import entries


def refusal(message, status=400, code="unsupported_parameter"):
    return {"status": status, "body": {"error": {"message": message, "code": code}}}


FORBIDDEN = {"type": "extra_forbidden", "loc": ["body", "stream_options", "include_usage"]}
CASES = [
    pytest.param(
        refusal("Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."),
        "max_completion_tokens", lambda body: body.get("max_completion_tokens") == 99 and "max_tokens" not in body,
        id="the name of the output limit",
    ),
    pytest.param(
        {"status": 422, "body": {"detail": [FORBIDDEN | {"msg": "Extra inputs are not permitted"}]}},
        "no_stream_options", lambda body: "stream_options" not in body, id="stream_options",
    ),
    pytest.param(
        refusal("Unsupported value: 'messages[0].role' does not support 'system' with this model.", code="unsupported_value"),
        "no_system_role", lambda body: [message["role"] for message in body["messages"]] == ["user"], id="the system role",
    ),
    pytest.param(
        refusal("tool_choice is not supported"), "no_tool_choice", lambda body: body["tools"] and "tool_choice" not in body,
        id="tool_choice",
    ),
]  # fmt: skip


@pytest.fixture
def answered(ask, deliver, upstream, agent_session):
    ModelConfig.objects.create(name="scripted", base_url=upstream.base_url, max_output_tokens=99)
    session = agent_session(tools=["current_time"])

    def answered():
        [run] = ask("Why?", session=session)
        deliver(run).result(60)
        ended(run, Status.COMPLETED)
        return [received.body for received in upstream.requests]

    return answered


@pytest.mark.parametrize(("step", "trait", "is_accepted"), CASES)
def test_what_a_server_refuses_is_left_out_from_the_next_request_on(
    answered, upstream, step, trait, is_accepted
):
    upstream.reply(step, times=1)
    upstream.reply({"text": "Because."})
    refused, accepted = answered()
    assert not is_accepted(refused)
    assert is_accepted(accepted)
    assert ModelConfig.objects.get().dialect == [trait]
    # By now it is stored, and no request is refused any more.
    *_, later = answered()
    assert len(upstream.requests) == 3
    if trait != "no_system_role":
        assert is_accepted(later)
    else:
        assert "system" not in {message["role"] for message in later["messages"]}


def test_the_system_prompt_is_joined_to_the_first_question(answered, upstream):
    ModelConfig.objects.update(dialect=["no_system_role"])
    [body] = answered()
    [message] = body["messages"]
    assert message["role"] == "user"
    assert "Why?" in message["content"]
    assert not message["content"].startswith("Why?")


def test_what_was_learned_is_forgotten_with_the_address_or_the_name(answered, upstream):
    upstream.reply(CASES[0].values[0], times=1)
    upstream.reply({"text": "Because."})
    answered()
    ModelConfig.objects.update(upstream_name="renamed")
    assert answered()[-1]["max_tokens"] == 99


def test_what_staff_have_removed_is_learned_again(answered, upstream, monkeypatch):
    monkeypatch.setattr("llm_worker.upstream.learned_traits.KEPT_S", 0.0)  # the time has passed
    for _ in range(2):
        upstream.reply(CASES[0].values[0], times=1)
        upstream.reply({"text": "Because."}, times=1)
        answered()
        assert ModelConfig.objects.get().dialect == ["max_completion_tokens"]
        ModelConfig.objects.update(dialect=[])


def test_a_server_that_refuses_again_is_not_asked_for_ever(ask, deliver, upstream):
    ModelConfig.objects.create(name="scripted", base_url=upstream.base_url, max_output_tokens=99)
    upstream.reply(CASES[0].values[0])
    [run] = ask("Why?")
    deliver(run).result(60)
    ended(run, Status.FAILED, code="upstream_rejected")
    assert len(upstream.requests) == 2
    assert ModelConfig.objects.get().dialect == []


def test_a_limit_that_is_too_high_is_no_trait(ask, deliver, upstream):
    ModelConfig.objects.create(name="scripted", base_url=upstream.base_url, max_output_tokens=99)
    upstream.reply(refusal("max_tokens must be at most 50", code="invalid"))
    [run] = ask("Why?")
    deliver(run).result(60)
    ended(run, Status.FAILED, code="upstream_rejected")
    assert len(upstream.requests) == 1


TIME = {"name": "current_time", "arguments": {}}
LONE = [{"text": "So the user asks."}, {"text": "\n</think>\n\n"}, {"text": "The answer"}]


def test_of_its_first_answer_what_stands_before_the_tag_is_reasoning_too(ask, deliver, upstream):
    upstream.reply(*LONE)
    [run] = ask("Why?")
    deliver(run).result(60)
    # In the database, and on the screens of readers, whose text is replaced.
    seen = ended(run, Status.COMPLETED, text="The answer")
    assert seen.reasoning == run.message.reasoning == "So the user asks.\n"
    *shown, snapshot, stop = entries(run)
    assert "".join(one.obj.text for one in shown if isinstance(one.obj, MessageDelta)).startswith(
        "So the user asks."
    )
    assert (snapshot.message["text"], snapshot.message["status"]) == ("The answer", "completed")
    assert stop.seq == snapshot.seq + 1 == run.last_seq


def test_after_a_call_the_text_behind_it_is_a_paragraph_and_the_model_reads_its_own_words(
    ask, deliver, upstream, agent_session
):
    session = agent_session(tools=["current_time"])
    upstream.reply({"text": "Let me see."}, {"call": TIME}, times=1)
    upstream.reply(*LONE[:2], {"text": "Noon."}, {"call": TIME}, times=1)
    upstream.reply({"text": "Done."})
    [run] = ask("Why?", session=session)
    deliver(run).result(60)
    ended(run, Status.COMPLETED, text="Let me see.\n\nNoon.\n\nDone.")
    [again] = ask("And now?", session=session)
    deliver(again).result(60)
    said = [one["content"] for one in upstream.requests[-1].messages if one["role"] == "assistant"]
    assert said == ["Let me see.", "Noon.", "Done."]


def test_before_a_call_it_is_stored_with_the_round(ask, deliver, upstream, agent_session):
    session = agent_session(tools=["current_time"])
    upstream.reply(*LONE[:2], {"text": "Let me see. "}, {"call": TIME}, times=1)
    # From the next inference on it is not even shown.
    upstream.reply(*LONE[:2], {"text": "Noon."})
    [run] = ask("Why?", session=session)
    deliver(run).result(60)
    ended(run, Status.COMPLETED, text="Let me see. \n\nNoon.")
    assert str(entries(run)).count("</think>") == 1
    call = ToolCall.objects.get()
    assert (call.text_before, call.reasoning) == ("Let me see. ", "So the user asks.\n")
    [sent] = [message for message in upstream.requests[1].messages if "tool_calls" in message]
    assert sent["content"] == "Let me see. "


def test_of_the_report_of_an_agent_tool_it_is_reasoning_too(ask, deliver, upstream, agent_session):
    session = agent_session(tools=["research_agent"])
    upstream.reply(
        {"call": {"name": "research_agent", "arguments": {"question": "Why is it noon?"}}}, times=1
    )
    upstream.reply(*LONE, times=1)
    upstream.reply({"text": "Noon."})
    [run] = ask("Why?", session=session)
    deliver(run).result(60)
    ended(run, Status.COMPLETED, text="Noon.")
    call = ToolCall.objects.get()
    assert (call.report, call.report_reasoning) == ("The answer", "So the user asks.\n")
    [snapshot] = [entry for entry in entries(run) if isinstance(entry, Snapshot)]
    assert "</think>" not in str(snapshot.message)


def test_an_answer_that_was_stopped_is_split_as_well(ask, deliver, upstream):
    upstream.reply(*LONE, {"hang": True})
    [run] = ask("Why?")
    done = deliver(run)
    wait_for_text(upstream, run, len("So the user asks.\n</think>\n\nThe answer"))
    stop_run(run.pk)
    stopped(upstream, done, run)
    assert (run.message.text, run.message.reasoning) == ("The answer", "So the user asks.\n")


def test_of_a_model_that_omits_the_opening_tag_later_answers_are_split(answered, upstream):
    upstream.reply(*LONE)
    answered()
    assert ModelConfig.objects.get().dialect == ["untagged_thinking"]
    answered()
    from chat.models import ChatMessage

    answer = ChatMessage.objects.filter(role="assistant").order_by("sent_at").last()
    assert (answer.text, answer.reasoning) == ("The answer", "So the user asks.\n")


def test_once_the_server_marks_reasoning_itself_the_text_streams_and_the_trait_is_forgotten(
    ask, deliver, upstream
):
    model = ModelConfig.objects.create(
        name="scripted", base_url=upstream.base_url, dialect=["no_temperature", "untagged_thinking"]
    )
    upstream.reply({"reasoning": "So the user asks."}, {"text": "The answer"}, {"wait": "read"})
    [run] = ask("Why?")
    done = deliver(run)
    wait_for_text(upstream, run, len("The answer"))
    upstream.release("read")
    done.result(60)
    seen = ended(run, Status.COMPLETED, text="The answer")
    assert seen.reasoning == "So the user asks."
    model.refresh_from_db()
    assert model.dialect == ["no_temperature"]


def test_the_trait_stays_while_the_server_marks_no_reasoning(answered, upstream):
    ModelConfig.objects.update(dialect=["untagged_thinking"])
    upstream.reply({"text": "The answer"})
    answered()
    assert ModelConfig.objects.get().dialect == ["untagged_thinking"]


def ids_of(body):
    """The ids of calls, which are those of their responses."""
    called = [call["id"] for message in body["messages"] for call in message.get("tool_calls", ())]
    assert called == [one["tool_call_id"] for one in body["messages"] if one["role"] == "tool"]
    return called


@pytest.mark.parametrize(("status", "code"), [(400, "3280"), (404, None), (500, None)])
def test_a_server_that_wants_ids_of_nine_characters_gets_them(answered, upstream, status, code):
    said = "Tool call id was call_a but must be a-z, A-Z, 0-9, with a length of 9."
    upstream.reply({"call": TIME | {"id": "call_a"}}, {"call": TIME | {"id": "aB3dE6gH9"}}, times=1)
    upstream.reply({"status": status, "body": {"object": "error", "message": said, "code": code}}, times=1)
    upstream.reply({"text": "Noon."})
    _, refused, accepted = answered()
    assert ids_of(refused) == ["call_a", "aB3dE6gH9"]
    [short, kept] = ids_of(accepted)
    assert (len(short), short.isalnum(), kept) == (9, True, "aB3dE6gH9")
    assert ModelConfig.objects.get().dialect == ["short_call_ids"]
    *_, later = answered()
    assert ids_of(later) == [short, kept]


def test_ids_that_hold_a_signature_go_back_whole_to_the_server_that_misses_it(answered, upstream):
    given = "call_1__thought__" + "c2lnbmF0dXJl" * 12
    upstream.reply({"call": TIME | {"id": given}}, times=1)
    upstream.reply(refusal("Function call is missing a thought_signature in functionCall parts."), times=1)
    upstream.reply({"text": "Noon."})
    _, refused, accepted = answered()
    assert len(ids_of(refused)[0]) <= 40
    assert ids_of(accepted) == [given]
    assert ModelConfig.objects.get().dialect == ["server_call_ids"]


def test_an_id_of_another_alphabet_goes_back_to_its_server_alone(answered, upstream):
    upstream.reply({"call": TIME | {"id": "functions.current_time:0"}}, times=1)
    upstream.reply({"text": "Noon."})
    assert ids_of(answered()[-1]) == ["functions.current_time:0"]
    assert ids_of(answered()[-1]) == ["functions.current_time:0"]
    ModelConfig.objects.update(upstream_name="renamed")
    [elsewhere] = ids_of(answered()[-1])
    assert elsewhere.startswith("call_")


def test_staff_see_and_set_it(answered, upstream):
    model = ModelConfig.objects.get()
    client = factories.staff_client("view_modelconfig", "change_modelconfig")
    page = client.get(f"/admin/chat/modelconfig/{model.pk}/change/").content.decode()
    assert "untagged_thinking" in page


@pytest.mark.parametrize(
    ("status", "location", "told"),
    [
        (308, "/v1/chat/completions?moved=1", "{base_url}"),
        (307, "http://elsewhere.invalid/v2/chat/completions?key=7", "http://elsewhere.invalid/v2"),
        (302, "/login", "{origin}/login"),
    ],
)
def test_staff_read_where_an_address_redirects_until_it_answers_itself(
    ask, deliver, upstream, status, location, told
):
    ModelConfig.objects.create(name="scripted", base_url=upstream.base_url)
    told = told.format(base_url=upstream.base_url, origin=upstream.base_url.removesuffix("/v1"))
    client = factories.staff_client("view_modelconfig", "change_modelconfig")

    def shown(*, asks=True):
        if asks:
            [run] = ask("Why?")
            deliver(run).result(60)
        model = ModelConfig.objects.get()
        pages = ("", f"{model.pk}/change/")
        texts = [client.get(f"/admin/chat/modelconfig/{page}").content.decode() for page in pages]
        [is_shown] = {f"sends requests to {told}. Enter that address." in text for text in texts}
        return is_shown

    assert not shown()
    upstream.reply({"status": status, "location": location}, times=1)
    assert shown()
    # What it said of another address does not count.
    ModelConfig.objects.update(base_url="http://another.invalid/v1")
    assert not shown(asks=False)
    ModelConfig.objects.update(base_url=upstream.base_url)
    assert not shown()


@pytest.fixture
def offered(upstream):
    """The names of the tools in the requests, in order."""
    return lambda: [
        [tool["function"]["name"] for tool in request.body.get("tools", ())] for request in upstream.requests
    ]


def test_a_tool_that_its_server_refuses_is_left_out_for_good_and_named_to_staff(
    ask, deliver, upstream, offered, agent_session
):
    model = ModelConfig.objects.create(name="scripted", base_url=upstream.base_url)
    session = agent_session(tools=["current_time", "ask_user"])
    upstream.reply(
        refusal("Invalid schema for function 'ask_user'", code="invalid_function_parameters"), times=1
    )
    upstream.reply({"text": "Noon."})
    for question in ("When?", "And now?"):
        [run] = ask(question, session=session)
        deliver(run).result(60)
        ended(run, Status.COMPLETED)
    assert offered() == [["ask_user", "current_time"], ["current_time"], ["current_time"]]
    model.refresh_from_db()
    [refused] = model.refused_tools
    assert refused.startswith("ask_user:")
    client = factories.staff_client("view_modelconfig", "change_modelconfig")
    assert refused in client.get(f"/admin/chat/modelconfig/{model.pk}/change/").content.decode()
    user = factories.api_client(run.turn.session.owner)
    assert user.get(f"/api/runs/{run.pk}/").json()["context"]["left_out_tools"] == 1
    # Elsewhere the tool is offered again, as it is when staff remove the entry.
    ModelConfig.objects.update(upstream_name="renamed")
    [run] = ask("Here?", session=session)
    deliver(run).result(60)
    assert offered()[-1] == ["ask_user", "current_time"]


def test_a_tool_that_the_user_asks_for_is_not_left_out_silently(
    ask, deliver, upstream, offered, agent_session
):
    ModelConfig.objects.create(name="scripted", base_url=upstream.base_url)
    session = agent_session(tools=["current_time"])
    upstream.reply(refusal("Invalid schema for function 'current_time'"))
    [run] = ask("When?", session=session, forced_tool="current_time")
    deliver(run).result(60)
    ended(run, Status.FAILED, code="upstream_rejected")
    assert offered() == [["current_time"]]
