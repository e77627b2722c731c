"""Our errors → try again later, or give up."""

from __future__ import annotations

from armillary_core.domain.errors import AppError

RETRY_SECONDS = (1.0, 2.0, 5.0, 15.0, 30.0)


def retry_delay(attempt: int) -> float:
    """Seconds to wait before attempt number `attempt` (0 = first retry)."""
    return RETRY_SECONDS[min(attempt, len(RETRY_SECONDS) - 1)]


def is_worth_retrying(error: Exception) -> bool:
    return isinstance(error, AppError) and error.retryable
