"""Our errors as pages."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

import structlog
from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse
from starlette.exceptions import HTTPException

from armillary_core.domain.errors import AccessDeniedError, AppError, BackendError, NotFoundError
from armillary_web.rendering import Rendering

log = structlog.get_logger("armillary.web")

STATUS: dict[type[AppError], int] = {
    AppError: 400,
    NotFoundError: 404,
    AccessDeniedError: 403,
    BackendError: 503,
}
_WORDS = {
    401: "A token is needed to see this page.",
    404: "There is no such page.",
    405: "That cannot be done here.",
}


@dataclass(frozen=True, slots=True)
class ErrorView:
    title: str
    message: str


def add_error_pages(app: FastAPI) -> None:
    render: Rendering = app.state.render

    def page(status: int, message: str) -> HTMLResponse:
        return render("error.html", ErrorView(f"Error {status}", message), status=status)

    @app.exception_handler(HTTPException)
    async def refused(_: Request, error: HTTPException) -> HTMLResponse:
        return page(error.status_code, _WORDS.get(error.status_code, "This request could not be answered."))

    @app.exception_handler(AppError)
    async def ours(_: Request, error: AppError) -> HTMLResponse:
        status = next(STATUS[kind] for kind in type(error).__mro__ if kind in STATUS)
        return page(status, error.message)

    @app.exception_handler(Exception)
    async def unexpected(request: Request, error: Exception) -> HTMLResponse:
        reference = secrets.token_hex(4)
        log.error("page.failed", reference=reference, path=request.url.path, exc_info=error)
        return page(500, f"Something went wrong (reference {reference} in the log).")
