"""Which card index runs."""

from __future__ import annotations

from pathlib import Path

from armillary_core.bootstrap.engines import open_engine
from armillary_core.ports.card_index import CardIndex
from armillary_core.ports.catalogue import Catalogue
from armillary_core.ports.catalogue.outbox import Engine
from armillary_core.ports.clock import Clock
from armillary_core.settings.model import CardsEngine, TantivyCards


async def open_cards(settings: CardsEngine, *, folder: Path, catalogue: Catalogue, clock: Clock) -> CardIndex:
    match settings:
        case TantivyCards():
            from armillary_core.adapters.cards.tantivy import TantivyCardIndex

            return await open_engine(
                Engine.CARDS,
                TantivyCardIndex.fingerprint.removeprefix("cards-"),
                TantivyCardIndex.open,
                folder=folder,
                catalogue=catalogue,
                clock=clock,
            )
