from __future__ import annotations

import json
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError

from armillary_core.domain.token import Right
from armillary_gateway.instructions import INSTRUCTIONS
from worlds import World, mcp_client, text_of

READ_TOOLS = ["get_cosmos", "search_docs", "read_doc", "list_docs", "list_chapters", "get_card", "find_similar"]


@pytest.fixture
def guides(world: World) -> World:
    world.project("guides")
    world.add("guides", {"backup.md": "# Backup\nintro\n## Rotate keys\nHow to rotate the backup keys.\n"})
    return world


@pytest.mark.anyio
@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_question_is_answered_in_both_eras(guides: World, mode: str) -> None:
    async with mcp_client(guides.app, mode=mode) as client:
        found = await client.call_tool("search_docs", {"query": "rotate keys"})
        assert not found.is_error
        hit = found.structured_content["hits"][0]
        assert hit["id"] == "guides::backup.md#rotate-keys-1"
        assert "guides::backup.md#rotate-keys-1 L3-" in text_of(found)
        assert "How to rotate the backup keys." in text_of(found)
        read = await client.call_tool("read_doc", {"doc": hit["id"]})
        assert "How to rotate the backup keys." in text_of(read)
        assert read.structured_content["text"] == "## Rotate keys\nHow to rotate the backup keys.\n"


@pytest.mark.anyio
async def test_a_read_token_sees_seven_tools_in_under_2500_tokens(guides: World) -> None:
    token = guides.token("reader")
    async with mcp_client(guides.app, token=token) as client:
        tools = (await client.list_tools()).tools
    assert [tool.name for tool in tools] == READ_TOOLS
    as_listed = json.dumps(
        [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in tools],
        separators=(",", ":"),
        ensure_ascii=False,
    )
    assert len(as_listed.encode()) < 2500 * 4


@pytest.mark.anyio
async def test_every_tool_says_what_it_is(guides: World) -> None:
    async with mcp_client(guides.app) as client:
        tools = (await client.list_tools()).tools
    assert [tool.name for tool in tools] == [*READ_TOOLS, "update_card", "accept_divergence", "reindex"]
    for tool in tools:
        assert tool.title and tool.description and tool.annotations is not None
        assert tool.annotations.open_world_hint is False
        assert tool.annotations.read_only_hint is (tool.name in READ_TOOLS)
        assert tool.input_schema["additionalProperties"] is False
        assert tool.output_schema is not None and tool.output_schema["type"] == "object"
        for name, schema in tool.input_schema["properties"].items():
            if "maximum" in schema:
                assert str(schema["maximum"]) in schema["description"], (tool.name, name)


@pytest.mark.anyio
@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_tool_without_the_right_does_not_exist(guides: World, mode: str) -> None:
    token = guides.token("reader")
    async with mcp_client(guides.app, token=token, mode=mode) as client:
        for name in ("update_card", "reindex", "no_such_tool"):
            refused = await client.call_tool(name, {"doc": "guides::backup.md"})
            assert refused.is_error
            assert text_of(refused) == f"Unknown tool: {name}. Tools: {', '.join(READ_TOOLS)}."


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("search_docs", {"query": "x", "colection": "a"}, "search_docs has no argument colection. Accepted: query,"),
        ("search_docs", {}, "search_docs: query: Field required. Correct it and call again."),
        ("search_docs", {"query": "x", "limit": 99}, "limit: Input should be less than or equal to 25"),
        ("search_docs", {"query": "x", "mode": "fast"}, "mode: Input should be 'auto', 'keyword', 'semantic'"),
        ("read_doc", {"doc": "guides::backup.md", "lines": "9"}, 'lines "9" begin after the end: the document has 4'),
        ("read_doc", {"doc": "guides::backup.md", "section": "Restore"}, "Sections: #backup (Backup), #rotate-keys-1"),
        ("read_doc", {"doc": "guides::backups.md"}, "Did you mean guides::backup.md?"),
        ("read_doc", {"doc": "guide::backup.md"}, 'No project "guide". Projects: guides.'),
        ("list_chapters", {}, "Give doc for the outline of one document, or name"),
        ("update_card", {"doc": "guides::backup.md"}, "pass at least one of type, summary"),
        ("update_card", {"doc": "guides::backup.md", "date": "2026-02-30"}, "is not a calendar date"),
        ("update_card", {"cards": [{"doc": "a", "sumary": "b"}]}, "cards.0.sumary: Extra inputs are not permitted"),
        ("reindex", {"mode": "rebuild", "project": "guides"}, 'Call again with confirm="guides"'),
    ],
)
async def test_a_wrong_call_is_told_in_one_line_what_to_do(
    guides: World, tool: str, arguments: dict[str, object], said: str
) -> None:
    async with mcp_client(guides.app) as client:
        result = await client.call_tool(tool, arguments)
    assert result.is_error
    assert result.structured_content is None
    assert said in text_of(result)
    assert "\n" not in text_of(result) and "pydantic" not in text_of(result)


