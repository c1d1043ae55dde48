"""Builds the reminder, the last message of a request: instructions that depend on the cycle. Pure.

They are not part of the system prompt, which must not change. cycle.py knows which tools search or open pages.
"""

from llm_worker.prompts import prompt


def build_reminder(own: str, *, is_last_cycle: bool, has_found: bool, may_open_pages: bool) -> str:
    """Return the text of the reminder; empty if none is sent.

    own: the agent's reminder.  has_found: tools have found documents in this turn.
    may_open_pages: some of these are pages of the web, and open_url is offered.
    """
    citing = [prompt("cite")] if has_found else []
    if has_found and may_open_pages and not is_last_cycle:
        citing.append(prompt("open_pages"))
    texts = [own.strip(), prompt("out_of_cycles") if is_last_cycle else "", " ".join(citing)]
    return "\n\n".join(filter(None, texts))
