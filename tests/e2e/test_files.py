"""Files of messages, end to end: what each model of a turn is sent of them, from recorded requests of real processes."""

import re
from base64 import b64decode
from io import BytesIO
from typing import Any

import pytest

from tests.e2e.client import Frame
from tests.e2e.file_chat import (
    FileChat,
    all_documents,
    call,
    documents,
    letters,
    message_of,
    text_of,
    tools_of,
)
from tests.ingest import documents as contents

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(240)]

# Of a request to the model with a window of 8,000: 95 % of it, less the quarter for the answer.
COMPACT_BUDGET = 5_600


def of_tokens(count: int) -> str:
    """Each of these words is one token, and so is the first."""
    return "low" + " tide" * (count - 1)


async def test_the_files_of_a_message_are_one_message_above_it_and_stay_there(chat: FileChat) -> None:
    low = await chat.upload("sent-1-low.txt", 'Low water: "two" metres.\n')
    table = await chat.upload("sent-1-table.csv", "day,metres\nMonday,4.2\n")
    await chat.turn(low, table)
    first = chat.request()
    assert letters(first) == "S F1 U1"
    shown = message_of(first, "F1")
    assert [list(one) for one in documents(shown)] == [["document", "title", "contents"]] * 2
    assert [(one["document"], one["title"]) for one in documents(shown)] == [
        (1, "sent-1-low.txt"),
        (2, "sent-1-table.csv"),
    ]
    assert documents(shown)[0]["contents"] == 'Low water: "two" metres.\n'
    assert "Monday" in documents(shown)[1]["contents"]
    await chat.turn()
    second = chat.request()
    assert letters(second) == "S F1 U1 A1 U2"
    assert second.messages[: len(first.messages)] == first.messages, "byte for byte"
    question = (await chat.branch())[0]
    assert [(one["name"], one["kind"], one["token_count"]) for one in question["files"]] == [
        (one["name"], one["kind"], one["token_count"]) for one in (low, table)
    ]
    assert [one["kind"] for one in question["files"]] == ["text", "tabular"]


async def test_documents_are_numbered_on_and_cited_by_number(chat: FileChat) -> None:
    old = await chat.upload("sent-1.txt", "Two tides a day.")
    await chat.turn(old)
    await chat.turn()
    chat.stack.upstream.rules.clear()
    chat.stack.upstream.reply({"text": "Three [2], two [1], none [7]."})
    new = await chat.upload("sent-3.txt", "Three tides a day.")
    turn = await chat.turn(new)
    request = chat.request()
    assert letters(request) == "S F1 U1 A1 U2 A2 F3 U3"
    assert all_documents(request.messages) == [(1, "sent-1.txt"), (2, "sent-3.txt")]
    assert "# Citations" in text_of(request.messages[0])
    answer = (await chat.branch())[-1]
    assert answer["text"] == "Three [2], two [1], none [7]."
    assert [(one["number"], one["document_id"], one["title"]) for one in answer["citations"]] == [
        (1, old["id"], "sent-1.txt"),
        (2, new["id"], "sent-3.txt"),
    ]
    assert all("url" not in one for one in answer["citations"])
    told = [
        packet["obj"] for packet in chat.socket.of_type("packet") if packet["run"] == turn["runs"][0]["id"]
    ]
    assert [one["number"] for one in told if one["type"] == "citation_info"] == [2, 1]


@pytest.mark.full
async def test_without_a_document_nothing_speaks_of_citations(chat: FileChat) -> None:
    await chat.turn()
    assert letters(chat.request()) == "S U1"
    assert "# Citations" not in text_of(chat.request().messages[0])
    assert tools_of(chat.request()) == []


@pytest.mark.full
async def test_dynamic_context_stands_above_the_current_file_and_not_in_later_turns(chat: FileChat) -> None:
    await chat.turn(await chat.upload("sent-1.txt", "Two tides a day."), additional_context="It rains.")
    assert letters(chat.request()) == "S D F1 U1"
    await chat.turn(await chat.upload("sent-2.txt", "Three tides."), additional_context="It snows.")
    assert letters(chat.request()) == "S F1 U1 A1 D F2 U2"
    assert "It snows." in text_of(message_of(chat.request(), "D"))


