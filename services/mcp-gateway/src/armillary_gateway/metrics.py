"""Counters of the gateway, in Prometheus' text form."""

from __future__ import annotations

from collections import Counter
from threading import Lock


class Metrics:
    """Calls and seconds by tool and outcome."""

    def __init__(self) -> None:
        self._calls: Counter[tuple[str, str]] = Counter()
        self._seconds: Counter[str] = Counter()
        self._requests: Counter[int] = Counter()
        self._lock = Lock()

    def called(self, tool: str, outcome: str, seconds: float) -> None:
        """One tool call; outcome is ok, refused or failed."""
        with self._lock:
            self._calls[tool, outcome] += 1
            self._seconds[tool] += seconds  # type: ignore[assignment]  # a Counter adds floats as well

    def answered(self, status: int) -> None:
        """One refusal of a whole request, by HTTP status."""
        with self._lock:
            self._requests[status] += 1

    def render(self, gauges: dict[str, float] | None = None) -> str:
        """The exposition text; `gauges` are added as they are."""
        with self._lock:
            calls, seconds, requests = dict(self._calls), dict(self._seconds), dict(self._requests)
        lines = ["# TYPE armillary_tool_calls_total counter"]
        lines += [
            f'armillary_tool_calls_total{{tool="{tool}",outcome="{outcome}"}} {count}'
            for (tool, outcome), count in sorted(calls.items())
        ]
        lines.append("# TYPE armillary_tool_seconds_total counter")
        lines += [
            f'armillary_tool_seconds_total{{tool="{tool}"}} {spent:.6f}' for tool, spent in sorted(seconds.items())
        ]
        lines.append("# TYPE armillary_refused_requests_total counter")
        lines += [f'armillary_refused_requests_total{{status="{code}"}} {n}' for code, n in sorted(requests.items())]
        for name, value in sorted((gauges or {}).items()):
            lines += [f"# TYPE {name} gauge", f"{name} {value:g}"]
        return "\n".join(lines) + "\n"
