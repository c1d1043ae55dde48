"""Where calls may send their users."""

import pytest

from chat.transcript.questions import read_address

pytestmark = pytest.mark.pure


@pytest.mark.parametrize(
    "address", ["https://pay.example.com/1?a=b#c", "http://127.0.0.1:8000", "https://bücher.example/ä"]
)
def test_an_address_of_a_page(address: str) -> None:
    assert read_address(address) == address


@pytest.mark.parametrize(
    "address",
    [
        "",
        "pay.example.com",
        "/pay",
        "//pay.example.com",
        "javascript:alert(1)",
        "data:text/html,x",
        "file:///etc/passwd",
        "https://",
        "https://[pay",
        "https://bank.example.com@mallory.example.com/",
        "https://pay.example.com/a b",
        "https://pay.example.com/\n",
        "https://pay.example.com/\u202egnp",
        "https://pay.example.com/" + "x" * 2_000,
    ],
)
def test_no_address_of_a_page(address: str) -> None:
    assert read_address(address) == ""
