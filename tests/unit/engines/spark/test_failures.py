"""Whatever Spark raises comes out as an error of Nearkin that says what failed, and what helps."""

from __future__ import annotations

import os
import signal

import pytest
from py4j.protocol import Py4JNetworkError

from nearkin.engines.spark.failures import engine_errors
from nearkin.errors import DocumentError, EngineError


def run(spark, function):
    """A job of two tasks, in the way of the engine."""
    with engine_errors():
        return spark.range(0, 4, 1, 2).mapInArrow(function, "id long").toArrow()


def raising(error: str):
    """A task that raises; the error is made where it runs."""

    def task(batches):
        from nearkin import errors

        list(batches)
        raise eval(error, vars(errors))
        yield

    return task


def test_an_error_of_a_task_is_the_same_error_here(spark):
    message = "ä ’x’\n\nand a second part"
    with pytest.raises(DocumentError) as caught:
        run(spark, raising(f"DocumentError({message!r})"))
    assert str(caught.value) == message
    assert caught.value.__cause__ is not None


def test_a_python_process_that_is_killed(spark):
    def task(batches):
        os.kill(os.getpid(), signal.SIGKILL)
        yield from batches

    with pytest.raises(EngineError, match=r"was killed, usually for lack of memory.*on \S+: .*spark\.executor\.memory"):
        run(spark, task)


def test_what_is_not_of_spark_is_left_alone():
    for error in (OSError("x"), KeyboardInterrupt(), DocumentError("x"), ZeroDivisionError()):
        with pytest.raises(type(error)) as caught, engine_errors():
            raise error
        assert caught.value is error


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit])
def test_interrupted_while_java_ends_too(kind):
    """Java takes the signal as well, and what Spark stumbles over on the way out is not what happened."""

    def job():
        try:
            raise kind
        finally:
            raise Py4JNetworkError("Answer from Java side is empty")

    with pytest.raises(kind), engine_errors():
        job()
