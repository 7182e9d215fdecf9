"""What --engine, --master and --conf say together, and what they may not."""

from __future__ import annotations

import sys

import pytest

from nearkin.errors import MissingExtraError
from nearkin.options.running import engine_of


def test_what_was_chosen():
    cluster = engine_of("spark", "spark://one:7077,two:7077", ["a.b=c", "spark.driver.extraJavaOptions=-Da=b -Dc=d"])
    assert cluster.master == "spark://one:7077,two:7077"
    assert cluster.settings == {"a.b": "c", "spark.driver.extraJavaOptions": "-Da=b -Dc=d"}
    assert engine_of("spark", None, None).master is None
    assert engine_of("spark", None, ["spark.master=local[3]"]) == engine_of("spark", "local[3]", [])


def test_the_last_of_two_settings_counts():
    assert engine_of("spark", None, ["a=1", "a=2"]).settings == {"a": "2"}


def test_without_pyspark(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyspark", None)
    monkeypatch.setattr("nearkin.engines.spark.requirements.find_spec", lambda name: None)
    with pytest.raises(
        MissingExtraError, match=r"--engine spark needs the spark extra: pip install 'nearkin\[spark\]'"
    ):
        engine_of("spark", None, None)
