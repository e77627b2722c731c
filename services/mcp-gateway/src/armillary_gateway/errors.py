"""Our errors in words that a model can act on: what is wrong, and what to do next."""

from __future__ import annotations

from armillary_core.domain.errors import (
    AccessDeniedError,
    AppError,
    BackendError,
    BackendRejectedError,
    BackendUnavailableError,
    ChapterNotFoundError,
    ConflictError,
    DocumentNotFoundError,
    IndexOutdatedError,
    IngestError,
    InvalidQueryError,
    InvalidRequestError,
    NotFoundError,
    ProjectNotFoundError,
    ReindexRunningError,
    SettingsError,
    SourceTooLargeError,
    UnknownFacetError,
    UnreadableSourceError,
    UnsupportedFormatError,
)

MAX_BYTES = 2000
_LONGEST_WORD_LOST = 16

# What follows the error's own message, which already says what is wrong with which argument.
NEXT_STEP: dict[type[AppError], str] = {
    AppError: "",
    InvalidRequestError: "",
    InvalidQueryError: "Rephrase the query and call search_docs again.",
    UnknownFacetError: "get_cosmos lists the values there are.",
    NotFoundError: "",
    ProjectNotFoundError: "get_cosmos lists what this token may see.",
    DocumentNotFoundError: "",
    ChapterNotFoundError: "",
    AccessDeniedError: "Do not retry with this token.",
    ConflictError: "",
    ReindexRunningError: "",
    IngestError: "Do not retry.",
    UnsupportedFormatError: "Do not retry.",
    UnreadableSourceError: "Do not retry.",
    SourceTooLargeError: "Do not retry.",
    BackendError: "Try again later.",
    BackendUnavailableError: "Try again in a moment.",
    BackendRejectedError: "Do not retry unchanged.",
    IndexOutdatedError: "It is being rebuilt; try again later.",
    SettingsError: "The owner must mend the settings; do not retry.",
}


def words(error: AppError) -> str:
    """One line for the model."""
    step = next(NEXT_STEP[kind] for kind in type(error).__mro__ if kind in NEXT_STEP)
    message = " ".join(f"{error.message} {step}".split())
    return cut_bytes(message, MAX_BYTES)


def cut_bytes(text: str, limit: int) -> str:
    """At most `limit` bytes of UTF-8; a cut is between words where one is near, and has an ellipsis."""
    raw = text.encode("utf-8", "replace")
    if len(raw) <= limit:
        return text
    cut = raw[: max(limit - 3, 0)].decode("utf-8", "ignore")
    if not text[len(cut)].isspace() and (blank := cut.rfind(" ")) > 0 and len(cut) - blank <= _LONGEST_WORD_LOST:
        cut = cut[:blank]
    return cut.rstrip() + "…"
