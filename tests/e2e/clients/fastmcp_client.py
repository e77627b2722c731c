"""fastmcp's client against a running server: fastmcp_client.py URL TOKEN. Prints one JSON object."""

import asyncio
import json
import sys

from fastmcp import Client
from fastmcp.client.transports import StreamableHttpTransport
from fastmcp.exceptions import ToolError


async def main(url: str, token: str) -> None:
    async with Client(StreamableHttpTransport(url, auth=token), timeout=30) as client:
        tools = [tool.name for tool in await client.list_tools()]
        found = await client.call_tool("search_docs", {"query": "rotate the backup keys"})
        identity = found.structured_content["hits"][0]["id"]
        read = await client.call_tool("read_doc", {"doc": identity})
        try:
            await client.call_tool("search_docs", {"query": "x", "limit": 999})
            wrong = ""
        except ToolError as error:
            wrong = str(error)
        resource = await client.read_resource("armillary://" + identity.split("#")[0].replace("::", "/"))
        prompt = await client.get_prompt("enrich_index", {})
    answers = {"tools": tools, "id": identity, "text": read.content[0].text, "wrong": wrong}
    print(json.dumps(answers | {"resource": resource[0].text, "prompt": len(prompt.messages)}))


asyncio.run(main(*sys.argv[1:3]))
