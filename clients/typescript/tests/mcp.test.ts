// The MCP wiring with the official client, and against the types of the Claude Agent SDK.

import assert from "node:assert/strict";
import { test } from "node:test";

import type { Options } from "@anthropic-ai/claude-agent-sdk";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

import { mcpServer } from "../src/index.js";
import { memoryOf } from "./support.js";

test("an MCP client and the memory see the same", async (t) => {
  const at = await memoryOf(t);
  const memory = await at.open();
  const client = new Client({ name: "tester", version: "1.2.3" });
  await client.connect(new StdioClientTransport(mcpServer(at.path, { author: "bob" })));
  t.after(() => client.close());
  const tools = (await client.listTools()).tools.map((tool) => tool.name);
  assert(tools.includes("recall") && tools.includes("remember"));
  const said = await client.callTool({ name: "remember", arguments: { text: "Alice leads the infra team" } });
  assert(!said.isError, JSON.stringify(said));
  assert.match((await memory.recall("who leads infra")).items[0]!.rendered, /Alice/);
  const [made] = await memory.log({ limit: 1 });
  assert.equal(made?.author, "bob");
  assert.match(made.agent ?? "", /tester/);
});

test("options become flags", async (t) => {
  const at = await memoryOf(t);
  await at.open();
  const server = mcpServer(at.path, { profile: "read", pin: true, agent: "robot" });
  const options: Options = { mcpServers: { mnem: server }, allowedTools: ["mcp__mnem"] };
  assert.deepEqual(options.mcpServers?.mnem, server);
  const client = new Client({ name: "tester", version: "1" });
  await client.connect(new StdioClientTransport(server));
  t.after(() => client.close());
  assert(!(await client.listTools()).tools.some((tool) => tool.name === "remember"));
  assert.deepEqual(mcpServer("http://127.0.0.1:1/x").args, ["mcp", "--repo", "http://127.0.0.1:1/x"]);
});
