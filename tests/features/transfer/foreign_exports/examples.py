"""The same small conversation as each product exports it, with what only each of them has."""

from typing import Any

T = 1_700_000_000


def _chatgpt_node(
    key: str, parent: str | None, role: str, parts: list[Any] | None = None, **message: Any
) -> Any:
    content = message.pop("content", {"content_type": "text", "parts": parts})
    given = {
        "id": key,
        "author": {"role": role},
        "create_time": T + len(key),
        "content": content,
        "recipient": "all",
    }
    return {key: {"id": key, "message": given | message, "parent": parent, "children": []}}


def chatgpt(**members: Any) -> dict[str, Any]:
    """A question with a file, an answer with reasoning, a call and its result; another answer; a question below the first."""
    mapping = {"top": {"id": "top", "message": None, "parent": None, "children": ["sys"]}}
    mapping |= _chatgpt_node(
        "sys", "top", "system", [""], metadata={"is_visually_hidden_from_conversation": True}
    )
    mapping |= _chatgpt_node(
        "ask", "sys", "user", ["How high are the tides?"], metadata={"attachments": [{"name": "tides.pdf"}]}
    )
    mapping |= _chatgpt_node(
        "think",
        "ask",
        "assistant",
        content={"content_type": "thoughts", "thoughts": [{"content": "Look it up."}]},
    )
    mapping |= _chatgpt_node("say", "think", "assistant", ["Let me compute."])
    mapping |= _chatgpt_node(
        "call", "say", "assistant", content={"content_type": "code", "text": "1+1"}, recipient="python"
    )
    mapping |= _chatgpt_node(
        "out",
        "call",
        "tool",
        content={"content_type": "execution_output", "text": "2"},
        author={"role": "tool", "name": "python"},
    )
    mapping |= _chatgpt_node("end", "out", "assistant", ["Two metres."], metadata={"model_slug": "gpt-4o"})
    mapping |= _chatgpt_node("again", "ask", "assistant", ["Three metres."], metadata={"model_slug": "o3"})
    mapping |= _chatgpt_node("more", "end", "user", ["And the lowest?"])
    return {
        "title": "Tides",
        "create_time": float(T),
        "update_time": T + 60.5,
        "mapping": mapping,
        "current_node": "more",
        "conversation_id": "c-1",
    } | members


def open_webui(**members: Any) -> dict[str, Any]:
    messages = {
        "u1": {"id": "u1", "parentId": None, "role": "user", "content": "How high?", "timestamp": T,
               "files": [{"type": "image", "name": "sea.png"}]},
        "a1": {"id": "a1", "parentId": "u1", "role": "assistant", "model": "llama3:8b", "timestamp": T + 1,
               "content": '<details type="reasoning" done="true" duration="2">\n<summary>Thought for 2 seconds</summary>\n'
                          '&gt; Look &amp; see.\n</details>\nTwo metres.'
                          '<details type="tool_calls" done="true" id="t1" name="sea" arguments="&quot;{\\&quot;at\\&quot;: 1}&quot;" '
                          'result="&quot;high&quot;">\n<summary>Tool Executed</summary>\n</details>\n',
               "usage": {"prompt_tokens": 5, "completion_tokens": 7}, "annotation": {"rating": 1, "comment": "good"}},
        "a2": {"id": "a2", "parentId": "u1", "role": "assistant", "model": "gemma", "timestamp": T + 2, "content": "",
               "error": {"content": "out of memory"}},
    }  # fmt: skip
    return {
        "id": "w-1",
        "title": "Tides",
        "created_at": T,
        "updated_at": T + 60,
        "chat": {"title": "Tides", "history": {"messages": messages, "currentId": "a1"}},
    } | members


