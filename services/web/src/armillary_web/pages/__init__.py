"""Every page, written out by hand."""

from __future__ import annotations

from fastapi import APIRouter

from armillary_web.pages import status

ROUTERS: tuple[APIRouter, ...] = (status.router,)
