"""Fixtures of the tests of whole turns."""

import pytest

from chat.models import ModelConfig
from tests.llm_worker.continuing import CUT, fresh


@pytest.fixture
def cut(deliver, ask, upstream):
    """Answer with these steps and the cut; returns the ended run."""

    def cut(*steps, model="plain", session=None, question="Why?"):
        ModelConfig.objects.get_or_create(
            name=model,
            defaults={"base_url": upstream.base_url, "supports_prefill": model == "prefilling",
                      "prompt_price": 100_000, "completion_price": 100_000, "is_default": True},
        )  # fmt: skip
        upstream.reply(*(steps or ({"reasoning": "Hm."}, {"text": "The Moon pu"})), *CUT, times=1)
        [run] = ask(question, model, session=session)
        deliver(run).result(60)
        return fresh(run)

    return cut