@pytest.mark.full
async def test_an_edited_question_keeps_the_numbers_of_its_own_branch(chat: FileChat) -> None:
    await chat.turn(await chat.upload("sent-1.txt", "Two tides a day."))
    await chat.turn(await chat.upload("sent-3.txt", "Three tides."), parent=None)
    chat.number = 2
    await chat.turn(await chat.upload("sent-3.txt", "Four tides."), parent=None)
    assert letters(chat.request()) == "S F3 U3"
    assert all_documents(chat.request().messages) == [(1, "sent-3.txt")]


@pytest.mark.full
async def test_the_date_follows_the_question_and_is_the_same_later(chat: FileChat) -> None:
    await chat.turn(await chat.upload("sent-1.png", contents.picture("PNG")), models=["sighted"])
    asked = text_of(message_of(chat.request(), "U1"))
    assert re.fullmatch(r"Question 1\n\n<sent_at>\d{4}-\d\d-\d\d \d\d:\d\d UTC</sent_at>", asked)
    await chat.turn(models=["sighted"])
    assert text_of(message_of(chat.request(), "U1")) == asked
    assert "sent_at" not in (await chat.branch())[0]["text"]


async def test_a_model_that_sees_is_sent_the_image_and_any_other_one_line(chat: FileChat) -> None:
    from PIL import Image

    moon = await chat.upload("sent-1-moon.jpg", contents.picture_of_a_camera())
    assert (moon["kind"], moon["width"], moon["height"]) == ("image", 48, 64)
    text = await chat.upload("sent-1.txt", "Two tides a day.")
    models = ["sighted", "alpha"]
    await chat.turn(moon, text, models=models)
    for _ in range(2):
        sighted, blind = (chat.request(model=model) for model in models)
        seen = message_of(sighted, "U1")["content"]
        assert [part["type"] for part in seen] == ["text", "image_url"]
        kind, _, encoded = seen[1]["image_url"]["url"].partition(";base64,")
        assert kind == "data:image/jpeg"
        sent = b64decode(encoded)
        assert b"SECRET" not in sent
        with Image.open(BytesIO(sent)) as image:
            assert image.size == (48, 64)
        marked = message_of(blind, "U1")["content"]
        assert isinstance(marked, str)
        [line] = [one for one in marked.split("\n") if "sent-1-moon.jpg" in one]
        assert line.startswith("[Image left out")
        assert documents(message_of(sighted, "F1")) == documents(message_of(blind, "F1"))
        assert all(isinstance(message["content"], str) for message in blind.messages)
        plain = [message for message in sighted.messages if isinstance(message["content"], str)]
        assert len(plain) == len(sighted.messages) - 1, "content is a plain string unless images are attached"
        await chat.turn(models=models)  # once more, in the history
    assert letters(chat.request(model="sighted")) == "S F1 U1 A1 U2 A2 U3"


@pytest.mark.full
async def test_a_file_that_no_chosen_model_can_take_is_refused_with_both_numbers(chat: FileChat) -> None:
    long = await chat.upload("sent-1-long.txt", of_tokens(COMPACT_BUDGET + 1))
    assert long["token_count"] == COMPACT_BUDGET + 1
    assert (long["fits"]["compact"], long["fits"]["alpha"]) == (False, True)
    body = {"text": "Question 1", "files": [long["id"]], "models": ["alpha", "compact"]}
    refused = await chat.client.call("POST", f"sessions/{chat.session['id']}/turns/", json=body, status=413)
    told = {name: refused[name] for name in ("code", "field", "model", "file", "token_count", "limit")}
    assert told == {
        "code": "attachments_too_large", "field": "files", "model": "compact", "file": long["id"],
        "token_count": COMPACT_BUDGET + 1, "limit": COMPACT_BUDGET,
    }  # fmt: skip
    for part in ("sent-1-long.txt", "compact", str(COMPACT_BUDGET + 1), str(COMPACT_BUDGET)):
        assert part in refused["message"].replace(",", "")
    assert (await chat.branch(), chat.stack.upstream.requests) == ([], [])
    await chat.turn(long)
    assert letters(chat.request()) == "S F1 U1", "whole to the model that can take it"
    assert documents(message_of(chat.request(), "F1"))[0]["contents"] == of_tokens(COMPACT_BUDGET + 1)


