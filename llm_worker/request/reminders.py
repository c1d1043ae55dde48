"""The reminder that stands last in a request: what depends on the cycle, and so may not stand in the system prompt.

Pure. It does not know which tools search or open pages; the loop does.
"""

from llm_worker.prompts import prompt


def build_reminder(own: str, *, is_last_cycle: bool, has_searched: bool, may_open_pages: bool) -> str:
    """The text; empty: no such message.

    own: the agent's.  has_searched: a tool that finds documents has run in this turn.
    may_open_pages: one of them searched the web, and open_url is offered.
    """
    citing = [prompt("cite")] if has_searched else []
    if has_searched and may_open_pages and not is_last_cycle:
        citing.append(prompt("open_pages"))
    texts = [own.strip(), prompt("out_of_cycles") if is_last_cycle else "", " ".join(citing)]
    return "\n\n".join(filter(None, texts))
