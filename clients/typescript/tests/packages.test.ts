// The npm packages: packed, installed into an empty folder without a registry, and used.

import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { PROGRAM, memoryOf } from "./support.js";

const WINDOWS = process.platform === "win32";
const platform = `${process.platform}-${process.arch}`;

test("packed packages are installed and answer", { skip: WINDOWS ? "needs a shell script as the program" : false }, async (t) => {
  const at = await memoryOf(t);
  const folder = join(at.path, "..");
  const program = join(folder, "program");
  writeFileSync(program, `#!/bin/sh\nexec '${PROGRAM}' "$@"\n`); // a small one, which is packed fast
  execFileSync(process.execPath, ["pack.mjs", join(folder, "packages"), `${platform}=${program}`]);
  const tarballs = readdirSync(join(folder, "packages")).map((name) => join(folder, "packages", name));
  assert.equal(tarballs.length, 2);
  const empty = join(folder, "empty");
  mkdirSync(empty);
  writeFileSync(join(empty, "package.json"), "{}");
  execFileSync("npm", ["install", "--offline", "--no-audit", "--no-fund", ...tarballs], { cwd: empty });
  const installed = join(empty, "node_modules/@mnem", platform);
  assert.equal(statSync(join(installed, "bin/mnem")).mode & 0o777, 0o755);

  const env = { PATH: process.env.PATH };
  const code = `import { Memory } from "@mnem/client";
    await using memory = await Memory.open(process.argv[1], { idle: 4 });
    await memory.remember("Alice leads the infra team");
    console.log((await memory.recall("who leads infra")).items[0].rendered);`;
  writeFileSync(join(empty, "answer.mjs"), code.replace("await using", "const").replace("process.argv[1]", "process.argv[2]"));
  const answer = (): ReturnType<typeof spawnSync> => spawnSync(process.execPath, ["answer.mjs", at.path], { cwd: empty, env, encoding: "utf8" });
  const first = answer();
  assert.match(String(first.stdout), /Alice leads the infra team/, String(first.stderr));
  const command = spawnSync(join(empty, "node_modules/.bin/mnem"), ["-R", at.path, "log"], { env, encoding: "utf8" });
  assert.match(command.stdout, /Alice leads the infra team/, command.stderr);

  rmSync(installed, { recursive: true });
  const without = spawnSync(process.execPath, ["answer.mjs", at.path + "2"], { cwd: empty, env, encoding: "utf8" });
  assert.match(without.stderr, new RegExp(`the package @mnem/${platform}, which holds the program mnem, is not installed`));
  assert.match(without.stderr, /install without --omit=optional/);
});

test("a platform or program that is not there", () => {
  for (const wrong of ["linux-x9=/dev/null", "linux-x64=/nonexistent", "linux-x64"]) {
    const done = spawnSync(process.execPath, ["pack.mjs", "unused", wrong], { encoding: "utf8" });
    assert.equal(done.status, 2);
    assert.match(done.stderr, /no such platform or file/);
  }
});
