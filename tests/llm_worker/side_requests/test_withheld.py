"""A turn in progress loses what its user may no longer read: responses with documents, their numbers, and metadata."""

import json

import pytest

from chat.transcript.entries import Call, Round
from llm_worker.request.message_renderer import OMITTED_RESPONSE
from llm_worker.side_requests.artifact import Failure, refusal
from llm_worker.side_requests.withheld import LoopTexts, Readers, withhold

pytestmark = pytest.mark.pure

FOUND = json.dumps({"documents": [{"document": 3, "title": "Zebra", "contents": "Quartz"}, {"document": 5}]})
READERS = Readers({"knowledge_base_search"}, {"research_agent"})
ARTIFACT = refusal(Failure.TIMEOUT).render()


def searched(*responses: str, name: str = "knowledge_base_search") -> Round:
    calls = (Call(f"c{number}", name, {"query": "q"}, response) for number, response in enumerate(responses))
    return Round(tuple(calls), "Before.", "Hm.")


def test_responses_with_documents_are_replaced_and_their_numbers_told():
    seen = LoopTexts("old", [searched(FOUND), searched("Nothing matches.", ARTIFACT, "")])
    left = withhold(seen, READERS, "new")
    assert left == LoopTexts(
        "new",
        [searched(OMITTED_RESPONSE), searched("Nothing matches.", ARTIFACT, "")],
        frozenset({3, 5}),
    )


def test_reports_are_replaced_whatever_they_say():
    seen = LoopTexts("old", [searched("Quartz.", "", name="research_agent")])
    left = withhold(seen, READERS, "old")
    assert left.rounds == [searched(OMITTED_RESPONSE, "", name="research_agent")]


@pytest.mark.parametrize("documents", [["a"], [{}], [{"document": None}], 5, {"document": 1}])
def test_reports_may_be_any_json(documents: object):
    seen = LoopTexts("old", [searched(json.dumps({"documents": documents}), name="research_agent")])
    assert withhold(seen, READERS, "new").withheld == frozenset()


def test_responses_of_other_tools_stay():
    seen = LoopTexts("old", [searched(FOUND, name="web_search")])
    assert withhold(seen, READERS, "new") == LoopTexts("new", seen.rounds)