def librechat(**members: Any) -> dict[str, Any]:
    answer = {
        "messageId": "m2", "parentMessageId": "m1", "isCreatedByUser": False, "text": "", "model": "gpt-4o",
        "createdAt": "2023-11-14T22:13:21.000Z", "feedback": {"rating": "thumbsDown"},
        "content": [
            {"type": "think", "think": "Look it up."},
            {"type": "tool_call", "tool_call": {"id": "t1", "name": "sea", "args": '{"at": 1}', "output": "high"}},
            {"type": "text", "text": {"value": "Two metres."}},
        ],
    }  # fmt: skip
    question = {
        "messageId": "m1", "parentMessageId": "00000000-0000-0000-0000-000000000000", "isCreatedByUser": True,
        "text": "How high?", "createdAt": "2023-11-14T22:13:20.000Z", "files": [{"filename": "a.txt"}], "children": [answer],
    }  # fmt: skip
    return {
        "conversationId": "l-1",
        "title": "Tides",
        "exportAt": "22:13:20 GMT+0100",
        "recursive": True,
        "options": {"model": "gpt-4o"},
        "messages": [question],
    } | members


def claude(**members: Any) -> dict[str, Any]:
    """A question with an attachment and a picture; an answer with thinking, a call and its result; another answer."""
    question = {
        "uuid": "m1", "text": "How high?", "sender": "human", "created_at": "2023-11-14T22:13:20.000000Z",
        "content": [{"type": "text", "text": "How high?", "citations": []}],
        "attachments": [{"file_name": "tides.pdf", "file_type": "pdf", "file_size": 7, "extracted_content": "Two tides."}],
        "files": [{"file_name": "sea.png", "file_uuid": "f1"}], "parent_message_uuid": "00000000-0000-4000-8000-000000000000",
    }  # fmt: skip
    answer = {
        "uuid": "m2", "text": "", "sender": "assistant", "created_at": "2023-11-14T22:13:21.000000Z", "attachments": [], "files": [],
        "content": [
            {"type": "thinking", "thinking": "Look it up.", "summaries": [], "cut_off": False},
            {"type": "text", "text": "Let me look."},
            {"type": "tool_use", "id": "t1", "name": "sea", "input": {"at": 1}},
            {"type": "tool_result", "tool_use_id": "t1", "name": "sea", "content": [{"type": "text", "text": "high"}], "is_error": False},
            {"type": "text", "text": "Two metres."},
        ],
        "parent_message_uuid": "m1",
    }  # fmt: skip
    again = {
        "uuid": "m3", "text": "Three metres.", "sender": "assistant", "created_at": "2023-11-14T22:13:22Z",
        "content": [], "parent_message_uuid": "m1",
    }  # fmt: skip
    return {
        "uuid": "a-1",
        "name": "Tides",
        "summary": "",
        "created_at": "2023-11-14T22:13:20.000000Z",
        "updated_at": "2023-11-14T22:13:25.000000Z",
        "account": {"uuid": "u"},
        "chat_messages": [question, answer, again],
    } | members


def _fragments(*fragments: dict[str, Any], **message: Any) -> dict[str, Any]:
    return {"files": [], "model": "deepseek-chat", "inserted_at": "2023-11-14T23:13:20.000000+01:00", "fragments": list(fragments)} | message  # fmt: skip


def deepseek(**members: Any) -> dict[str, Any]:
    """A question with a file; an answer that thinks, searches and speaks; another answer."""
    ask = _fragments(
        {"type": "REQUEST", "content": "How high?"}, files=[{"file_id": "f", "file_name": "tides.pdf"}]
    )
    answer = _fragments(
        {"type": "THINK", "content": "Look it up."},
        {"type": "SEARCH", "results": [{"url": "https://sea.example/", "title": "Sea"}, None]},
        {"type": "RESPONSE", "content": "Two metres."},
        model="deepseek-reasoner",
    )
    again = _fragments(
        {"type": "RESPONSE", "content": "Three metres."}, inserted_at="2023-11-14T23:13:22+01:00"
    )
    return {
        "id": "d-1",
        "title": "Tides",
        "inserted_at": "2023-11-14T23:13:20.000000+01:00",
        "updated_at": "2023-11-14T23:13:25.000000+01:00",
        "mapping": {
            "root": {"id": "root", "parent": None, "children": ["1"], "message": None},
            "1": {"id": "1", "parent": "root", "children": ["2", "3"], "message": ask},
            "2": {"id": "2", "parent": "1", "children": [], "message": answer},
            "3": {"id": "3", "parent": "1", "children": [], "message": again},
        },
    } | members
