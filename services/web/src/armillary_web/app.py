"""The dashboard's application."""

from __future__ import annotations

from fastapi import FastAPI
from fastapi.staticfiles import StaticFiles

from armillary_core.usecases.health import Health
from armillary_web.dependencies import NoRefusals, Refusals
from armillary_web.errors import add_error_pages
from armillary_web.pages import ROUTERS
from armillary_web.rendering import STATIC_FOLDER, Rendering
from armillary_web.security import add_security_headers


def create_web_app(health: Health, *, refusals: Refusals | None = None) -> FastAPI:
    """Pages that work without scripts. Whoever mounts it puts the caller into `request.state.caller`; without one
    nothing is shown. `refusals` tells of refused host names."""
    app = FastAPI(title="Armillary", docs_url=None, redoc_url=None, openapi_url=None)
    app.state.health = health
    app.state.refusals = refusals or NoRefusals()
    app.state.render = Rendering()
    app.mount("/static", StaticFiles(directory=STATIC_FOLDER), name="static")
    for router in ROUTERS:
        app.include_router(router)
    add_error_pages(app)
    add_security_headers(app)
    return app
