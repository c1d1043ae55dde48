"""Knowledge bases in chats, end to end: where the block stands, and what is found, from recorded requests."""

from uuid import uuid4

import pytest

from tests.e2e.file_chat import FileChat, call, documents, letters, message_of, text_of, tools_of
from tests.stack import Stack
from tests.upstream_steps import Rule

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(240)]

TOOL = "knowledge_base_search"
BASE = """
from django.contrib.auth import get_user_model
from knowledge.search.indexing import store_missing_chunks
from knowledge.models import File, KnowledgeBase
alice = get_user_model().objects.get(username="alice")
base = KnowledgeBase.objects.start(alice, pk="{pk}", name="{name}", summary="When the water rises.")
file = File.objects.create(owner=alice, knowledge_base=base, name="{name}.txt", text="{text}", status="ready")
store_missing_chunks(File.objects.filter(pk=file.pk))
"""


def create_base(stack: Stack, name: str, text: str) -> str:
    pk = str(uuid4())
    stack.manage("shell", "-v", "0", "-c", BASE.format(pk=pk, name=name, text=text))
    return pk


async def test_the_block_stands_above_the_question_while_its_base_is_bound(chat: FileChat) -> None:
    tides = create_base(chat.stack, "Tides", "Low water stands at two metres.")
    await chat.open(knowledge_bases=[tides])
    chat.stack.upstream.rules.insert(0, Rule([call(TOOL, query="low water")], times=1))
    await chat.turn(await chat.upload("sent-1.txt", "It was high."), additional_context="It rains.")
    first, second = chat.request(-2), chat.request()
    assert letters(first) == "S D F1 U1"
    assert letters(second) == "S D F1 U1 TC TR R"
    assert second.messages[:4] == first.messages
    assert text_of(message_of(first, "D")).startswith(
        f"# Knowledge bases\n\n- Tides (id {tides}): 1 document."
    )
    [found] = documents(message_of(second, "TR"))
    assert (found["document"], found["title"]) == (2, "Tides.txt"), "behind the file of the message"
    await chat.turn()
    assert letters(chat.request()) == "S F1 U1 TC TR A1 D U2"
    assert "no longer available" in text_of(message_of(chat.request(), "TR"))
    await chat.client.call("PATCH", f"sessions/{chat.session['id']}/", json={"knowledge_bases": []})
    await chat.turn()
    assert letters(chat.request()) == "S F1 U1 TC TR A1 U2 A2 U3"
    assert tools_of(chat.request()) == []


async def test_a_pick_that_is_sent_by_the_socket_holds_for_its_question(chat: FileChat) -> None:
    tides, bread = (create_base(chat.stack, name, f"All of {name}.") for name in ("Tides", "Bread"))
    await chat.open(knowledge_bases=[tides])
    sent = {"session": chat.session["id"], "text": "Question 1", "models": ["alpha"]}
    turn = await chat.socket.ask("accepted", type="send", knowledge_bases=[bread], **sent)
    await chat.socket.until(lambda: turn["turn"] in chat.socket.stopped_turns, "overall_stop")
    picked = chat.request()
    assert "Bread" in text_of(message_of(picked, "D"))
    assert "Tides" not in text_of(message_of(picked, "D"))
    assert "The user picked these knowledge bases" in text_of(picked.messages[0])
    assert (await chat.branch())[0]["knowledge_bases"] == [bread]
    chat.number = 1
    await chat.turn()
    assert "Tides" in text_of(message_of(chat.request(), "D"))
    assert "The user picked" not in text_of(chat.request().messages[0])
