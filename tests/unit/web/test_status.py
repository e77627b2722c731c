from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
import pytest

from armillary_core.domain.ingest import Skipped, SkipRule
from armillary_core.domain.project import ProjectName, ProjectState
from armillary_gateway.server import build_http_app
from armillary_web.app import create_web_app
from factories import make_failed
from worlds import World, make_world

BASE = "http://localhost:8420"


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = make_world(tmp_path)
    made.project("notes")
    made.project("secret", private=True)
    made.add("notes", {"a.md": "# A\n", "locked.pdf": make_failed("password <protected>")})
    made.catalogue.ingest.replace_skipped(
        ProjectName("notes"), [Skipped(b".env", SkipRule.SECRET), Skipped(b"x/", SkipRule.JUNK_DIR)]
    )
    yield made
    made.catalogue.close()


@asynccontextmanager
async def browser(world: World, token: str | None = None) -> AsyncIterator[httpx2.AsyncClient]:
    web = create_web_app(world.gateway.health, refusals=world.gateway.refused_hosts)
    app = build_http_app(world.gateway, web)
    headers = {"authorization": f"Bearer {token}"} if token else {}
    async with (
        app.running(),
        httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url=BASE, headers=headers) as client,
    ):
        yield client


@pytest.mark.anyio
@pytest.mark.parametrize("path", ["/", "/status"])
async def test_the_page_shows_how_things_stand(world: World, path: str) -> None:
    world.catalogue.projects.set_state(ProjectName("notes"), ProjectState.HELD, reason="the folder is empty")
    async with browser(world) as client:
        await client.get("/healthz", headers={"host": "evil.example"})
        page = await client.get(path)
    assert page.status_code == 200
    for words in (
        "notes",
        "held: the folder is empty",
        "secret (private)",
        "1 failed, 2 skipped",
        "1 a secret by its name",
        "1 in a well-known junk folder",
        "password &lt;protected&gt;",
        "unavailable",
        "no model in tests",
        "evil.example",
        "Project &#34;notes&#34; is held",
    ):
        assert words in page.text, words


@pytest.mark.anyio
async def test_a_token_sees_its_own_projects(world: World) -> None:
    async with browser(world, world.token("reader")) as client:
        page = await client.get("/")
    assert "notes" in page.text and "secret" not in page.text.replace("a secret by its name", "")


@pytest.mark.anyio
async def test_without_a_caller_nothing_is_shown(world: World) -> None:
    world = world.with_policy(tokens_required=True)
    async with browser(world) as client:
        assert (await client.get("/")).status_code == 401
    alone = create_web_app(world.gateway.health)
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(alone), base_url=BASE) as client:
        page = await client.get("/status")
        assert page.status_code == 401 and "notes" not in page.text
        assert (await client.get("/nothing")).status_code == 404


@pytest.mark.anyio
async def test_the_content_policy_is_strict_and_the_page_keeps_to_it(world: World) -> None:
    async with browser(world) as client:
        page = await client.get("/")
        policy = page.headers["content-security-policy"]
        sheet = re.search(r'href="(/static/app\.css\?v=[0-9a-f]{12})"', page.text)
        assert sheet is not None
        style = await client.get(sheet.group(1))
    assert "default-src 'none'" in policy and "unsafe" not in policy and "script-src" not in policy
    assert "<script" not in page.text and "style=" not in page.text and " on" + "click" not in page.text
    assert style.status_code == 200 and style.headers["content-type"].startswith("text/css")
    assert page.headers["cache-control"] == "no-store"
    assert page.headers["x-content-type-options"] == "nosniff"


@pytest.mark.anyio
async def test_the_page_is_labelled(world: World) -> None:
    async with browser(world) as client:
        page = (await client.get("/")).text
    assert '<html lang="en">' in page and 'name="viewport"' in page
    assert page.count("<h1>") == 1 and 'href="#main"' in page
    for name in re.findall(r'aria-labelledby="([^"]+)"', page):
        assert f'id="{name}"' in page


@pytest.mark.anyio
@pytest.mark.parametrize("path", ["/static/../app.py", "/static/%2e%2e/app.py", "/static/nothing.css"])
async def test_static_files_stay_in_their_folder(world: World, path: str) -> None:
    async with browser(world) as client:
        assert (await client.get(path)).status_code == 404


@pytest.mark.anyio
async def test_a_broken_page_shows_a_reference_only(world: World) -> None:
    def broken(_: object) -> None:
        raise ValueError("the database password")

    web = create_web_app(world.gateway.health)
    web.state.health = type("Broken", (), {"report": staticmethod(broken)})()
    app = build_http_app(world.gateway, web)
    async with (
        app.running(),
        httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url=BASE) as client,
    ):
        page = await client.get("/")
    assert page.status_code == 500
    assert "reference" in page.text and "password" not in page.text
