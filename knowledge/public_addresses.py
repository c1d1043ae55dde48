"""Which IP addresses are public: what a program that acts for others may connect to. Pure."""

from collections.abc import Iterator
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from typing import Final

# What may be routed at all; the rest is reserved, or was given up.
_UNICAST: Final = IPv6Network("2000::/3")
_DOCUMENTATION: Final = IPv6Network("3fff::/20")
# Translators of IPv6 to IPv4 (RFC 6052); the second is local.
_NAT64: Final = IPv6Network("64:ff9b::/96")


def is_public(text: str) -> bool:
    """Whether an address is global, and every IPv4 address inside it as well: mapped, 6to4, NAT64, Teredo."""
    try:
        address = ip_address(text)
    except ValueError:
        return False
    if isinstance(address, IPv4Address):
        return _is_public_v4(address)
    if not all(map(_is_public_v4, _inside(address))):
        return False
    if address.ipv4_mapped or address in _NAT64:
        return True
    is_unicast = address in _UNICAST and address not in _DOCUMENTATION and not address.is_multicast
    return is_unicast and (address.is_global or bool(address.sixtofour))


def _is_public_v4(address: IPv4Address) -> bool:
    return address.is_global and not (address.is_multicast or address.is_reserved)


def _inside(address: IPv6Address) -> Iterator[IPv4Address]:
    if address.ipv4_mapped:
        yield address.ipv4_mapped
    if address.sixtofour:
        yield address.sixtofour
    if address.teredo:
        yield from address.teredo
    if address in _NAT64:
        yield IPv4Address(int(address) & 0xFFFF_FFFF)
