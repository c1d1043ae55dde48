"""Classifies IP addresses: public ones, where a program that acts for others may connect, and metadata services. Pure.

The lists are our own, because the addresses that Python calls global differ by version.
"""

from collections.abc import Iterator
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final

# The whole IANA IPv4 Special-Purpose Address Registry, including globally reachable blocks, which contain no site.
_REFUSED_V4: Final = [
    IPv4Network(network)
    for network in (
        "0.0.0.0/8",  # this network
        "10.0.0.0/8",  # private
        "100.64.0.0/10",  # shared by the customers of a provider; the metadata service of Alibaba
        "127.0.0.0/8",  # loopback
        "169.254.0.0/16",  # link-local; the metadata services of most clouds
        "172.16.0.0/12",  # private
        "192.0.0.0/24",  # protocols; the metadata service of Oracle
        "192.0.2.0/24",  # documentation
        "192.31.196.0/24",  # AS112
        "192.52.193.0/24",  # AMT
        "192.88.99.0/24",  # relays of 6to4
        "192.168.0.0/16",  # private
        "192.175.48.0/24",  # AS112
        "198.18.0.0/15",  # benchmarks
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, and broadcast
        # The host of virtual machines at Azure, which reveals secrets to its guests, although the address is public.
        "168.63.129.16/32",
    )
]
# The addresses that may be routed; all others are local, reserved or deprecated.
_UNICAST: Final = IPv6Network("2000::/3")
# Within these, the IANA IPv6 Special-Purpose Address Registry without 6to4, which the embedded IPv4 address decides.
_REFUSED_V6: Final = [
    IPv6Network(network)
    for network in (
        "2001::/23",  # protocols: Teredo, benchmarks, AMT, AS112, ORCHID
        "2001:db8::/32",  # documentation
        "2620:4f:8000::/48",  # AS112
        "3fff::/20",  # documentation
    )
]
# The prefix for translation of IPv6 to IPv4 (RFC 6052). 64:ff9b:1::/48 is local.
_NAT64: Final = IPv6Network("64:ff9b::/96")
# The upper half of an interface id of ISATAP: of private and of global IPv4 addresses.
_ISATAP: Final = (0x0000_5EFE, 0x0200_5EFE)

# Metadata services, where a machine gets its credentials: AWS, Azure, Oracle, Alibaba. Most other clouds use a
# link-local address.
_METADATA: Final = [
    ip_network(network)
    for network in ("fd00:ec2::/32", "168.63.129.16/32", "192.0.0.192/32", "100.100.100.200/32")
]


def is_metadata(text: str) -> bool:
    """Return whether an address is link-local, multicast or of a cloud's metadata service.
    The same holds for an IPv4 address inside an IPv6 address. No server that somebody runs has such an address.
    """
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
    """Return whether neither the address nor an IPv4 address inside it (mapped, 6to4, NAT64, Teredo, ISATAP) is special."""
    try:
        address = ip_address(text)
    except ValueError:
        return False
    if isinstance(address, IPv4Address):
        return _is_public_v4(address)
    if address.scope_id is not None or not all(map(_is_public_v4, _inside(address))):
        return False
    if address.ipv4_mapped or address in _NAT64:
        return True
    return address in _UNICAST and not any(address in network for network in _REFUSED_V6)


def _is_public_v4(address: IPv4Address) -> bool:
    return not any(address in network for network in _REFUSED_V4)


def _inside(address: IPv6Address) -> Iterator[IPv4Address]:
    if address.ipv4_mapped:
        yield address.ipv4_mapped
    if address.sixtofour:
        yield address.sixtofour
    if address.teredo:
        yield from address.teredo
    if address in _NAT64 or _is_isatap(address):
        yield IPv4Address(int(address) & 0xFFFF_FFFF)


def _is_isatap(address: IPv6Address) -> bool:
    """Return whether the address is an ISATAP one (RFC 5214): under any prefix, its interface id ends in an IPv4 address."""
    return (int(address) >> 32) & 0xFFFF_FFFF in _ISATAP
