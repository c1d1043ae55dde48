"""python -m bench.probe_summary: what a summary has lost, told by a model."""

import os
import subprocess
import sys

import pytest

from bench.probe_summary import ProbeRefused, probe_summary
from tests.compression.conftest import again
from tests.instance import ROOT
from tests.upstream_steps import Rule


@pytest.fixture
def compression(talk, runner, upstream):
    talk.turns(6)
    upstream.reply(
        {
            "text": "They spoke of tides, and of how high the water of each harbour rises in spring and in autumn."
        },
        times=1,
        stream=False,
    )
    asked = talk.ask("a6")
    runner.run(str(asked.pk))
    upstream.asides.clear()
    return again(asked)


def replies(body):
    """Writes three questions; knows the second answer from the full text alone."""
    last = body["messages"][-1]["content"]
    if last.startswith("Now write"):
        return [{"text": "1. What is it about?\n- How many moons?\n\n3) Who asked?\n4) Too many?"}]
    knows_all = any("says u1" in message["content"] for message in body["messages"])
    answers = {
        "What is it about?": "Tides.",
        "How many moons?": "two" if knows_all else "unknown",
        "Who asked?": "Alice",
    }
    answer = answers[last]
    return [{"text": answer if knows_all else answer.upper().rstrip(".")}]


def probed(pk, **options):
    return "\n".join(probe_summary(str(pk), **options))


@pytest.mark.parametrize("by", ["compression", "summary"])
def test_the_share_of_equal_answers_is_reported(compression, upstream, by):
    upstream.rules.append(Rule(replies, stream=False))
    told = probed(compression.pk if by == "compression" else compression.summary_id, questions=3)
    assert told.splitlines()[-1] == "0.67 of 3 answers are the same."
    assert "≠ How many moons?" in told
    assert len(upstream.asides) == 1 + 2 * 3
    drawn, with_text, with_summary = (str(aside.body) for aside in upstream.asides[:3])
    assert all(f"says a{n}" in text for n in range(1, 6) for text in (drawn, with_text))
    assert "says" not in with_summary
    assert "They spoke of tides, " in with_summary
    assert "says u6" not in drawn, "what stays verbatim is not asked about"


def test_a_text_longer_than_the_window_is_asked_about_part_by_part(compression, talk, upstream):
    type(talk.model).objects.update(context_window=1500)
    upstream.reply({"text": "What is it about?\nWho asked?"}, stream=False)
    probed(compression.pk, questions=4)
    drawn = [a for a in upstream.asides if a.messages[-1]["content"].startswith("Now write")]
    assert len(drawn) > 1
    assert "says u1" in str(drawn[0].body)
    assert "says a5" in str(drawn[-1].body)
    assert "says a5" not in str(drawn[0].body)


@pytest.mark.parametrize("pk", ["nonsense", "6f9f9a3e-2a44-4c57-8dd8-4f3f0a8c1a11"])
def test_what_is_no_summary_is_refused(compression, pk):
    with pytest.raises(ProbeRefused, match="neither a summary"):
        probed(pk)


def test_a_model_that_fails_is_named_with_its_error(compression, upstream):
    upstream.reply({"status": 401}, stream=False)
    with pytest.raises(ProbeRefused, match="upstream_auth"):
        probed(compression.pk)


def test_a_model_without_questions_or_without_a_row_is_refused(compression, upstream):
    upstream.reply({"text": "\n\n"}, stream=False)
    with pytest.raises(ProbeRefused, match="no questions"):
        probed(compression.pk, model="tides")
    with pytest.raises(ProbeRefused, match="no model nobody"):
        probed(compression.pk, model="nobody")


def test_the_program_sets_up_django_and_says_why_it_refuses():
    environment = {name: value for name, value in os.environ.items() if name != "DJANGO_SETTINGS_MODULE"}
    ran = subprocess.run(
        [sys.executable, "-m", "bench.probe_summary", "nonsense"],
        cwd=ROOT, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (ran.returncode, ran.stderr) == (
        1,
        "nonsense is neither a summary nor a compression that has made one.\n",
    )
