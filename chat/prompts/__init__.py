"""Prompt texts that chat owns: the base system prompt, the prompt blocks of agents, and the dynamic context of turns.

Does not assemble requests to models: llm_worker/request does.
"""

from functools import cache
from pathlib import Path
from typing import Final

# The base prompt, until staff edit it (chat/models/staff_texts.py).
SYSTEM_PROMPT_FILE: Final = Path(__file__).with_name("system.md")


@cache
def default_system_prompt() -> str:
    return SYSTEM_PROMPT_FILE.read_text(encoding="utf-8").strip()
