// Calls every operation of `mnem serve` through a proxy that holds requests and answers against the
// OpenAPI document that the server gives, and lets a linter read the document.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { check, done, folder, mnem, repository, run, serve } from "./util.mjs";

const bin = (name) => join(process.env.E2E_MODULES, ".bin", name);
const dir = repository();
run(mnem, ["config", "set", "embed.model", "hash", "-R", dir]);
const token = JSON.parse(run(mnem, ["serve", "token", "new", "e2e", "--scope", "admin", "--json", "-R", dir])).token;
const server = serve(mnem, ["serve", "-R", dir, "--addr", "127.0.0.1:0", "--log", "none", "--limit", "rate=100000"],
  /(http:\/\/127\.0\.0\.1:\d+)/);
const [, upstream] = await server.started;

const document = await (await fetch(`${upstream}/openapi.json`)).text();
const file = join(folder(), "openapi.json");
writeFileSync(file, document);
const api = JSON.parse(document);
check(api.openapi.startsWith("3.1."), "the document is of OpenAPI 3.1", api.openapi);

// The linter: every rule it recommends, but for those that speak of how a site is published.
const lint = JSON.parse(run(bin("redocly"), [
  "lint", file, "--extends=recommended", "--format=json",
  "--skip-rule=info-license", "--skip-rule=no-server-example.com",
  "--skip-rule=no-illogical-composition-keywords", // a list of shapes of one is how the table has them
]));
check(lint.totals.errors === 0 && lint.totals.warnings === 0, "the linter finds nothing", lint.problems);

const proxy = serve(bin("prism"), ["proxy", file, upstream, "--errors", "--port", "0"],
  /listening on (http:\/\/127\.0\.0\.1:\d+)/);
const [, base] = await proxy.started;

const called = new Set();

// call asks one operation, and checks the status and that the proxy found no violation.
async function call(method, path, { query, body, type = "application/json", accept, status = 200 } = {}) {
  const name = `${method} ${path}`;
  called.add(name);
  if (process.env.E2E_VERBOSE) console.error(name);
  const url = new URL(base + path);
  for (const [key, value] of Object.entries(query ?? {})) {
    for (const v of [value].flat()) url.searchParams.append(key, v);
  }
  const headers = { Authorization: `Bearer ${token}`, "Mnem-Author": "Ann" };
  if (body !== undefined) headers["Content-Type"] = type;
  // A body of lines is a string to the proxy, which cannot hold it against the shape of a line.
  headers.Accept = accept ?? "application/json";
  const answer = await fetch(url, { method, headers, body });
  const data = Buffer.from(await answer.arrayBuffer());
  const text = data.toString();
  check(!text.includes("stoplight.io/prism/errors"), `${name} keeps the contract`, text);
  check(answer.status === status, `${name} answers ${status}`, [answer.status, text.slice(0, 500)]);
  return { answer, data, text, json: () => JSON.parse(text) };
}

// op calls an operation with POST and, where it can be read so, with the same arguments by GET.
async function op(name, args = {}, options = {}) {
  const path = `/v1/${name}`;
  // A verb that reads may write with some arguments, which GET does not have.
  const taken = api.paths[path].get?.parameters.map((p) => p.name);
  if (taken && Object.keys(args).every((arg) => taken.includes(arg))) {
    await call("GET", path, { query: args, ...options });
  }
  return call("POST", path, { body: JSON.stringify(args), ...options });
}

for (const path of ["/healthz", "/readyz", "/openapi.json", "/metrics"]) await call("GET", path);

// What changes the memory.
await op("version");
const first = (await op("log", { limit: 1 })).text.trim();
const head = JSON.parse(first).commit ?? JSON.parse(first)[0]?.commit;
await op("commit", { message: "more", lines: [
  { node: { key: "carol", type: "Person", summary: "Carol writes" } },
  { edge: { type: "knows", src: "carol", dst: "alice" } },
] });
await op("add", { lines: [{ node: { key: "dave", type: "Person", summary: "Dave reads" } }] });
await op("add", { lines: [{ node: { key: "dave", props: { team: "infra" } } }] });
await op("add", { lines: [{ edge: { src: "dave", type: "knows", dst: "bob" } }] });
await op("rm", { link: true, nodes: ["dave", "knows", "bob"] });
await op("status");
await op("commit", { message: "staged" });
await op("rm", { nodes: ["dave"] });
await op("reset");
await op("remember", { text: "Erin moved the backups to Oslo on 2 May 2024", tag: ["ops"] });
await op("remember_batch", { lines: [{ text: "Frank signs the invoices" }, { text: "Grace audits Frank" }] });
await op("embed");
const memories = (await op("ls", { type: ["Note"], limit: 5 })).json();
check(memories.nodes.length === 5, "ls lists", memories);

// What reads it.
await op("retrieve", { query: "who leads infra", limit: 3 });
await op("retrieve_batch", { lines: [{ text: "infra" }, { text: "billing" }] });
await op("recall", { query: "why does Alice own billing?" });
await op("recall_batch", { lines: [{ text: "who audits Frank?" }] });
await op("recall", { query: "Alice leads infra" });
await op("show", { name: "alice" });
await op("show", { name: "key:nobody" }, { status: 404 });
await op("explore", { topic: "alice" });
await op("explore", { topic: "bob", to: "billing" });
await op("explore", { communities: true });
await op("ls", { sources: true });
await op("explore", { topic: "infra" });
await op("explore", { topic: "infra and billing", tags: true });
await op("diff", { a: "HEAD~1", b: "HEAD" });
await op("blame", { node: "alice" });
await op("config_half_life");
await op("stats");
await op("stats", { schema: true, limit: 3 });
await op("embed_cues", { missing: true });
await op("map", { rebuild: true });
await op("map", { depth: 2 });
const overview = (await op("map", { scope: "root" })).json();
await op("map", { write: overview.digest.source, text: "What this memory is about." });
await op("map", { write: "0".repeat(64), text: "Of something else." }, { status: 409 });
await op("map", { resolve: "0123456789abcdef" });
await op("key_verify");
await op("fsck", { rebuild: true });
await op("fsck");
await op("show", { name: head, raw: true });

