"""The network that a request comes from, by which limits on logins and connections count. Pure."""

from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Final

# The IPv6 prefix that one internet connection usually has.
_IPV6_PREFIX: Final = 64
# Requests without a readable address: over a Unix socket, or from a proxy that forwards something else.
UNKNOWN: Final = "unknown"


def client_network(address: str | None) -> str:
    """Return an IPv4 address as it is and an IPv6 address as its /64; `unknown` for anything else."""
    try:
        parsed: IPv4Address | IPv6Address = ip_address((address or "").partition("%")[0])
    except ValueError:
        return UNKNOWN
    if isinstance(parsed, IPv6Address) and parsed.ipv4_mapped:
        parsed = parsed.ipv4_mapped
    if isinstance(parsed, IPv4Address):
        return str(parsed)
    return str(ip_network((parsed, _IPV6_PREFIX), strict=False))
