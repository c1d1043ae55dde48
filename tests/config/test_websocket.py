"""How a text looks on the wire, and what a socket is told when its web process ends."""

import pytest
from websockets.frames import Frame, Opcode

from config.websocket import frame, restart_reason

pytestmark = pytest.mark.pure


@pytest.mark.parametrize("size", [0, 1, 125, 126, 65_535, 65_536, 300_000])
def test_a_text_is_framed_as_the_library_would(size: int) -> None:
    text = b"x" * size
    assert frame(text) == Frame(Opcode.TEXT, text).serialize(mask=False)


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
