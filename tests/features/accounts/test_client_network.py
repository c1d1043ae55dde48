"""Which addresses share the limits on failed logins."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from features.accounts.client_network import UNKNOWN, client_network

pytestmark = pytest.mark.pure


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2::7", "2001:db8:1:2::/64"),
        ("2001:db8:1:2:ffff:ffff:ffff:ffff", "2001:db8:1:2::/64"),
        ("2001:db8:1:3::7", "2001:db8:1:3::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("", UNKNOWN),
        (None, UNKNOWN),
        ("192.0.2.7:1234", UNKNOWN),
        ("unix:", UNKNOWN),
    ],
)
def test_an_address_counts_as_its_network(address: str | None, network: str) -> None:
    assert client_network(address) == network


@given(st.text())
def test_any_text_is_some_network(address: str) -> None:
    assert client_network(address)
