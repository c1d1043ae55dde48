"""The reminder at the end of a request, by the state of the turn."""

import pytest

from llm_worker.prompts import prompt
from llm_worker.request.prompt_parts import build_reminder

pytestmark = pytest.mark.pure

OUT = prompt("out_of_cycles")
CITE = prompt("cite")
OPEN = prompt("open_pages")


@pytest.mark.parametrize(
    ("own", "state", "text"),
    [
        pytest.param("", "", "", id="by default there is none"),
        pytest.param(" Rhyme. \n", "", "Rhyme.", id="the agent's own"),
        pytest.param("", "last", OUT, id="the last cycle"),
        pytest.param("", "found", CITE, id="when documents were found"),
        pytest.param("", "found opens", f"{CITE} {OPEN}", id="pages can be opened"),
        pytest.param("", "opens", "", id="nothing to open where nothing was found"),
        pytest.param("", "last found opens", f"{OUT}\n\n{CITE}", id="no cycle left to open pages"),
        pytest.param("Rhyme.", "last found", f"Rhyme.\n\n{OUT}\n\n{CITE}", id="everything, in order"),
    ],
)
def test_the_reminder_depends_on_the_state_of_the_turn(own, state, text):
    reminder = build_reminder(
        own,
        is_last_cycle="last" in state,
        has_found="found" in state,
        may_open_pages="opens" in state,
    )
    assert reminder == text
