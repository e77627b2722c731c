"""Gateway and web on one port, over one core."""

from __future__ import annotations

import asyncio
import ipaddress
from collections.abc import Callable

from starlette.types import ASGIApp, Receive, Scope, Send

from armillary_core.bootstrap.container import Core
from armillary_core.settings.model import Settings
from armillary_gateway.cursors import Cursors
from armillary_gateway.gateway import Gateway, GatewayPolicy
from armillary_gateway.server import build_http_app


def http_app(core: Core) -> ASGIApp:
    """What the one process serves."""
    gateway = Gateway(
        search=core.search,
        find_similar=core.find_similar,
        read=core.read,
        browse=core.browse,
        enrich=core.cards_use,
        tokens=core.tokens,
        reindex=core.reindex,
        health=core.health,
        clock=core.clock,
        cursors=Cursors(core.catalogue.secret("cursors")),
        policy=GatewayPolicy(
            tokens_required=not core.settings.is_loopback,
            public_hosts=_names(core.settings),
            mask_keys=core.settings.masking.enabled,
            answer_tokens=core.settings.limits.answer_tokens,
            max_answer_tokens=core.settings.limits.max_answer_tokens,
        ),
    )
    return build_http_app(gateway, PagesWhenAsked(lambda: _pages(core, gateway)))


class PagesWhenAsked:
    """The pages, loaded with the first request for one: a start, and a machine whose owner never looks, is spared
    what they cost."""

    def __init__(self, make: Callable[[], ASGIApp]) -> None:
        self._make = make
        self._pages: asyncio.Task[ASGIApp] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._pages is None:
            self._pages = asyncio.ensure_future(asyncio.to_thread(self._make))
        pages = await asyncio.shield(self._pages)
        await pages(scope, receive, send)


def _pages(core: Core, gateway: Gateway) -> ASGIApp:
    from armillary_web.app import create_web_app

    return create_web_app(core.health, refusals=gateway.refused_hosts)


def _names(settings: Settings) -> tuple[str, ...]:
    """The names clients may use: those of the settings, and the one address that is listened on."""
    address = ipaddress.ip_address(settings.bind)
    if address.is_loopback or address.is_unspecified:
        return settings.public_hosts
    return (*settings.public_hosts, settings.bind)
