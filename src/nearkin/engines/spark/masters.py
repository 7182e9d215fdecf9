"""Addresses of a Spark master: their syntax, and what they say of the cluster."""

from __future__ import annotations

import re

from nearkin.errors import ParameterError

RULE = "local[*], local[N], spark://HOST:PORT[,HOST:PORT...], yarn, k8s://https://HOST:PORT or sc://HOST[:PORT]"
_HOST = r"(\[[0-9A-Fa-f:.]+\]|[^\s:/,;\[\]]+)"
_FORMS = (
    r"local(\[(\*|[1-9]\d*)(,\s*\d+)?\]|-cluster\[\s*\d+\s*,\s*\d+\s*,\s*\d+\s*\])?",
    rf"spark://{_HOST}:\d+(,{_HOST}:\d+)*",
    r"yarn",
    r"k8s://\S+",
    rf"sc://{_HOST}(:\d+)?(/.*)?",
)
_CONNECT_PORT = 15002
_KUBERNETES_PORT = 443
_MAX_PORT = 65_535


def check_form(master: str) -> None:
    """Refuse addresses of unknown syntax."""
    if not any(re.fullmatch(form, master) for form in _FORMS):
        raise ParameterError.of("master", RULE, master)
    if any(not 0 < port <= _MAX_PORT for _, port in addresses(master)):
        raise ParameterError.of("master", f"an address with ports from 1 to {_MAX_PORT}", master)


def is_local(master: str) -> bool:
    """Whether the executors are threads of the driver's own Java process."""
    return re.fullmatch(_FORMS[0], master) is not None and not master.startswith("local-cluster")


def is_connect(master: str) -> bool:
    """Whether it is a server of Spark Connect, on which the driver runs."""
    return master.startswith("sc://")


def is_on_this_machine(master: str) -> bool:
    """Whether the executors see this process's files: they are local, or the master is on loopback."""
    if master.startswith("local"):
        return True
    if master.startswith("k8s://"):
        return False  # executors run in containers
    hosts = [host for host, _ in addresses(master)]
    return bool(hosts) and all(host in ("localhost", "::1") or host.startswith("127.") for host in hosts)


def addresses(master: str) -> list[tuple[str, int]]:
    """Return the hosts and ports of a master; empty if the address does not contain them.

    Examples
    --------
    >>> addresses("spark://one:7077,[::1]:7078"), addresses("sc://one/;token=x"), addresses("yarn")
    ([('one', 7077), ('::1', 7078)], [('one', 15002)], [])
    >>> addresses("k8s://https://one:6443")
    [('one', 6443)]
    """
    scheme, _, rest = master.partition("://")
    if scheme not in ("spark", "sc", "k8s"):
        return []
    rest = re.sub(r"^https?://", "", rest)
    usual = _KUBERNETES_PORT if scheme == "k8s" else _CONNECT_PORT
    pairs = []
    for address in rest.split("/")[0].split(","):
        host, colon, port = address.rpartition(":")
        if not colon or address.endswith("]"):
            host, port = address, str(usual)
        if port.isascii() and port.isdigit():
            pairs.append((host.strip("[]"), int(port)))
    return pairs