@pytest.mark.anyio
async def test_an_unexpected_failure_shows_nothing_of_itself(guides: World) -> None:
    async def broken(*_: object) -> None:
        raise ValueError("the database password")

    object.__setattr__(guides.gateway, "search", broken)
    async with mcp_client(guides.app) as client:
        result = await client.call_tool("search_docs", {"query": "x"})
    assert result.is_error
    assert "password" not in text_of(result)
    assert "reference" in text_of(result)


@pytest.mark.anyio
async def test_the_server_introduces_itself(guides: World) -> None:
    async with mcp_client(guides.app, mode="legacy") as client:
        assert client.server_info.name == "armillary"
        assert client.server_info.version == "0.1.0"
        assert client.instructions == INSTRUCTIONS
        assert (await client.list_resources()).resources == []
    assert len(INSTRUCTIONS.encode()) < 2048


@pytest.mark.anyio
async def test_documents_are_resources(guides: World) -> None:
    guides.add("guides", {"100% C#/naïve file.md": "# Odd\nwords of an odd path\n"})
    async with mcp_client(guides.app) as client:
        templates = (await client.list_resource_templates()).resource_templates
        assert [template.uri_template for template in templates] == ["armillary://{project}/{+path}"]
        for uri in (
            "armillary://guides/100%25 C%23/naïve file.md",
            "armillary://guides/100%25%20C%23/na%C3%AFve%20file.md",
        ):
            content = (await client.read_resource(uri)).contents[0]
            assert "words of an odd path" in content.text
        with pytest.raises(MCPError, match=r"Did you mean guides::backup\.md"):
            await client.read_resource("armillary://guides/backups.md")
        with pytest.raises(MCPError, match="No document"):
            await client.read_resource("armillary://guides/../../etc/passwd")


@pytest.mark.anyio
async def test_the_prompt_teaches_enrichment(guides: World) -> None:
    async with mcp_client(guides.app) as client:
        assert [prompt.name for prompt in (await client.list_prompts()).prompts] == ["enrich_index"]
        prompt = await client.get_prompt("enrich_index", {"project": "guides", "count": "5"})
    assert 'list_docs(state="stale", project="guides", limit=5)' in prompt.messages[0].content.text


@pytest.mark.anyio
async def test_rights_follow_the_token(guides: World) -> None:
    token = guides.token("writer", Right.ENRICH)
    async with mcp_client(guides.app, token=token) as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        assert names == [*READ_TOOLS, "update_card", "accept_divergence"]
        written = await client.call_tool("update_card", {"doc": "guides::backup.md", "summary": "About backups."})
        assert written.structured_content["cards"][0]["states"] == ["enriched"]
        card = await client.call_tool("get_card", {"doc": "guides::backup.md"})
    assert card.structured_content["summary"] == "About backups."
    assert card.structured_content["enriched"].endswith("by writer")
    assert "summary=About backups." in text_of(card)


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("tool", "arguments", "code", "message"),
    [
        ("search_docs", {"query": "x", "project": "nope"}, "project_not_found", 'No project "nope". Projects: guides.'),
        ("search_docs", {"query": "x" * 5000}, "invalid_request", "query: String should have at most 1000 characters."),
        ("read_doc", {"doc": "guides::nope"}, "document_not_found", 'No document "guides::nope".'),
    ],
)
async def test_programs_get_the_code_of_an_error_and_its_message_alone(
    guides: World, tool: str, arguments: dict[str, Any], code: str, message: str
) -> None:
    async with mcp_client(guides.app) as client:
        result = await client.call_tool(tool, arguments)
    assert result.is_error
    assert result.meta is not None
    assert result.meta["armillary/error"] == {"code": code, "message": message}
