// Tries what `mnem integrate` writes with the programs that run agents, as they are published: each is asked
// something beside a model server on loopback that says always the same and keeps what it is asked. The memory
// must be in front of the model, the tools too, what was said must be in the memory, and when mnem is taken out
// every file must be as it was.
import { spawn } from "node:child_process";
import { createServer } from "node:http";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { check, done, folder, mnem, run } from "./util.mjs";

const said = "Understood, noted.";
let asked = []; // bodies of requests

// answer is what a model server says, in the stream of each provider.
function answer(path) {
  const events = (list) => list.map((e) => `event: ${e.type}\ndata: ${JSON.stringify(e)}\n\n`).join("");
  if (path.includes("/responses")) {
    const item = { type: "message", role: "assistant", id: "m1", content: [{ type: "output_text", text: said }] };
    const usage = {
      input_tokens: 1, input_tokens_details: null, output_tokens: 1, output_tokens_details: null, total_tokens: 2,
    };
    return events([
      { type: "response.created", response: { id: "r1" } },
      { type: "response.output_item.done", item },
      { type: "response.completed", response: { id: "r1", usage } },
    ]);
  }
  if (path.includes("/messages")) {
    const message = {
      id: "m1", type: "message", role: "assistant", model: "m", content: [], stop_reason: null, stop_sequence: null,
      usage: { input_tokens: 1, output_tokens: 1 },
    };
    return events([
      { type: "message_start", message },
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
      { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: said } },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason: "end_turn", stop_sequence: null }, usage: { output_tokens: 5 } },
      { type: "message_stop" },
    ]);
  }
  if (path.includes("/chat/completions")) {
    const piece = (delta, finish) => `data: ${JSON.stringify({
      id: "c1", object: "chat.completion.chunk", created: 1, model: "m",
      choices: [{ index: 0, delta, finish_reason: finish }],
    })}\n\n`;
    return `${piece({ role: "assistant", content: said }, null)}${piece({}, "stop")}data: [DONE]\n\n`;
  }
  const parts = { content: { role: "model", parts: [{ text: said }] }, finishReason: "STOP", index: 0 };
  return `data: ${JSON.stringify({ candidates: [parts], usageMetadata: { totalTokenCount: 2 } })}\r\n\r\n`;
}

const server = createServer((req, res) => {
  let body = "";
  req.on("data", (data) => { body += data; });
  req.on("end", () => {
    const stream = /\/responses|\/messages(\?|$)|\/chat\/completions|streamGenerateContent/.test(req.url);
    if (stream) asked.push(body);
    res.writeHead(200, { "Content-Type": stream ? "text/event-stream" : "application/json" });
    res.end(stream ? answer(req.url) : "{}");
  });
});
await new Promise((resolve) => { server.listen(0, "127.0.0.1", resolve); });
const base = `http://127.0.0.1:${server.address().port}`;

// ask runs a program to its end while the server answers.
function ask(command, args, options) {
  return new Promise((resolve, reject) => {
    const child = spawn(join(process.env.E2E_HOSTS, ".bin", command), args, {
      stdio: ["ignore", "pipe", "pipe"], timeout: 90000, ...options,
    });
    let out = "";
    child.stdout.on("data", (data) => { out += data; });
    child.stderr.on("data", (data) => { out += data; });
    child.on("error", reject);
    child.on("exit", (code, signal) => resolve({ code: code ?? signal, out }));
  });
}

// files returns what the files below a folder hold, by their paths.
function files(dir, at = "", list = {}) {
  for (const entry of readdirSync(join(dir, at), { withFileTypes: true })) {
    const path = join(at, entry.name);
    if (entry.isDirectory()) files(dir, path, list);
    else if (entry.isFile()) list[path] = readFileSync(join(dir, path), "utf8");
  }
  return list;
}