// Marks, profiles, branches and records.
await op("mark", { kind: "stale", nodes: ["note/1"] });
await op("mark", { kind: "retired", nodes: ["note/2"] });
await op("forget", { nodes: ["note/3"], reason: "wrong" });
await op("restore", { nodes: ["note/3"] });
await op("mark", { kind: "expired", nodes: ["note/4"] });
await op("pin", { nodes: ["note/4"] });
await op("pin", { nodes: ["note/4"], remove: true });
await op("review", { limit: 3 });
await op("mark", { kind: "superseded", nodes: ["note/5"], by: "note/6" });
await op("mark", { kind: "contradicted", nodes: ["note/7"], by: "note/8" });
await op("consolidate");
await op("config_profile", { name: "short", limit: 3 });
await op("config_profile", { name: "short" });
await op("config_profile");
await op("config_profile", { name: "short", default: true });
await op("config_profile", { name: "short", unset: ["limit"] });
await op("config_profile", { name: "short", from: "HEAD~1" });
await op("config_profile", { name: "short", remove: true });
await op("branch");
await call("POST", "/v1/branch", { body: JSON.stringify({ name: "side", rev: "HEAD~1" }) });
await op("switch", { name: "side" });
await op("commit", { message: "aside", lines: [{ node: { key: "heidi", type: "Person" } }] });
await op("switch", { name: "main" });
await op("cherry_pick", { rev: "side" });
await op("merge", { list: true });
await op("merge", { rev: "side" });
await op("revert", { rev: "HEAD~1" });
await op("tag");
await call("POST", "/v1/tag", { body: JSON.stringify({ name: "v1" }) });
await op("undo");
await op("undo", { redo: true });
await op("op_log", { limit: 2 });
await op("op_show");
await op("op_show", { op: "@", since: "@~1" });
await op("op_restore", { op: "@~1" });
await op("session_start", { name: "s" });
await call("POST", "/v1/retrieve", { body: JSON.stringify({ query: "infra", session: "s" }) });
await op("session_list");
await op("session_log", { name: "s" });
await op("session_advance", { name: "s" });
await op("session_end", { name: "s" });
await op("session_replay", { record: "s" });
await op("session_rm", { name: "s" });
await op("op_watch", { since: "0", limit: 3 });
await op("export", {}, { accept: "application/vnd.ipld.car" });
// The proxy takes bodies for text, which a CAR file is not: this one goes past it.
const auth = { Authorization: `Bearer ${token}` };
const car = await (await fetch(`${upstream}/v1/export`, { headers: auth })).arrayBuffer();
const imported = await fetch(`${upstream}/v1/import`, {
  method: "POST", body: car, headers: { ...auth, "Content-Type": "application/vnd.ipld.car" },
});
check(imported.status === 200, "what was exported is imported", await imported.text());
called.add("POST /v1/import");
await op("pack_refs");
await op("pack_send", { ref: ["refs/heads/main"] }, { accept: "application/vnd.ipld.car" });
const refs = await (await fetch(`${upstream}/v1/pack_refs`, { headers: auth })).json();
const at = refs.refs.find((r) => r.ref === "refs/heads/main").target;
const pack = await (await fetch(`${upstream}/v1/pack_send?ref=refs/heads/main`, { headers: auth })).arrayBuffer();
const taken = await fetch(`${upstream}/v1/pack_take?move=refs/heads/copy=none..${at}`, {
  method: "POST", body: pack, headers: { ...auth, "Content-Type": "application/vnd.ipld.car" },
});
check(taken.status === 200, "what was packed is taken in", await taken.text());
called.add("POST /v1/pack_take");
await op("remote_redactions");
await op("pack_redactions");
await op("pack_redact", {
  dry_run: true,
  redactions: ["bafyreih4h5fr4tuwmsbbgqy5gf2cxlo7bnbuoqqbtmtlmmqlmpivlxdr4e=pWF2AWRraW5kaXJlZGFjdGlvbmR0aW1lGwAGCiQYHkAAZHdoYXRkbm9kZWVhY3RvcmNBZGE="],
});
await op("purge", { node: "bob", yes: true, reason: "asked for" });
await op("gc");

// The proxy never answers a broken body; the server does.
const broken = await fetch(`${upstream}/v1/show`, {
  method: "POST", body: "{", headers: { ...auth, "Content-Type": "application/json" },
});
check(broken.status === 400 && broken.headers.get("content-type") === "application/problem+json",
  "a broken body is refused", broken.status);

for (const [path, item] of Object.entries(api.paths)) {
  const required = (item.get?.parameters ?? []).some((p) => p.required);
  if (path.startsWith("/v1/") && item.get && !required && !called.has(`GET ${path}`)) await op(path.slice("/v1/".length));
  for (const method of ["get", "post"]) {
    if (item[method]) check(called.has(`${method.toUpperCase()} ${path}`), `${method} ${path} was called`);
  }
}
await proxy.stop(); // it ends as it likes
check((await server.stop()) === 0, "the server ends cleanly");
run(mnem, ["fsck", "-R", dir]);
done("every operation through the proxy", 200);
