"""A reply of a secondary model is an artifact with eight fields, or a refusal that says nothing but its reason."""

import json
import re

import pytest

from llm_worker.side_requests.artifact import (
    Artifact,
    Failure,
    UnusableReply,
    is_artifact,
    no_hits,
    parse_artifact,
    refusal,
)

pytestmark = pytest.mark.pure

WHOLE = {
    "decision": "answer",
    "reason": "The excerpts cover it.",
    "summary": "Deliveries are late.",
    "observations": ["Most are late."],
    "risks": ["Customers leave."],
    "recommended_actions": ["Ask the carrier."],
    "answer_guidance": "Be brief.",
    "confidence": "high",
}
PARSED = Artifact(
    "answer",
    "The excerpts cover it.",
    "Deliveries are late.",
    ("Most are late.",),
    ("Customers leave.",),
    ("Ask the carrier.",),
    "Be brief.",
    "high",
)
TEXT = json.dumps(WHOLE)


@pytest.mark.parametrize(
    "reply",
    [
        TEXT,
        f"\n {json.dumps(WHOLE, indent=2)}\n",
        f"```json\n{TEXT}\n```",
        f"```\n{json.dumps(WHOLE, indent=1)}\n```\n",
        f"``` {TEXT} ```",
        f"Here it is:\n\n```json\n{TEXT}\n```\nThat is all.",
        f"<think>The rules say {{}}.</think>\n{TEXT}",
        json.dumps(WHOLE | {"decision": " Answer ", "results": ["a title"], "sources": [1], "more": {}}),
    ],
)
def test_the_eight_fields_are_read_with_and_without_a_code_fence(reply):
    assert parse_artifact(reply) == PARSED


@pytest.mark.parametrize(
    ("reply", "failure"),
    [
        ("", Failure.MALFORMED),
        ("  \n", Failure.MALFORMED),
        ("The deliveries are late.", Failure.MALFORMED),
        ("```json\nlate\n```", Failure.MALFORMED),
        ("[]", Failure.MALFORMED),
        ("null", Failure.MALFORMED),
        ('"answer"', Failure.MALFORMED),
        (TEXT[:-1], Failure.MALFORMED),
        (f"{TEXT} {TEXT}", Failure.MALFORMED),
        (f"```\n{TEXT}\n```\n```\n{TEXT}\n```", Failure.MALFORMED),
        ("[" * 100_000, Failure.MALFORMED),
        ('{"decision": ' + "9" * 5_000 + "}", Failure.MALFORMED),
        ("{}", Failure.MALFORMED),
        (json.dumps(WHOLE | {"decision": None}), Failure.MALFORMED),
        (json.dumps(WHOLE | {"decision": ["answer"]}), Failure.MALFORMED),
        (json.dumps(WHOLE | {"decision": ""}), Failure.MALFORMED),
        (json.dumps(WHOLE | {"summary": {"text": "late"}}), Failure.MALFORMED),
        (json.dumps(WHOLE | {"summary": " "}), Failure.MALFORMED),
        (json.dumps(WHOLE | {"risks": [["late"]]}), Failure.MALFORMED),
        (json.dumps(WHOLE | {"decision": "maybe"}), Failure.UNKNOWN_DECISION),
        (json.dumps(WHOLE | {"decision": "answered"}), Failure.UNKNOWN_DECISION),
    ],
)
def test_anything_else_is_unusable(reply, failure):
    with pytest.raises(UnusableReply) as unusable:
        parse_artifact(reply)
    assert unusable.value.failure is failure


def test_a_refusal_of_the_secondary_model_needs_nothing_but_its_decision():
    assert parse_artifact('{"decision": "refuse"}') == Artifact("refuse", "")


def test_an_unknown_confidence_is_low_and_one_text_stands_for_a_list():
    artifact = parse_artifact(json.dumps(WHOLE | {"confidence": "certain", "risks": "Customers leave."}))
    assert (artifact.confidence, artifact.risks) == ("low", ("Customers leave.",))


def test_characters_that_cannot_be_stored_are_replaced():
    artifact = parse_artifact(json.dumps(WHOLE | {"summary": "a\0b\ud800"}))
    assert artifact.summary == "a\ufffdb\ufffd"


@pytest.mark.parametrize("failure", Failure)
def test_refusals_differ_in_their_reason_alone(failure):
    refused = json.loads(refusal(failure).render())
    assert re.fullmatch(r"[a-z][a-z0-9_]+", refused.pop("reason"))
    expected = json.loads(refusal(Failure.NO_MODEL).render())
    del expected["reason"]
    assert refused == expected
    assert (refused["decision"], refused["confidence"]) == ("refuse", "low")


@pytest.mark.parametrize("artifact", [PARSED, refusal(Failure.TIMEOUT), no_hits()])
def test_the_response_holds_the_eight_fields_and_empty_lists(artifact):
    response = artifact.render()
    assert list(json.loads(response)) == [*WHOLE, "results", "sources"]
    assert json.loads(response)["results"] == json.loads(response)["sources"] == []
    assert is_artifact(response)


@pytest.mark.parametrize(
    "response",
    [
        "",
        "Nothing was found.",
        '{"documents": []}',
        TEXT,
        json.dumps(WHOLE | {"results": [{"title": "a"}], "sources": []}),
        json.dumps(WHOLE | {"results": [], "sources": [], "documents": []}),
        "[]",
    ],
)
def test_no_other_response_is_taken_for_an_artifact(response):
    assert not is_artifact(response)
