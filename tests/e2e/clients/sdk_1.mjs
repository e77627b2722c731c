// The TypeScript SDK 1.x against a running server: node sdk_1.mjs URL TOKEN. Prints one JSON object.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const [url, token] = process.argv.slice(2);
const headers = { Authorization: `Bearer ${token}` };
const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } });
const client = new Client({ name: "armillary-test", version: "1" }, { capabilities: {} });
await client.connect(transport);
const { tools } = await client.listTools(); // the client now checks structured answers against their schemas
const call = (name, args) => client.callTool({ name, arguments: args });

const found = await call("search_docs", { query: "rotate the backup keys" });
const id = found.structuredContent.hits[0].id;
const read = await call("read_doc", { doc: id });
const answers = [await call("get_cosmos", {}), await call("list_docs", {}), await call("get_card", { doc: id })];
answers.push(await call("list_chapters", { doc: id }), await call("find_similar", { doc: id }));
const progress = [];
const job = await client.callTool({ name: "reindex", arguments: {} }, undefined, {
  onprogress: (step) => progress.push(step),
  resetTimeoutOnProgress: true,
});
const wrong = await call("search_docs", { query: "x", limit: 999 });
const address = "armillary://" + id.split("#")[0].replace("::", "/");
const resource = await client.readResource({ uri: address });
const prompt = await client.getPrompt({ name: "enrich_index", arguments: {} });
console.log(JSON.stringify({
  server: client.getServerVersion().name,
  session: transport.sessionId ?? null,
  tools: tools.map((tool) => tool.name),
  id,
  text: read.content[0].text,
  failed: answers.filter((answer) => answer.isError).length,
  job: job.structuredContent.jobs[0].state,
  wrong: wrong.isError && wrong.content[0].text,
  resource: resource.contents[0].text,
  prompt: prompt.messages.length,
}));
await client.close();
