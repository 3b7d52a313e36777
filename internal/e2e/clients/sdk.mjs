// Uses `mnem mcp` as programs do that are made with the official TypeScript SDK: every core tool,
// resources, prompts, completion, cancellation and the pages of lists, over standard input and
// output and over HTTP, in the protocol with sessions and in the one without.
import { createRequire } from "node:module";
import { join } from "node:path";
import { check, done, mnem, repository, run, serve } from "./util.mjs";

const load = createRequire(join(process.env.E2E_MODULES, "x.js"));
const old = {
  ...load("@modelcontextprotocol/sdk/client/index.js"),
  ...load("@modelcontextprotocol/sdk/client/stdio.js"),
  ...load("@modelcontextprotocol/sdk/client/streamableHttp.js"),
};
const types = load("@modelcontextprotocol/sdk/types.js");
const modern = { ...load("@modelcontextprotocol/client"), ...load("@modelcontextprotocol/client/stdio") };

// structured is what a program asks for that wants members of answers, beside the text.
const structured = { "mnem/structured": true };

const coreTools = ["commit", "diff", "explore", "forget", "log", "mark", "recall", "remember",
  "retrieve", "show", "stats", "undo"];

// tools calls every core tool, with what a program would check of each answer.
async function tools(client, tag) {
  const { tools } = await client.listTools();
  check(JSON.stringify(tools.map((t) => t.name).sort()) === JSON.stringify(coreTools), "the core tools",
    tools.map((t) => t.name));
  for (const t of tools) {
    check(t.title && t.description && t.inputSchema && !t.outputSchema, `${t.name} is described`);
    const hints = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"];
    check(hints.every((h) => typeof t.annotations?.[h] === "boolean"), `${t.name} has all annotations`, t.annotations);
  }
  const call = async (name, args = {}) => {
    const answer = await client.callTool({ name, arguments: args, _meta: structured });
    check(!answer.isError, `${name} answers`, answer.content);
    check(answer.structuredContent && answer.content[0].type === "text", `${name} answers in both forms`);
    return answer.structuredContent;
  };
  const made = await call("commit", {
    message: `a team ${tag}`,
    nodes: [{ key: `team/${tag}`, type: "Team", summary: `Team ${tag} runs the mill` }],
    edges: [{ type: "leads", src: "alice", dst: `team/${tag}` }],
  });
  check(made.commit?.startsWith("bafyrei") && made.nodes.added === 1 && made.edges.added === 1, "commit tells what it made", made);
  const node = await call("show", { name: `team/${tag}` });
  check(node.key === `team/${tag}` && node.type === "Team", "show reads what was committed", node);
  const found = await call("retrieve", { query: `who runs the mill ${tag}`, limit: 3 });
  check(found.items.length > 0 && found.items.length <= 3, "retrieve finds some", found);
  const recalled = await call("recall", { query: "who leads infra?" });
  check(recalled.items.some((i) => i.key === "alice"), "recall finds who leads", recalled);
  check(["known", "unsure", "unknown"].includes(recalled.verdict), "recall has a verdict", recalled);
  const near = await call("explore", { query: "alice" });
  check(near.nodes.some((n) => n.why?.includes("-leads->")), "explore has the new edge", near);
  const kept = await call("remember", { text: `The mill of ${tag} grinds from 6 to 18 o'clock`, tags: ["mill"] });
  check(kept.action === "added" && kept.id, "remember adds", kept);
  const log = await call("log", { limit: 2 });
  check(log.commits.length === 2, "log lists commits", log);
  const diff = await call("diff", { from: "HEAD~1", to: "HEAD" });
  check(diff.counts.nodes.added >= 1, "diff counts", diff);
  await call("forget", { nodes: [kept.id], reason: "the mill burnt down" });
  const undone = await call("undo");
  check(undone.undone, "undo names what it took back", undone);
  const text = await client.callTool({ name: "recall", arguments: { query: "who leads infra?" } });
  check(text.structuredContent === undefined && /^known: /.test(text.content[0].text), "a text alone answers", text);

  const wrong = await client.callTool({ name: "show", arguments: { name: "key:nobody" } });
  check(wrong.isError === true && /nobody/.test(wrong.content[0].text), "an error of a tool is an answer", wrong);
  const unknown = await client.callTool({ name: "no_such_tool", arguments: {} }).then((a) => a.isError, (err) => err.code);
  check(unknown === true || unknown === -32602, "an unknown tool is refused", unknown);
  const bad = await client.callTool({ name: "retrieve", arguments: { limit: "many" } }).then((a) => a.isError, (err) => err.code === -32602);
  check(bad, "an argument of the wrong type is refused");
}

async function resources(client) {
  const { resourceTemplates } = await client.listResourceTemplates();
  for (const scheme of ["mnem://node/", "mnem://commit/", "mnem://diff/"]) {
    check(resourceTemplates.some((t) => t.uriTemplate.startsWith(scheme)), `a template of ${scheme}`);
  }
  let cursor, pages = 0;
  const seen = new Set();
  do {
    const page = await client.listResources(cursor ? { cursor } : {});
    for (const r of page.resources) {
      check(!seen.has(r.uri), "no resource is on two pages", r.uri);
      seen.add(r.uri);
    }
    cursor = page.nextCursor;
    pages++;
  } while (cursor && pages < 100);
  check(seen.size > 0 && !cursor, "resources are listed to the end", [seen.size, pages]);
  const read = await client.readResource({ uri: "mnem://node/alice" });
  check(/Alice leads infra/.test(read.contents[0].text), "a node is read", read);
  const none = await client.readResource({ uri: "mnem://node/nobody" }).then(() => 0, (err) => err.code);
  check(none === -32002 || none === -32602, "a resource that is not there is an error", none);
}

