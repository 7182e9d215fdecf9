"""Addresses of the network, as they are counted and compared."""

from __future__ import annotations

import ipaddress
import re

_WITH_PORT = re.compile(r"(?:([0-9.]+):[0-9]+)|(?:\[([^\]]+)\](?::[0-9]+)?)")
_IPV6_NETWORK = 64  # bits of the address that one customer of a provider usually has


def network_of(address: str) -> str:
    """Return the key of an address: an IPv6 address counts together with its network of 64 bits.

    Examples
    --------
    >>> network_of("192.0.2.7"), network_of("2001:db8::1:2:3:4"), network_of("::ffff:192.0.2.7")
    ('192.0.2.7', '2001:db8::/64', '192.0.2.7')
    """
    try:
        found = plain_address(address)
    except ValueError:
        return "unknown"
    if isinstance(found, ipaddress.IPv4Address):
        return str(found)
    return str(ipaddress.IPv6Network((int(found), _IPV6_NETWORK), strict=False))


def plain_address(address: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    """Return an address without a port; an IPv4 address that is written as an IPv6 address becomes an IPv4 address.

    Raises
    ------
    ValueError

    Examples
    --------
    >>> [str(plain_address(one)) for one in ("192.0.2.7:50000", "[2001:db8::1]:50000", "fe80::1%2")]
    ['192.0.2.7', '2001:db8::1', 'fe80::1']
    """
    with_port = _WITH_PORT.fullmatch(address)
    found = ipaddress.ip_address((with_port[1] or with_port[2] if with_port else address).partition("%")[0])
    return (found.ipv4_mapped or found) if isinstance(found, ipaddress.IPv6Address) else found
