"""What a websocket's close frame tells the client when its web process ends."""

import pytest

from config.websocket import restart_reason

pytestmark = pytest.mark.pure


@pytest.mark.parametrize(
    ("sockets", "chance", "reason"),
    [
        pytest.param(1, 0.0, "restart; retry_after_s=0.10", id="nobody comes back at once"),
        pytest.param(1, 1.0, "restart; retry_after_s=0.50", id="a few come back soon"),
        pytest.param(1000, 0.5, "restart; retry_after_s=1.10", id="many are spread"),
        pytest.param(1000, 1.0, "restart; retry_after_s=2.10", id="by their number"),
    ],
)
def test_a_socket_is_told_to_come_back(sockets: int, chance: float, reason: str) -> None:
    assert restart_reason(sockets, chance) == reason
