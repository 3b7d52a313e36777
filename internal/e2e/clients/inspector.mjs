// Tries `mnem mcp` with the MCP inspector's command line: what tools look like to it, one call of
// each kind, and many calls at once, in both eras of the protocol.
import { join } from "node:path";
import { check, done, folder, mnem, repository, run, serve } from "./util.mjs";

const dir = repository();
const home = folder(); // the inspector keeps a catalog of servers
const env = { ...process.env, MNEM_AUTHOR: "Ann", HOME: home, MCP_CATALOG_PATH: join(home, "mcp.json") };
const server = serve(mnem, ["mcp", "-R", dir, "--addr", "127.0.0.1:0"], /(http:\/\/127\.0\.0\.1:\d+\/mcp)/, { env });
const [, url] = await server.started;

function inspect(era, target, ...args) {
  const text = run(join(process.env.E2E_MODULES, ".bin", "mcp-inspector"), [
    "--cli", ...target, "--protocol-era", era, "--format", "json", "--quiet", ...args,
  ], { env });
  const answer = JSON.parse(text);
  return answer.result ?? answer;
}

const calls = 200;
for (const era of ["legacy", "modern"]) {
  for (const target of [[mnem, "mcp", "-R", dir], ["--server-url", url, "--transport", "http"]]) {
    const where = `${era}, ${target[0] === mnem ? "stdio" : "HTTP"}`;
    const { tools } = inspect(era, target, "--method", "tools/list", "--strict"); // ends with 6 for an error
    check(tools.length === 12, `${where}: the core tools`, tools.map((t) => t.name));
    const { contents } = inspect(era, target, "--method", "resources/read", "--uri", "mnem://node/alice");
    check(/Alice/.test(contents[0].text), `${where}: a resource`, contents);
    const load = inspect(era, target, "--method", "tools/call", "--tool-name", "retrieve",
      "--tool-arg", "query=infra", "--load", "--load-requests", `${calls}`, "--load-concurrency", "8");
    check(load.ok === calls && load.errorRate === 0, `${where}: calls at once`, load);
    console.log(`inspector, ${where}: ${Math.round(load.throughput)} calls/s, p99 ${load.latencyMs.p99} ms`);
  }
}
check((await server.stop()) === 0, "the server ends cleanly");
run(mnem, ["fsck", "-R", dir]);
done("inspector", 12);
