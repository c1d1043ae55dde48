"""Which requests measure the token factor, and when what was measured is written."""

from typing import Any

import pytest
from django.db import DatabaseError

from chat.models import ModelConfig
from chat.transcript.entries import Image
from chat.transcript.tokens import Measured, count_tokens
from chat.transcript.usage import TokenUsage
from llm_worker.records.server_traits import ReportedRequest, TokenCalibration
from llm_worker.request.model_message import Message
from llm_worker.upstream.model_request import Model, Request

pytestmark = pytest.mark.pure

MODEL = Model("quick", "http://127.0.0.1:9")
USAGE = TokenUsage(prompt_tokens=700)
QUESTION = Message("U", "Why?", tokens=600)


class RecordingDatabase:
    """Records the writes instead of making them; fails while it `is_down`."""

    def __init__(self) -> None:
        self.written: list[Measured] = []
        self.is_down = False

    async def call(self, _function: Any, measured: Measured) -> None:
        if self.is_down:
            raise DatabaseError("down")
        self.written.append(measured)


def test_a_request_is_counted_with_its_tool_schemas():
    schemas = [{"type": "function", "function": {"name": "search", "parameters": {}}}]
    plain = ReportedRequest.compare(Request(MODEL, [QUESTION]), USAGE)
    offering = ReportedRequest.compare(Request(MODEL, [QUESTION], tools=schemas), USAGE)
    assert plain == ReportedRequest(600, 700)
    assert offering
    assert offering.estimated - 600 >= count_tokens('"type":"function","name":"search"')


@pytest.mark.parametrize(
    "messages",
    [
        [Message("U", "Look.", images=(Image("i", "i.png", "data:", 9, 9),), tokens=600)],
        [QUESTION, Message("A", "Half an ")],
    ],
    ids=["with a picture", "with a prefilled answer"],
)
def test_requests_that_servers_count_in_their_own_way_are_left_out(messages):
    assert ReportedRequest.compare(Request(MODEL, messages), USAGE) is None


async def test_small_moves_of_a_settled_factor_wait_until_they_are_worth_a_write():
    database = RecordingDatabase()
    calibration = TokenCalibration(database)  # type: ignore[arg-type]
    config = ModelConfig(pk=1, name="quick", token_factor=1.2, token_samples=100)
    runs = 0
    while not database.written:
        runs += 1
        await calibration.take(config, [ReportedRequest(1000, 1260)])
    assert 5 < runs < 20
    assert database.written == [Measured(pytest.approx(1.26), runs)]


async def test_models_are_collected_apart_and_a_failed_write_is_logged(caplog):
    database = RecordingDatabase()
    calibration = TokenCalibration(database)  # type: ignore[arg-type]
    one, other = (ModelConfig(pk=pk, name=f"m{pk}", token_factor=1.2, token_samples=100) for pk in (1, 2))
    await calibration.take(one, [ReportedRequest(1000, 1250)] * 5)
    await calibration.take(other, [ReportedRequest(1000, 1150)] * 5)
    assert database.written == []
    database.is_down = True
    await calibration.take(one, [ReportedRequest(1000, 1300)] * 30)
    assert "the token factor of m1 is not stored" in caplog.text
    database.is_down = False
    await calibration.take(one, [ReportedRequest(1000, 1200)])
    assert database.written == []
