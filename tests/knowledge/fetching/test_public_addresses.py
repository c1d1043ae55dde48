"""Which addresses a program that acts for others connects to: every form of those that are not public is refused."""

import inspect
import re
from ipaddress import IPv4Address, IPv6Address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge.fetching import public_addresses
from knowledge.fetching.public_addresses import is_public

pytestmark = pytest.mark.pure

REFUSED = """
    0.0.0.0 10.0.0.1 100.64.0.1 127.0.0.1 127.255.255.254 169.254.169.254 172.16.0.1 172.31.255.255 192.0.0.1 192.0.2.1
    168.63.129.16 192.168.0.1 192.31.196.1 192.52.193.1 192.88.99.1 192.175.48.1 192.0.0.9 192.0.0.192 100.100.100.200 198.18.0.1 198.19.255.255 198.51.100.1 203.0.113.1 224.0.0.1 239.255.255.250 240.0.0.1 255.255.255.255
    :: ::1 ::127.0.0.1 ::8.8.8.8 ::ffff:127.0.0.1 ::ffff:10.0.0.1 ::ffff:169.254.169.254 ::ffff:0:127.0.0.1
    64:ff9b::127.0.0.1 64:ff9b::a00:1 64:ff9b:1::8.8.8.8 100::1 2001::1 2001:0:7f00:1::1
    2001:0:4136:e378:8000:63bf:f5ff:fffe 2001:db8::1 2002:7f00:1::1 2002:a00:1::1 2002:a9fe:a9fe::1 3fff::1 2001:1::1 2001:3::1 2001:4:112::1 2001:20::1 2001:30::1 2001:1ff:ffff::1 2620:4f:8000::1 fd20:ce::254
    2002:a83f:8110::1 2a00:1450::5efe:10.0.0.1 2a00:1450::200:5efe:127.0.0.1 2a00:1450::5efe:169.254.169.254 64:ff9b::a83f:8110 ::ffff:168.63.129.16 2606:4700:4700::1111%1
    fc00::1 fd00:ec2::254 fe80::1 fe80::1%lo fec0::1 ff02::1 5f00::1 4000::1 nonsense 8.8.8 1
""".split()  # noqa: SIM905  one address a line is longer
ACCEPTED = """
    1.1.1.1 8.8.8.8 93.184.215.14 172.32.0.1 100.128.0.1 172.15.255.255 192.0.1.1 198.20.0.1 223.255.255.255 168.63.129.17
    2001:200::1 2001:4860:4860::8888
    2606:4700:4700::1111 2a00:1450:4001:82a::200e ::ffff:8.8.8.8 64:ff9b::8.8.8.8 2002:808:808::1 2a00:1450::200:5efe:8.8.8.8
""".split()  # noqa: SIM905


@pytest.mark.parametrize("address", REFUSED)
def test_not_public(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize("address", ACCEPTED)
def test_public(address: str) -> None:
    assert is_public(address)


def test_what_python_calls_global_decides_nothing() -> None:
    """It has changed between versions that are supported."""
    source = inspect.getsource(public_addresses)
    assert not {"is_global", "is_private", "is_reserved"} & set(re.findall(r"\w+", source))


@given(st.one_of(st.ip_addresses(v=4), st.ip_addresses(v=6)))
def test_nothing_is_public_that_python_calls_private(address: IPv4Address | IPv6Address) -> None:
    is_mapped = isinstance(address, IPv6Address) and address.ipv4_mapped is not None
    if public_addresses.is_public(str(address)) and not is_mapped:
        special = address.is_private, address.is_loopback, address.is_link_local, address.is_multicast
        assert not any(special)
