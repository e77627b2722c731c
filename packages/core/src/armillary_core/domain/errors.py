"""The whole error tree. Errors know nothing of HTTP or MCP; every message is safe to show."""

from __future__ import annotations

from typing import ClassVar


class AppError(Exception):
    """Anything that Armillary itself refuses or cannot do; `code` is stable, the message says the way out."""

    code: ClassVar[str] = "error"
    retryable: ClassVar[bool] = False

    @property
    def message(self) -> str:
        return str(self)


class InvalidRequestError(AppError):
    """An argument is not what it may be."""

    code = "invalid_request"


class InvalidQueryError(InvalidRequestError):
    """A question that cannot be searched."""

    code = "invalid_query"


class UnknownFacetError(InvalidRequestError):
    """A filter names a property or value that does not exist."""

    code = "unknown_facet"


class NotFoundError(AppError):
    """What was asked for does not exist, or not for this caller."""

    code = "not_found"


class ProjectNotFoundError(NotFoundError):
    """There is no project of that name."""

    code = "project_not_found"


class DocumentNotFoundError(NotFoundError):
    """There is no such document, or it has no text."""

    code = "document_not_found"


class ChapterNotFoundError(NotFoundError):
    """The document has no such chapter, page or line."""

    code = "chapter_not_found"


class AccessDeniedError(AppError):
    """The token lacks the right."""

    code = "access_denied"


class ConflictError(AppError):
    """It changed meanwhile, or the name is taken."""

    code = "conflict"


class ReindexRunningError(ConflictError):
    """The project is being indexed in that way already."""

    code = "reindex_running"


class IngestError(AppError):
    """A file could not become a document."""

    code = "ingest_failed"


class UnsupportedFormatError(IngestError):
    """Nothing reads this format."""

    code = "unsupported_format"


class UnreadableSourceError(IngestError):
    """The bytes are not what their name says."""

    code = "unreadable_source"


class SourceTooLargeError(IngestError):
    """The file is larger than what may be read."""

    code = "source_too_large"


class BackendError(AppError):
    """An engine, the catalogue or the model failed."""

    code = "backend_failed"


class BackendUnavailableError(BackendError):
    """It does not answer at the moment."""

    code = "backend_unavailable"
    retryable = True


class BackendRejectedError(BackendError):
    """It refused the request."""

    code = "backend_rejected"


class IndexOutdatedError(BackendError):
    """What it holds was written by another version, or is broken."""

    code = "index_outdated"


class SettingsError(AppError):
    """Start-up only: one plain line, exit code 2."""

    code = "settings"


def error_of(code: str) -> type[AppError] | None:
    """The error of that code; None for a code of another version."""
    kinds = [AppError]
    for kind in kinds:
        if kind.code == code:
            return kind
        kinds.extend(kind.__subclasses__())
    return None
