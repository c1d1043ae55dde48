"""Offers read_file to runs whose requests leave out a file of the conversation. Pure."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from llm_worker.loop.allowance import Allowance
from llm_worker.loop.brief import Brief
from llm_worker.loop.cycle import Cycle, build_cycle
from llm_worker.tools.read_file.tool import TOOL as READ_FILE
from llm_worker.tools.tool import Tool
from llm_worker.upstream.deltas import ModelFailed


def offer_reading(brief: Brief, system_with: Callable[[Sequence[Tool]], str]) -> Brief:
    """Add read_file to the brief if a file is left out, or was before. system_with: returns the prompt for these tools.

    The tool stays for the rest of the conversation once it was called: its calls are part of the history.
    """
    if READ_FILE in brief.tools:  # offered already, since the project is left out
        return replace(brief, prompt_parts=replace(brief.prompt_parts, reads_files=True))
    if not (brief.prompt_parts.summarised_files or _has_read(brief) or _omits_files(brief)):
        return brief
    tools = sorted([*brief.tools, READ_FILE], key=lambda tool: tool.name)
    parts = replace(brief.prompt_parts, system=system_with(tools), reads_files=True)
    reading = replace(brief, tools=tools, prompt_parts=parts)
    return reading if _fits(reading) else brief


def _has_read(brief: Brief) -> bool:
    before = (call.name for entry in brief.entries for each in entry.rounds for call in each.calls)
    now = (call.name for each in brief.earlier.rounds for call in each.calls)
    return READ_FILE.name in {*before, *now}


def _omits_files(brief: Brief) -> bool:
    if not any(entry.files for entry in brief.entries[:-1]):
        return False
    try:
        return bool(_first_cycle(brief).report.context.omitted_files)
    except ModelFailed:
        return False  # the loop meets this error again


def _fits(brief: Brief) -> bool:
    """Return whether the question still fits beside the tool's description."""
    try:
        _first_cycle(brief)
    except ModelFailed:
        return False
    return True


def _first_cycle(brief: Brief) -> Cycle:
    return build_cycle(brief, (), Allowance().open_loop(is_outermost=True))
