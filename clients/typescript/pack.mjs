#!/usr/bin/env node
// Makes the npm packages: the client, and one for each platform whose program is given.
//
//     node pack.mjs DIRECTORY linux-x64=PATH darwin-arm64=PATH …
//
// It compiles with the TypeScript of 'npm install', or with $TSC, and prints the names of the tarballs.

import { execFileSync } from "node:child_process";
import { chmodSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const HERE = dirname(fileURLToPath(import.meta.url));
const LICENCE = join(HERE, "../../LICENSE");
const client = JSON.parse(readFileSync(join(HERE, "package.json"), "utf8"));
const MAX_BYTES = 60 << 20;

/** Packs the directory of a package into a tarball and prints its path. */
function pack(from, into) {
  const windows = process.platform === "win32";
  const args = ["pack", "--json", "--ignore-scripts", "--pack-destination", into];
  const [made] = JSON.parse(execFileSync(windows ? "npm.cmd" : "npm", args, { cwd: from, encoding: "utf8", shell: windows }));
  if (made.size > MAX_BYTES) throw new Error(`${made.filename} is larger than ${MAX_BYTES >> 20} MiB`);
  console.log(`${(made.size / 1e6).toFixed(1).padStart(6)} MB  ${join(into, made.filename.replace("@", "").replace("/", "-"))}`);
}

/** Writes the package of a platform: the program and nothing else. Programs are static, so libc is not named. */
function platform(name, program, into) {
  const [os, cpu] = name.split("-");
  const file = os === "win32" ? "mnem.exe" : "mnem";
  const { version, license } = client;
  mkdirSync(join(into, "bin"), { recursive: true });
  copyFileSync(program, join(into, "bin", file));
  chmodSync(join(into, "bin", file), 0o755);
  copyFileSync(LICENCE, join(into, "LICENSE"));
  writeFileSync(join(into, "README.md"), `# ${`@mnem/${name}`}\n\nThe program mnem for ${os} on ${cpu}. Install @mnem/client.\n`);
  const description = `The program mnem for ${os} on ${cpu}`;
  const content = { name: `@mnem/${name}`, version, description, license, os: [os], cpu: [cpu], files: ["bin"], preferUnplugged: true };
  writeFileSync(join(into, "package.json"), JSON.stringify(content, null, 2) + "\n");
}

const [directory, ...programs] = process.argv.slice(2);
const given = programs.map((p) => /^([^=]+)=(.+)$/.exec(p)?.slice(1) ?? [p, ""]);
const wrong = given.find(([name, path]) => !(`@mnem/${name}` in client.optionalDependencies) || !existsSync(path));
if (!directory || wrong) {
  if (wrong) console.error(`${wrong.join("=")}: no such platform or file`);
  console.error("usage: node pack.mjs DIRECTORY PLATFORM=PROGRAM …");
  process.exit(2);
}
const into = resolve(directory);
mkdirSync(into, { recursive: true });
const work = mkdtempSync(join(tmpdir(), "mnem-pack-"));
try {
  for (const [name, program] of given) {
    platform(name, program, join(work, name));
    pack(join(work, name), into);
  }
  const main = join(work, "client");
  mkdirSync(main);
  const compiler = process.env.TSC ?? join(HERE, "node_modules/typescript/bin/tsc");
  execFileSync(process.execPath, [compiler, "-p", HERE, "--outDir", join(main, "dist")], { stdio: "inherit" });
  copyFileSync(LICENCE, join(main, "LICENSE"));
  copyFileSync(join(HERE, "README.md"), join(main, "README.md"));
  const { devDependencies: _, ...published } = client;
  writeFileSync(join(main, "package.json"), JSON.stringify(published, null, 2) + "\n");
  pack(main, into);
} finally {
  rmSync(work, { recursive: true });
}
