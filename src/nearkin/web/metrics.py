"""Counts and times of requests, in the text format of Prometheus."""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping

_BOUNDS_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)


class RequestMetrics:
    """Counts and durations of requests by route and status.

    Routes come from a fixed list, so that requests for made-up paths take no memory.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts = Counter[tuple[str, str, int]]()
        self._times: dict[tuple[str, str], list[int]] = {}
        self._sums = Counter[tuple[str, str]]()

    def observe(self, method: str, route: str, status: int, elapsed_s: float) -> None:
        """Count a request."""
        key = method, route
        with self._lock:
            self._counts[method, route, status] += 1
            self._times.setdefault(key, [0] * (len(_BOUNDS_S) + 1))[bisect_left(_BOUNDS_S, elapsed_s)] += 1
            self._sums[key] += elapsed_s  # type: ignore[assignment]  # a sum of seconds

    def exposition(self, gauges: Mapping[str, tuple[str, float]]) -> str:
        """Write everything; ``gauges`` are a help text and a value by name.

        Examples
        --------
        >>> metrics = RequestMetrics()
        >>> metrics.observe("GET", "/api/v1/waves", 200, 0.004)
        >>> text = metrics.exposition({"nearkin_documents": ("Current documents.", 3)})
        >>> text.splitlines()[2], text.splitlines()[5]
        ('nearkin_documents 3', 'nearkin_requests_total{method="GET",route="/api/v1/waves",status="200"} 1')
        """
        lines = list[str]()
        for name, (about, value) in gauges.items():
            lines += [f"# HELP {name} {about}", f"# TYPE {name} gauge", f"{name} {value:g}"]
        with self._lock:
            lines += ["# HELP nearkin_requests_total Requests by route and status."]
            lines += ["# TYPE nearkin_requests_total counter"]
            for (method, route, status), n in sorted(self._counts.items()):
                lines.append(f'nearkin_requests_total{{method="{method}",route="{route}",status="{status}"}} {n}')
            name = "nearkin_request_seconds"
            lines += [f"# HELP {name} Time of requests by route.", f"# TYPE {name} histogram"]
            for (method, route), counts in sorted(self._times.items()):
                labels, n = f'method="{method}",route="{route}"', 0
                for bound, count in zip((*(f"{one:g}" for one in _BOUNDS_S), "+Inf"), counts, strict=True):
                    n += count
                    lines.append(f'{name}_bucket{{{labels},le="{bound}"}} {n}')
                lines.append(f"{name}_sum{{{labels}}} {self._sums[method, route]:.6f}")
                lines.append(f"{name}_count{{{labels}}} {n}")
        return "\n".join(lines) + "\n"
