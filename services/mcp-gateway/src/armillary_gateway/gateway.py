"""What a call can reach."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Protocol

from mcp.server.mcpserver import Context

from armillary_core.domain.passage import SearchAnswer
from armillary_core.domain.query import SearchQuery
from armillary_core.domain.token import Caller
from armillary_core.ports.clock import Clock
from armillary_core.usecases.browse import Browse
from armillary_core.usecases.enrich import Enrich
from armillary_core.usecases.health import Health
from armillary_core.usecases.read import Read
from armillary_core.usecases.reindex import Reindex
from armillary_core.usecases.tokens import Tokens
from armillary_gateway.answers import DEFAULT_TOKENS, MAX_TOKENS, TOKEN_BYTES
from armillary_gateway.cursors import Cursors
from armillary_gateway.hosts import RefusedHosts
from armillary_gateway.metrics import Metrics
from armillary_gateway.quoting import Quoting


class Similar(Protocol):
    async def __call__(
        self, doc: str, caller: Caller, *, project: str | None = None, limit: int = 5
    ) -> SearchAnswer: ...


@dataclass(frozen=True, slots=True)
class GatewayPolicy:
    """How the gateway behaves; plain values from the settings."""

    tokens_required: bool = False  # True on every address but loopback
    public_hosts: tuple[str, ...] = ()  # names that clients use, beside the loopback ones
    mask_keys: bool = True  # hide key-like strings in answers
    answer_tokens: int = DEFAULT_TOKENS  # size of an answer, per channel
    max_answer_tokens: int = MAX_TOKENS  # the most that a call may ask for
    reindex_wait_seconds: float = 5.0  # how long `reindex` watches its job before it answers


@dataclass(frozen=True, slots=True)
class Gateway:
    """The use cases, and what belongs to the door itself."""

    search: Callable[[SearchQuery, Caller], Awaitable[SearchAnswer]]
    find_similar: Similar
    read: Read
    browse: Browse
    enrich: Enrich
    tokens: Tokens
    reindex: Reindex
    health: Health
    clock: Clock
    cursors: Cursors
    policy: GatewayPolicy = field(default_factory=GatewayPolicy)
    metrics: Metrics = field(default_factory=Metrics)
    refused_hosts: RefusedHosts = field(default_factory=RefusedHosts)

    @property
    def cap(self) -> int:
        """Bytes of one channel of an answer."""
        return self.policy.answer_tokens * TOKEN_BYTES

    @property
    def quoting(self) -> Quoting:
        return Quoting(self.policy.mask_keys)


def gateway_of(ctx: Context[Gateway]) -> Gateway:
    """The gateway behind a tool call."""
    return ctx.request_context.lifespan_context
