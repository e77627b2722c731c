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
    code = "invalid_request"


class InvalidQueryError(InvalidRequestError):
    code = "invalid_query"


class UnknownFacetError(InvalidRequestError):
    code = "unknown_facet"


class NotFoundError(AppError):
    code = "not_found"


class ProjectNotFoundError(NotFoundError):
    code = "project_not_found"


class DocumentNotFoundError(NotFoundError):
    code = "document_not_found"


class ChapterNotFoundError(NotFoundError):
    code = "chapter_not_found"


class AccessDeniedError(AppError):
    code = "access_denied"


class ConflictError(AppError):
    code = "conflict"


class ReindexRunningError(ConflictError):
    code = "reindex_running"


class IngestError(AppError):
    code = "ingest_failed"


class UnsupportedFormatError(IngestError):
    code = "unsupported_format"


class UnreadableSourceError(IngestError):
    code = "unreadable_source"


class SourceTooLargeError(IngestError):
    code = "source_too_large"


class BackendError(AppError):
    code = "backend_failed"


class BackendUnavailableError(BackendError):
    code = "backend_unavailable"
    retryable = True


class BackendRejectedError(BackendError):
    code = "backend_rejected"


class IndexOutdatedError(BackendError):
    code = "index_outdated"


class SettingsError(AppError):
    """Start-up only: one plain line, exit code 2."""

    code = "settings"
