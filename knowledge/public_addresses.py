"""Which IP addresses are public: what a program that acts for others may connect to; and which are no server's. Pure."""

from collections.abc import Iterator
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final

# What may be routed at all; the rest is reserved, or was given up.
_UNICAST: Final = IPv6Network("2000::/3")
_DOCUMENTATION: Final = IPv6Network("3fff::/20")
# Of the machine on which a virtual one runs at Azure: what asks it learns secrets, although the address is a public one.
_PLATFORM: Final = IPv4Address("168.63.129.16")
# Translators of IPv6 to IPv4 (RFC 6052); the second is local.
_NAT64: Final = IPv6Network("64:ff9b::/96")

# Where clouds tell a machine its credentials: AWS, Azure, Oracle, Alibaba. Most others use a link-local address.
_METADATA: Final = [
    ip_network(network)
    for network in ("fd00:ec2::/32", "168.63.129.16/32", "192.0.0.192/32", "100.100.100.200/32")
]


def is_metadata(text: str) -> bool:
    """Whether an address is link-local, of several machines or of the metadata service of a cloud, also inside an IPv6
    address: no server that somebody runs has such a one."""
    try:
        address = ip_address(text.partition("%")[0])
    except ValueError:
        return False
    inside = _inside(address) if isinstance(address, IPv6Address) else ()
    return any(
        one.is_link_local or one.is_multicast or any(one in network for network in _METADATA)
        for one in (address, *inside)
    )


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
    return address.is_global and not (address.is_multicast or address.is_reserved or address == _PLATFORM)


def _inside(address: IPv6Address) -> Iterator[IPv4Address]:
    if address.ipv4_mapped:
        yield address.ipv4_mapped
    if address.sixtofour:
        yield address.sixtofour
    if address.teredo:
        yield from address.teredo
    if address in _NAT64:
        yield IPv4Address(int(address) & 0xFFFF_FFFF)
