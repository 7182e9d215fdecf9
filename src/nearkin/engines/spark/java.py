"""Check of the Java that Spark would start."""

from __future__ import annotations

import re
import subprocess

from nearkin.errors import EngineError

OLDEST = 17
_HELP = (
    f"Install version {OLDEST} or newer, on Debian: apt-get install openjdk-17-jre-headless. If it is installed, "
    "set its path: export JAVA_HOME=/path/to/java"
)
# Spark's own way of finding Java: variables set by spark-env.sh, JAVA_HOME, PATH
_SCRIPT = """
export SPARK_HOME=$1
. "$SPARK_HOME/bin/load-spark-env.sh" > /dev/null 2>&1
java=${JAVA_HOME:+$JAVA_HOME/bin/}java
echo "$java"
exec "$java" -version 2>&1
"""


def check_java() -> int:
    """Return the release of Java; raise an error if there is none on which Spark can run.

    Raises
    ------
    EngineError
        Java is missing, does not start, or is older than 17.
    """
    from pyspark.find_spark_home import _find_spark_home  # the directory that its launcher uses too

    command = ["bash", "-c", _SCRIPT, "java", str(_find_spark_home())]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False, timeout=60
        )
    except FileNotFoundError as error:
        raise EngineError("Spark is started by bash, but bash is not on the PATH of this machine.") from error
    except subprocess.TimeoutExpired as error:
        raise EngineError(f"Spark runs on Java, but 'java -version' does not finish. {_HELP}") from error
    name, _, answer = done.stdout.partition("\n")
    if done.returncode == 127:
        raise EngineError(f"Spark runs on Java, which is missing: '{name}' was not found. {_HELP}")
    version = _version(answer)
    if version is None:
        reason = f"{answer}{done.stderr}".strip() or f"exit code {done.returncode}"
        raise EngineError(f"Spark runs on Java, and '{name} -version' fails: {reason}. {_HELP}")
    if version < OLDEST:
        raise EngineError(f"Spark needs Java {OLDEST} or newer. '{name}' is Java {version}. {_HELP}")
    return version


def _version(answer: str) -> int | None:
    """Return the release that ``java -version`` prints; before Java 9 it was the second number.

    >>> _version('openjdk version "17.0.15" 2025-04-15'), _version('java version "1.8.0_402"'), _version("what?")
    (17, 8, None)
    """
    found = re.search(r'version "(\d+)(?:\.(\d+))?', answer)
    if found is None:
        return None
    first, second = int(found[1]), int(found[2] or 0)
    return second if first == 1 else first
