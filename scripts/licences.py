"""List the licences of the libraries that Nearkin needs: ``make licences``.

It fails where one is neither permissive nor named here.
"""

from __future__ import annotations

import re
import sys
from importlib.metadata import PackageNotFoundError, distribution

EXTRAS = ("report", "collection", "postgresql", "align", "spark", "documents", "pst", "web")
COPYLEFT = ("libpff-python", "psycopg", "psycopg-binary")
"""LGPL-3.0; `pyproject.toml` says so beside the extras pst and postgresql, which alone need them."""
PERMISSIVE = re.compile(
    r"MIT|BSD|Apache|ISC|PSF|Python Software Foundation|MPL|Mozilla|Zlib|Unlicense|0BSD|CC0|Public Domain|HPND", re.I
)
NAME = re.compile(r"^[\w.-]+")
EXTRA = re.compile(r"extra\s*==\s*['\"]([\w-]+)['\"]")


def licence_of(name: str) -> str:
    """Return the licence that a library's metadata names: an expression, a classifier, or the field."""
    metadata = distribution(name).metadata
    classified = [one.rpartition(" :: ")[2] for one in metadata.get_all("Classifier", []) if one.startswith("License")]
    field = (metadata.get("License") or "").strip().splitlines()
    return metadata.get("License-Expression") or ", ".join(classified) or (field[0] if field else "not stated")


def needed(name: str, extras: tuple[str, ...] = (), seen: dict[str, str] | None = None) -> dict[str, str]:
    """Return the licences of what a library needs, and what that needs in turn, by name."""
    seen = {} if seen is None else seen
    for requirement in distribution(name).requires or ():
        wanted, needs = EXTRA.search(requirement), NAME.match(requirement)
        key = "" if needs is None else needs[0].lower().replace("_", "-")
        if needs is None or (wanted and wanted[1] not in extras) or key in seen:
            continue
        try:
            seen[key] = licence_of(needs[0])
        except PackageNotFoundError:  # for another system or another Python
            continue
        needed(needs[0], tuple(re.findall(r"\w+", requirement.partition("[")[2].partition("]")[0])), seen)
    return seen


def main() -> None:
    found = {name: one for name, one in sorted(needed("nearkin", EXTRAS).items()) if name != "nearkin"}
    for name, licence in found.items():
        print(f"{name:28}{licence}")
    others = [name for name, one in found.items() if name not in COPYLEFT and not PERMISSIVE.search(one)]
    if others:
        sys.exit(f"No permissive licence is stated by: {', '.join(others)}")


if __name__ == "__main__":
    main()
