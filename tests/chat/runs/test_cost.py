"""What a run costs is known when it ends, from its model's prices of that moment."""

from decimal import Decimal
from typing import Any

import pytest

from chat.infrastructure.redis_client import sync_redis
from chat.models import ModelConfig, Run
from chat.models.outcome import RunOutcome
from chat.protocol.states import Status
from chat.runs.completion import commit_end
from chat.transcript.usage import TokenUsage
from tests import factories

pytestmark = pytest.mark.django_db

PRICES = {"prompt_price": 3, "cached_price": Decimal("0.3"), "completion_price": 15}
MILLION = 1_000_000


@pytest.fixture
def run() -> Run:
    sync_redis().flushdb()
    factories.create_model("quick", is_default=True, **PRICES)
    client = factories.api_client(factories.create_user("alice"))
    session = client.post("/api/sessions/", {}, format="json").json()["id"]
    claimed = Run.objects.claim(factories.send_turn(client, session).json()["runs"][0]["id"], owner=1)
    assert claimed is not None
    return claimed


def cost(run: Run, *usage: int | None) -> Decimal | None:
    assert commit_end(run.pk, run.attempt, RunOutcome(Status.COMPLETED, last_seq=3, usage=TokenUsage(*usage)))
    return Run.objects.get(pk=run.pk).cost


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        pytest.param((MILLION, 0, 0), "3", id="prompt tokens"),
        pytest.param((0, MILLION, 0), "15", id="completion tokens"),
        pytest.param((0, MILLION, 0, 900_000), "15", id="reasoning is part of the completion"),
        pytest.param((MILLION, 0, MILLION), "0.3", id="cached tokens cost less"),
        pytest.param((MILLION, 0, 500_000), "1.65", id="half of them cached"),
        pytest.param((MILLION, 0, 2 * MILLION), "0.3", id="more cached than sent"),
        pytest.param((10, 1), "0.000045", id="a server that does not report its cache"),
        pytest.param((None, None), None, id="a server that counts nothing"),
        pytest.param((10, None), None, id="a server that counts only half"),
    ],
)
def test_a_run_costs(run: Run, usage: tuple[int | None, ...], expected: str | None) -> None:
    assert cost(run, *usage) == (None if expected is None else Decimal(expected))


@pytest.mark.parametrize(
    ("prices", "expected"),
    [
        pytest.param({"prompt_price": None}, None, id="no price for the prompt"),
        pytest.param({"completion_price": None}, None, id="no price for the completion"),
        pytest.param({"cached_price": None}, "33", id="without cached_price, the prompt_price applies"),
        pytest.param(dict.fromkeys(PRICES, 0), "0", id="free"),
    ],
)
def test_a_price_that_is_not_known(run: Run, prices: dict[str, Any], expected: str | None) -> None:
    ModelConfig.objects.filter(name="quick").update(**prices)
    assert cost(run, MILLION, 2 * MILLION, MILLION) == (None if expected is None else Decimal(expected))


def test_a_run_whose_model_is_gone_ends_without_a_cost(run: Run) -> None:
    ModelConfig.objects.all().delete()
    assert cost(run, 10, 10) is None