@pytest.mark.full
async def test_what_fits_alone_but_not_beside_the_prompts_fails_the_run_and_keeps_the_message(
    chat: FileChat,
) -> None:
    whole = await chat.upload("sent-1.txt", of_tokens(COMPACT_BUDGET))
    assert whole["fits"]["compact"]
    turn = await chat.turn(whole, models=["compact"])
    run = await chat.client.call("GET", f"runs/{turn['runs'][0]['id']}/")
    assert (run["error"]["code"], run["error"]["retryable"]) == ("context_too_long", False)
    question, answer = await chat.branch()
    assert (question["text"], len(question["files"]), answer["status"]) == ("Question 1", 1, "failed")
    assert chat.stack.upstream.requests == []


@pytest.mark.full
async def test_a_file_that_failed_is_not_sent(chat: FileChat) -> None:
    broken = await chat.upload("sent-1.pdf", b"%PDF-1.7 garbage")
    assert (broken["status"], broken["error"]["code"]) == ("failed", "document_corrupt")
    body = {"text": "Question 1", "files": [broken["id"]]}
    refused = await chat.client.call("POST", f"sessions/{chat.session['id']}/turns/", json=body, status=422)
    assert refused["code"] == "file_failed"


class TestForgottenFiles:
    async def forget(self, chat: FileChat) -> tuple[Frame, Any]:
        """A turn whose request has no room for the file of the one before; returns that file and the request."""
        table = await chat.upload("sent-1.txt", _table())
        await chat.turn(table, models=["compact"])
        assert (letters(chat.request()), tools_of(chat.request())) == ("S F1 U1", [])
        new = await chat.upload("sent-2.txt", of_tokens(2_500))
        chat.stack.upstream.rules.insert(0, _once(call("read_file", file=table["id"], start=29, length=29)))
        await chat.turn(new, models=["compact"], additional_context="It rains.")
        return table, chat.request(-2)

    async def test_they_are_listed_above_the_current_file_and_read_by_their_id(self, chat: FileChat) -> None:
        table, first = await self.forget(chat)
        second = chat.request()
        assert letters(first) == "S U1 A1 D N F2 U2"
        assert letters(second) == "S U1 A1 D N F2 U2 TC TR R"
        lines = text_of(message_of(first, "N")).split("\n")
        assert lines[1:] == [f"- sent-1.txt (id {table['id']}, {table['size']} bytes)"]
        assert tools_of(first) == ["read_file"]
        assert "## read_file" in text_of(first.messages[0])
        [read] = documents(message_of(second, "TR"))
        assert (read["document"], read["title"], read["contents"]) == (
            1,
            "sent-1.txt",
            _table()[29:58],
        )
        assert all_documents(second.messages) == [(2, "sent-2.txt"), (1, "sent-1.txt")]
        assert second.messages[: len(first.messages)] == first.messages
        assert "square brackets" in text_of(second.messages[-1]), "cite what was read"

    @pytest.mark.full
    async def test_above_the_question_if_it_has_no_file(self, chat: FileChat) -> None:
        await self.forget(chat)
        await chat.turn(text=" tide" * 2_000, models=["compact"])
        assert re.fullmatch(r"S .*N U3", letters(chat.request()))
        assert "sent-1.txt" in text_of(message_of(chat.request(), "N"))

    @pytest.mark.full
    async def test_what_was_read_is_gone_in_later_turns_and_can_be_read_again(self, chat: FileChat) -> None:
        await self.forget(chat)
        await chat.turn(models=["alpha"])
        request = chat.request()
        assert letters(request) == "S F1 U1 A1 F2 U2 TC TR A2 U3", "a larger window forgets nothing"
        assert "no longer available" in text_of(message_of(request, "TR"))
        assert tools_of(request) == ["read_file"]

    @pytest.mark.full
    async def test_a_model_without_tools_is_told_nothing_it_cannot_do(self, chat: FileChat) -> None:
        await self.forget(chat)
        await chat.turn(text=" tide" * 2_000, models=["toolless"])
        request = chat.request()
        assert " N " not in letters(request)
        assert tools_of(request) == []


def _table() -> str:
    return "".join(f"Line {number} of the tide table.\n" for number in range(400))


def _once(*steps: dict[str, Any]) -> Any:
    from tests.upstream_steps import Rule

    return Rule(list(steps), times=1)
