"""What --engine, --master and --conf say together, and what they may not."""

from __future__ import annotations

import subprocess
import sys

import click
import pytest

from nearkin.cli.main import app
from nearkin.engines.local import LOCAL
from nearkin.errors import MissingExtraError
from nearkin.options.running import engine_of


def test_the_local_engine_has_no_cluster():
    assert engine_of("local", None, None) is LOCAL
    assert engine_of("local", None, []) is LOCAL


def test_the_local_engine_imports_nothing_of_spark():
    code = """
import sys
import click
from nearkin.cli.main import app
from nearkin.options.running import engine_of
app.get_command(click.Context(app), "dedup")
engine_of("local", None, ())
print([name for name in sys.modules if "spark" in name or name.startswith("py4j")])
"""
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


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


def test_a_command_has_the_options_of_its_records_except_those_that_it_declares_itself():
    dedup = app.get_command(click.Context(app), "dedup")
    options = {one.name: one for one in dedup.params}
    assert {"engine", "master", "conf", "threshold", "memory"} <= options.keys()
    assert options["out"].required
    assert [one.name for one in dedup.params].count("report") == 1