async function promptsAndCompletion(client) {
  const { prompts } = await client.listPrompts();
  check(["recall", "remember", "review-changes"].every((n) => prompts.some((p) => p.name === n)), "the prompts", prompts);
  const prompt = await client.getPrompt({ name: "recall", arguments: { query: "who leads infra?" } });
  check(/Alice/.test(JSON.stringify(prompt.messages)), "a prompt brings what memory holds", prompt);
  const keys = await client.complete({
    ref: { type: "ref/resource", uri: "mnem://node/{node}" }, argument: { name: "node", value: "al" },
  });
  check(keys.completion.values.includes("alice"), "keys are completed", keys);
  const revs = await client.complete({
    ref: { type: "ref/prompt", name: "review-changes" }, argument: { name: "from", value: "ma" },
  });
  check(revs.completion.values.includes("main"), "branches are completed", revs);
}

// cancellation breaks off a call before it can have written, and looks that nothing came of it.
async function cancellation(client, tag) {
  const before = (await client.callTool({ name: "log", arguments: { limit: 1 }, _meta: structured })).structuredContent.commits[0].commit;
  const stop = new AbortController();
  const nodes = Array.from({ length: 2000 }, (_, i) => ({ key: `bulk/${tag}/${i}`, type: "Bulk", summary: `bulk ${i}` }));
  const call = client.callTool({ name: "commit", arguments: { message: "bulk", nodes } }, undefined, { signal: stop.signal })
    .then(() => "answered", () => "broken off");
  setTimeout(() => stop.abort(new Error("enough")), 5);
  const came = await call;
  const head = async () => (await client.callTool({ name: "log", arguments: { limit: 1 }, _meta: structured })).structuredContent.commits[0].commit;
  let after = await head();
  for (let i = 0; i < 20 && came !== "answered" && after === before; i++) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    after = await head();
  }
  const made = (await client.callTool({ name: "show", arguments: { name: `bulk/${tag}/0` } })).isError !== true;
  const all = (await client.callTool({ name: "show", arguments: { name: `bulk/${tag}/1999` } })).isError !== true;
  check(made === all && made === (after !== before), "what is broken off is whole or not there", [came, made, all]);
}

// subscription hears of a node that another process changes, and of no other.
async function subscription(client, tag) {
  const heard = [];
  client.setNotificationHandler(types.ResourceUpdatedNotificationSchema, ({ params }) => heard.push(params.uri));
  await client.subscribeResource({ uri: "mnem://node/bob" });
  const env = { ...process.env, MNEM_AUTHOR: "Ann" };
  const commit = (key) => run(mnem, ["commit", "-R", dir, "-m", tag, "-"],
    { env, input: JSON.stringify({ node: { key, context: `${tag} ${Math.random()}` } }) });
  commit("billing");
  commit("bob");
  for (let i = 0; i < 200 && heard.length === 0; i++) await new Promise((r) => setTimeout(r, 25));
  check(JSON.stringify(heard) === '["mnem://node/bob"]', "a subscription tells of its resource alone", heard);
  await client.unsubscribeResource({ uri: "mnem://node/bob" });
  commit("bob");
  check(heard.length === 1, "nothing is told after that", heard);
}

async function everything(client, tag) {
  check(/memor/i.test(client.getInstructions() ?? ""), "instructions are given");
  await tools(client, tag);
  await resources(client);
  await promptsAndCompletion(client);
  await cancellation(client, tag);
  if (client instanceof old.Client) await subscription(client, tag);
  await client.close();
}

const info = { name: "e2e", version: "1.0.0" };
const stdio = { command: mnem, env: { ...process.env, MNEM_AUTHOR: "Ann" }, stderr: "inherit" };
const dir = repository();
stdio.args = ["mcp", "-R", dir];
const server = serve(mnem, ["mcp", "-R", dir, "--addr", "127.0.0.1:0"], /(http:\/\/127\.0\.0\.1:\d+\/mcp)/,
  { env: stdio.env });
const [, url] = await server.started;

const runs = [
  ["sessions, stdio", () => new old.Client(info), () => new old.StdioClientTransport(stdio)],
  ["sessions, HTTP", () => new old.Client(info), () => new old.StreamableHTTPClientTransport(new URL(url))],
  ["stateless, stdio", () => new modern.Client(info, { versionNegotiation: { mode: { pin: "2026-07-28" } } }),
    () => new modern.StdioClientTransport(stdio)],
  ["stateless, HTTP", () => new modern.Client(info, { versionNegotiation: { mode: { pin: "2026-07-28" } } }),
    () => new modern.StreamableHTTPClientTransport(new URL(url))],
];
for (const [i, [name, client, transport]] of runs.entries()) {
  const c = client();
  await c.connect(transport());
  await everything(c, `${"abcd"[i]}`);
  console.log(`TypeScript SDK, ${name}: done`);
}
const log = run(mnem, ["log", "--json", "-R", dir]).trim().split("\n").map((l) => JSON.parse(l));
check(log.some((c) => c.agent?.startsWith("e2e")), "commits name the client", log.map((c) => c.agent));
check((await server.stop()) === 0, "the server ends cleanly");
run(mnem, ["fsck", "-R", dir]);
done("TypeScript SDK", 200);
