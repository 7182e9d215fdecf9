"""The process that draws figures: Vega-Lite comes in, SVG goes out, a line of JSON each.

It is a process of its own because the drawing library holds a JavaScript engine, which takes some 100 MiB and ends the
whole process where memory or open files run out. It is run as a file, without Nearkin, so that it starts quickly.
"""

from __future__ import annotations

import json
import sys
from typing import Any


def main() -> None:
    """Serve until the input ends; the first line says where modules are found."""
    lines = iter(sys.stdin)
    sys.path[:] = json.loads(next(lines))
    for line in lines:
        print(json.dumps(_drawn(json.loads(line))), flush=True)  # noqa: T201  (to the process that asked)


def _drawn(specification: Any) -> dict[str, str]:
    import vl_convert

    try:
        return {"svg": vl_convert.vegalite_to_svg(specification, allowed_base_urls=[])}
    except ValueError as error:
        return {"error": str(error)}


if __name__ == "__main__":
    main()
