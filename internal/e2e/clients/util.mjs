// What the scripts of this folder share: processes that end with them, and checks that say what is
// wrong.
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const children = new Set();
const folders = [];

process.on("exit", () => {
  for (const child of children) child.kill("SIGKILL");
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(1));

// mnem is the program under test.
export const mnem = process.env.MNEM_BIN;

let checked = 0;
let failed = 0;

// check counts a fact that must hold, and says what was seen where it does not.
export function check(ok, what, seen) {
  checked++;
  if (ok) return;
  failed++;
  console.error(`FAIL ${what}${seen === undefined ? "" : `: ${JSON.stringify(seen)}`}`.slice(0, 1500));
}

// done ends a script: with an error where a check failed, or fewer ran than there are.
export function done(name, least) {
  check(checked >= least, `only ${checked} checks of ${name} ran`);
  console.log(`${name}: ${checked} checks, ${failed} failed`);
  process.exit(failed === 0 ? 0 : 1);
}

export function folder() {
  const dir = mkdtempSync(join(tmpdir(), "mnem-e2e-"));
  folders.push(dir);
  return dir;
}

// run runs a command to its end and returns what it printed.
export function run(command, args, options = {}) {
  const got = spawnSync(command, args, { encoding: "utf8", maxBuffer: 64 << 20, ...options });
  if (got.status !== (options.exit ?? 0)) {
    throw new Error(`${command} ${args.join(" ")} ended with ${got.status}:\n${got.stdout}${got.stderr}`);
  }
  return got.stdout;
}

// repository makes a repository with a few people in it and returns its folder.
export function repository() {
  const dir = folder();
  const env = { ...process.env, MNEM_AUTHOR: "Ann" };
  run(mnem, ["init", "-R", dir], { env });
  const lines = [
    { node: { key: "alice", type: "Person", summary: "Alice leads infra", props: { team: "infra" } } },
    { node: { key: "bob", type: "Person", summary: "Bob keeps the ledger" } },
    { node: { key: "billing", type: "Service", summary: "Billing sends invoices" } },
    { edge: { type: "owns", src: "alice", dst: "billing" } },
    { edge: { type: "knows", src: "bob", dst: "alice" } },
  ];
  for (let i = 0; i < 30; i++) {
    lines.push({ node: { key: `note/${i}`, type: "Note", summary: `note ${i} about infra and billing` } });
  }
  run(mnem, ["commit", "-R", dir, "-m", "who is who", "-"], {
    env, input: lines.map((l) => JSON.stringify(l)).join("\n"),
  });
  return dir;
}

// serve starts a command that lives until it is stopped and resolves when its output, or that of
// errors, matches ready: with the match.
export function serve(command, args, ready, options = {}) {
  const child = spawn(command, args, { stdio: ["ignore", "pipe", "pipe"], ...options });
  children.add(child);
  let text = "";
  const started = new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`${command} is not ready: ${text}`)), 30000);
    const take = (data) => {
      text += data;
      const match = text.match(ready);
      if (match) {
        clearTimeout(timer);
        resolve(match);
      }
    };
    child.stdout.on("data", take);
    child.stderr.on("data", take);
    child.on("exit", (code) => reject(new Error(`${command} ended with ${code}: ${text}`)));
  });
  // stop interrupts it, and resolves with its exit code: null where it had to be killed.
  const stop = () => new Promise((resolve) => {
    const timer = setTimeout(() => child.kill("SIGKILL"), 10000);
    child.on("exit", (code) => {
      clearTimeout(timer);
      children.delete(child);
      resolve(code);
    });
    child.kill("SIGINT");
  });
  return { started, stop, output: () => text };
}
