"""What the model reads after its answer was edited: the user's text, and nothing of what the original rested on."""

from chat.models import ChatMessage, CitedDocument, ToolCall
from chat.turns.edits import edit_answer
from tests.llm_worker.outcomes import ended


def test_the_next_request_has_the_edited_text_in_the_place_of_the_answer(deliver, ask, upstream) -> None:
    upstream.reply({"text": "Six moons [1]."}, times=1)
    [run] = ask("How many moons?")
    deliver(run).result(60)
    ToolCall.objects.create(
        run=run, message=run.message, tool_call_id="c1", name="web_search", turn_number=0, response="Found",
        status="completed", documents=[{"number": 5, "document_id": "d", "title": "T"}],
    )  # fmt: skip
    CitedDocument.objects.create(message=run.message, number=1, document_id="d1", title="T")
    answer = ChatMessage.objects.select_related("session").get(pk=run.message_id)
    edit_answer(answer, "Two moons [1].")
    session = run.turn.session
    session.refresh_from_db()
    upstream.reply({"text": "Yes."}, times=1)
    [following] = ask("Sure?", session=session)
    deliver(following).result(60)
    ended(following, "completed", text="Yes.")
    sent = upstream.requests[-1].messages
    assert [message["role"] for message in sent[-3:]] == ["user", "assistant", "user"]
    assert sent[-2]["content"] == "Two moons [1]."
    assert "tool_calls" not in sent[-2]
    assert not any("Six" in (message["content"] or "") for message in sent)
