// The TypeScript SDK 2.x against a running server: node sdk_2.mjs URL TOKEN auto|legacy|2026-07-28. Prints one JSON object.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

const [url, token, era] = process.argv.slice(2);
const headers = { Authorization: `Bearer ${token}` };
const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } });
const mode = era === "auto" || era === "legacy" ? era : { pin: era };
const client = new Client({ name: "armillary-test", version: "1" }, { capabilities: {}, versionNegotiation: { mode } });
await client.connect(transport);
const { tools } = await client.listTools();
const found = await client.callTool({ name: "search_docs", arguments: { query: "rotate the backup keys" } });
const id = found.structuredContent.hits[0].id;
const read = await client.callTool({ name: "read_doc", arguments: { doc: id } });
console.log(JSON.stringify({
  server: client.getServerVersion().name,
  era: client.getNegotiatedProtocolVersion?.() ?? transport.protocolVersion,
  tools: tools.map((tool) => tool.name),
  id,
  text: read.content[0].text,
}));
await client.close();
