"""What may be named as a master, where it is, and whether anything answers there."""

from __future__ import annotations

import socket
import time

import pytest

from nearkin.engines.spark.masters import addresses, check_form, is_local, is_on_this_machine
from nearkin.engines.spark.requirements import check_answers
from nearkin.errors import EngineError, ParameterError

LOCAL = ("local", "local[*]", "local[4]", "local[4,2]", "local[*, 3]")
ELSEWHERE = (
    "local-cluster[2,1,1024]", "spark://one:7077", "spark://one:7077,two.example.org:7078", "spark://10.0.0.1:7077",
    "spark://[::1]:7077", "yarn", "k8s://https://10.0.0.1:6443", "sc://one", "sc://one:15002/;token=x;use_ssl=true",
)  # fmt: skip
NOT = (
    "",
    "one",
    "one:7077",
    "spark://one",
    "spark://one:",
    "spark://:7077",
    "local[0]",
    "local[]",
    "Local",
    "http://one",
    "spark://one:70770",
    "spark://one:0",
    "k8s://https://one:65536",
)


@pytest.fixture
def closed_port():
    """Nobody listens there: it is bound, and no more."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield bound.getsockname()[1]


@pytest.mark.parametrize("master", [*LOCAL, *ELSEWHERE])
def test_forms(master):
    check_form(master)
    assert is_local(master) == (master in LOCAL)


@pytest.mark.parametrize("master", NOT)
def test_other_forms_are_refused(master):
    with pytest.raises(ParameterError, match=r"local\[\*\], .*spark://HOST:PORT|ports from 1 to 65535"):
        check_form(master)


def test_addresses():
    assert addresses("spark://one:7077,two.example.org:7078") == [("one", 7077), ("two.example.org", 7078)]
    assert addresses("spark://[::1]:7077") == addresses("sc://[::1]:7077") == [("::1", 7077)]
    assert addresses("sc://[::1]") == [("::1", 15002)]
    assert addresses("sc://one:1/;a=b") == [("one", 1)]
    assert addresses("k8s://https://one:6443") == addresses("k8s://one:6443") == [("one", 6443)]
    assert addresses("k8s://https://one/path") == [("one", 443)]
    assert addresses("local[*]") == addresses("yarn") == []


def test_where_the_executors_are():
    here = ("local[2]", "local-cluster[2,1,1024]", "spark://127.0.0.1:7077", "spark://localhost:1", "spark://[::1]:1")
    assert all(map(is_on_this_machine, here))
    assert not any(map(is_on_this_machine, ("spark://one:7077", "spark://localhost:1,one:1", "yarn", "k8s://x")))


def test_nobody_answers(closed_port):
    start = time.monotonic()
    with pytest.raises(EngineError) as caught:
        check_answers(f"spark://127.0.0.1:{closed_port}")
    assert time.monotonic() - start < 30
    assert f"127.0.0.1:{closed_port}: Connection refused" in str(caught.value)
    assert "org.apache.spark.deploy.master.Master" in str(caught.value)
    assert "local[*]" in str(caught.value)