// The hosts: what their user has written before, their environment, and how they are asked something.
const hosts = [
  {
    name: "claude-code", tool: "mcp__mnem__recall",
    files: { ".claude/settings.json": '{\n\t"includeCoAuthoredBy": false}' },
    env: {
      ANTHROPIC_BASE_URL: base, ANTHROPIC_API_KEY: "none", CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    },
    ask: (prompt, options) => ask("claude", ["-p", prompt], options),
  },
  {
    name: "codex", tool: "recall",
    files: {
      ".codex/config.toml": 'model = "m"\nmodel_provider = "here" # mine\n[model_providers.here]\nname = "here"\n' +
        `base_url = "${base}/v1"\nenv_key = "HERE_KEY"\nwire_api = "responses"\n`,
      ".codex/AGENTS.md": "Be brief.",
    },
    env: { HERE_KEY: "none" },
    ask: (prompt, options) =>
      ask("codex", ["exec", "--dangerously-bypass-hook-trust", "--skip-git-repo-check", prompt], options),
  },
  {
    name: "gemini", tool: "mcp_mnem_recall",
    files: {
      ".gemini/settings.json": '{\n  // mine\n  "security": {"auth": {"selectedType": "gemini-api-key"}}\n}\n',
      ".gemini/GEMINI.md": "Be brief.\n",
    },
    env: { GEMINI_API_KEY: "none", GOOGLE_GEMINI_BASE_URL: base, GEMINI_CLI_TRUST_WORKSPACE: "true" },
    ask: (prompt, options) => ask("gemini", ["--skip-trust", "--yolo", "-m", "gemini-2.5-flash", "-p", prompt], options),
  },
  {
    name: "opencode", tool: "mnem_recall",
    files: {
      ".config/opencode/opencode.json": `{\n  "$schema": "https://opencode.ai/config.json", // mine\n  "model": "here/m",
  "provider": {"here": {"npm": "@ai-sdk/openai-compatible", "name": "here", "models": {"m": {"name": "m"}},
    "options": {"baseURL": "${base}/v1", "apiKey": "none"}}}\n}`,
      ".config/opencode/AGENTS.md": "Be brief.",
    },
    env: { OPENCODE_DISABLE_AUTOUPDATE: "1", OPENCODE_DISABLE_MODELS_FETCH: "1" },
    ask: (prompt, options) => ask("opencode", ["run", prompt], options),
  },
];

for (const host of hosts) {
  const dir = folder();
  const home = folder();
  const env = { ...process.env, HOME: home, PWD: dir, MNEM_AUTHOR: "Ann", NO_COLOR: "1", ...host.env };
  const options = { cwd: dir, env };
  const here = (...args) => run(mnem, args, options);
  for (const [path, text] of Object.entries(host.files)) {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), text);
  }
  here("init");
  here("remember", "Releases are cut from the branch harvest", "--cue", "how to publish");
  here("pin", "Releases are cut from the branch harvest");
  here("remember", "The staging box has libvips 8.9, which drops alpha", "--cue", "transparent pictures turn black");
  const before = files(home);
  here("integrate", host.name);
  const written = Object.keys(files(home)).filter((path) => files(home)[path] !== before[path]);
  check(written.length >= 3, `${host.name}: files are written`, written);

  asked = [];
  let got = await host.ask("why do photos turn black under libvips? my parrot is Plinko", options);
  check(got.code === 0 && got.out.includes(said), `${host.name}: it answers`, got);
  let seen = asked.join("\n");
  check(seen.includes("from the branch harvest"), `${host.name}: what is pinned is given`, seen.length);
  check(seen.includes("which drops alpha"), `${host.name}: what is known is given`, seen.length);
  const first = seen;

  asked = [];
  got = await host.ask("what is the square of seventeen", options);
  seen = asked.join("\n");
  check(got.code === 0 && seen.includes("square of seventeen"), `${host.name}: it answers again`, got);
  // On a busy machine a program may ask its model before it has connected.
  const all = first + seen;
  check(all.includes(`"${host.tool}"`), `${host.name}: the model has the tools`,
    [...all.matchAll(/"[a-z_]*recall[a-z_]*"/g)].map((m) => m[0]));
  check(!seen.includes("which drops alpha"), `${host.name}: nothing is given that was not asked for`);

  here("capture");
  const turns = here("ls", "--type", "Turn", "--json");
  for (const text of ["Plinko", "square of seventeen", said]) {
    check(turns.includes(text), `${host.name}: ${text} is in the memory`, turns);
  }
  check(!turns.includes("from the branch harvest"), `${host.name}: what was given is no turn`, turns);
  here("fsck");

  here("integrate", "--remove", host.name);
  const after = files(home);
  for (const [path, text] of Object.entries(before)) {
    check(after[path] === text, `${host.name}: ${path} is as it was`, after[path]);
  }
  const ours = written.filter((path) => after[path] !== undefined && after[path].includes(mnem));
  check(ours.length === 0, `${host.name}: nothing of mnem is left`, ours);
}
server.closeAllConnections();
done("hosts", 4 * 12);
