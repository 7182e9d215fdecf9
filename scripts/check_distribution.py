"""Look into the sdist and the wheel: what must be there is, what must not be there is not; ``make base``."""

from __future__ import annotations

import sys
import tarfile
import zipfile
from email.parser import Parser
from pathlib import Path

IN_WHEEL = (
    "nearkin/py.typed",
    "nearkin/collection/plain_sql.sql",
    "nearkin/reports/templates/page.html.j2",
    "nearkin/stages/signatures/english_stop_words.txt",
    "nearkin/web/static/htmx.min.js",
    "nearkin/web/static/htmx.LICENSE.txt",
    "nearkin/web/templates/screen.html.j2",
)
IN_SDIST = ("LICENSE", "README.md", "pyproject.toml", "src/nearkin/py.typed")
NOT_SHIPPED = (".venv", "build/", "__pycache__", ".nbi", ".coverage", "demo-out")


def check(holds: bool, sentence: str, came: object = "") -> None:
    """Say what was looked at; end with what came when it does not hold."""
    if not holds:
        sys.exit(f"FAILED  {sentence}\n{came}")
    print(f"ok  {sentence}")


def main(folder: Path) -> None:
    [wheel], [sdist] = folder.glob("*.whl"), folder.glob("*.tar.gz")
    with zipfile.ZipFile(wheel) as opened:
        names = opened.namelist()
        metadata = Parser().parsestr(opened.read(next(n for n in names if n.endswith("/METADATA"))).decode())
        licences = [name for name in names if name.endswith("licenses/LICENSE")]
    check(set(IN_WHEEL) <= set(names), "the wheel has data files and the marker for type checkers", names)
    check(all(name.startswith("nearkin") for name in names), "the wheel has nothing but the package", names)
    check(bool(licences), "the wheel has the licence")
    check(metadata["License-Expression"] == "Apache-2.0", "its metadata names the licence", metadata.items())
    check("report" in metadata.get_all("Provides-Extra", []), "its metadata names the extras", metadata.items())
    body = metadata.get_payload()
    check("## Install" in str(body), "its description is the README")
    with tarfile.open(sdist) as packed:
        inside = [name.partition("/")[2] for name in packed.getnames()]
    check(set(IN_SDIST) <= set(inside), "the sdist has the sources, the licence and the README", inside[:50])
    shipped = [name for name in [*names, *inside] if any(part in name for part in NOT_SHIPPED)]
    check(not shipped, "neither has caches or environments", shipped[:20])


if __name__ == "__main__":
    main(Path(sys.argv[1]))
