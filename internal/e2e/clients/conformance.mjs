// Runs the MCP conformance suite against `mnem mcp --addr` and compares what passed with
// conformance.txt, which says for each scenario how many of its checks pass, and why not all. With
// --rewrite it writes the numbers there anew, keeping the reasons.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { spawnSync } from "node:child_process";
import { check, done, folder, mnem, repository, run, serve } from "./util.mjs";

const list = new URL("../conformance.txt", import.meta.url);
const dir = repository();
const server = serve(mnem, ["mcp", "-R", dir, "--addr", "127.0.0.1:0"], /(http:\/\/127\.0\.0\.1:\d+\/mcp)/,
  { env: { ...process.env, MNEM_AUTHOR: "Ann" } });
const [, url] = await server.started;

// A line is: revision, scenario, checks that pass, checks that do not, and the reason for those.
const lines = readFileSync(list, "utf8").split("\n");
const expected = new Map();
for (const line of lines) {
  const m = line.match(/^(\S+) +(\S+) +(\d+) +(\d+) *(.*)$/);
  if (m && !line.startsWith("#")) {
    expected.set(`${m[1]} ${m[2]}`, { passed: Number(m[3]), failed: Number(m[4]), reason: m[5] });
  }
}

const seen = new Map();
for (const revision of ["2025-11-25", "2026-07-28"]) {
  const out = folder();
  spawnSync(join(process.env.E2E_MODULES, ".bin", "conformance"), [
    "server", "--url", url, "--requirements", revision, "-o", out,
  ], { encoding: "utf8", timeout: 120000 }); // its exit code counts what needs a test server
  for (const name of readdirSync(out)) {
    const scenario = name.replace(/^server-/, "").replace(/-\d{4}-\d\d-\d\dT.*$/, "");
    const checks = JSON.parse(readFileSync(join(out, name, "checks.json"), "utf8"));
    const count = (status) => checks.filter((c) => c.status === status).length;
    seen.set(`${revision} ${scenario}`, {
      passed: count("SUCCESS"), failed: count("FAILURE") + count("WARNING"),
      why: checks.filter((c) => c.status === "FAILURE" || c.status === "WARNING").map((c) => `${c.id}: ${c.errorMessage}`),
    });
  }
}

// needs finds out what the suite looked for in vain; what it does not tell is for people to write.
function needs(why) {
  const name = why.match(/[Uu]nknown (tool|prompt) "(\w+)"/) ?? why.match(/(tool) '(\w+)'/i);
  return name ? `needs the ${name[1].toLowerCase()} ${name[2]}` : "";
}

if (process.argv.includes("--rewrite")) {
  const head = lines.filter((l) => l.startsWith("#")).join("\n");
  const body = [...seen].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, got]) => {
    const reason = got.failed ? expected.get(name)?.reason || needs(got.why.join("\n")) : "";
    const [revision, scenario] = name.split(" ");
    return `${revision}  ${scenario.padEnd(46)} ${got.passed} ${got.failed}${reason ? `  ${reason}` : ""}`;
  });
  writeFileSync(list, `${head}\n\n${body.join("\n")}\n`);
}

let whole = 0;
for (const [name, want] of expected) {
  const got = seen.get(name);
  check(got !== undefined, `${name} was run`);
  check(want.failed === 0 || want.reason, `${name} has a reason for what does not pass`);
  check(got?.passed >= want.passed && got?.failed <= want.failed, `${name} did not get worse`, got);
  if (got?.failed === 0 && got.passed > 0) whole++;
}
for (const name of seen.keys()) check(expected.has(name), `${name} is in conformance.txt`);
check((await server.stop()) === 0, "the server ends cleanly");
run(mnem, ["fsck", "-R", dir]);
console.log(`conformance: ${whole} of ${expected.size} scenarios pass whole`);
done("conformance", 100);
