// Finds the program mnem, and starts the server that all processes of a user share.

import { execFile, spawn } from "node:child_process";
import type { ChildProcessByStdio } from "node:child_process";
import { createHash } from "node:crypto";
import { accessSync, closeSync, constants, existsSync, lstatSync, mkdirSync, openSync, realpathSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { homedir, tmpdir } from "node:os";
import { basename, delimiter, dirname, join, resolve } from "node:path";
import type { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";

import { Busy, MnemError, NoProgram, NotFound, NotRunning, ofProblem } from "./errors.js";

export const WINDOWS = process.platform === "win32";

/** Milliseconds that a server has to begin to listen. */
export const START_TIMEOUT = 60_000;

/** Variables that say who asks. Each request names them; the shared server must not have those of one process. */
export const CALLER = ["MNEM_AUTHOR", "MNEM_AGENT", "MNEM_TASK", "MNEM_BRANCH", "MNEM_SESSION"];

/** The exit code of a server whose socket or start file another one has. */
const BUSY = 6;

/** The packages that hold the program, one for each platform. Programs are static: those for Linux run with any libc. */
const PACKAGES: Record<string, string> = {
  "linux-x64": "@mnem/linux-x64", "linux-arm64": "@mnem/linux-arm64",
  "darwin-x64": "@mnem/darwin-x64", "darwin-arm64": "@mnem/darwin-arm64",
  "win32-x64": "@mnem/win32-x64", "win32-arm64": "@mnem/win32-arm64",
};

/** Returns the path of mnem: $MNEM_PROGRAM, that of the package for this platform, or the first in PATH. */
export function program(): string {
  if (process.env.MNEM_PROGRAM) return process.env.MNEM_PROGRAM;
  const name = WINDOWS ? "mnem.exe" : "mnem";
  const holder = PACKAGES[`${process.platform}-${process.arch}`];
  if (holder) {
    try {
      return createRequire(import.meta.url).resolve(`${holder}/bin/${name}`);
    } catch {
      // the optional package was left out
    }
  }
  const found = inPath(name);
  if (found) return found;
  throw new NoProgram(
    holder ? `the package ${holder}, which holds the program mnem, is not installed`
      : `there is no package with the program mnem for ${process.platform} on ${process.arch}`,
    `${holder ? `install without --omit=optional and on this platform, or 'npm install ${holder}'; else ` : ""}` +
      "put mnem in PATH, or set MNEM_PROGRAM",
  );
}

/** Returns the first program of a name in PATH other than the command of this package, which would call itself. */
function inPath(name: string): string | undefined {
  for (const directory of (process.env.PATH ?? "").split(delimiter).filter(Boolean)) {
    const path = join(directory, name);
    try {
      accessSync(path, constants.X_OK);
      if (statSync(path).isFile() && basename(realpathSync(path)) !== "cli.js") return path;
    } catch {
      continue;
    }
  }
  return undefined;
}

/** Returns the absolute path of a directory that need not exist, without symbolic links. */
export function absolute(path: string): string {
  let existing = resolve(path.replace(/^~(?=$|[/\\])/, homedir));
  const missing: string[] = [];
  for (;;) {
    try {
      return join(realpathSync(existing), ...missing);
    } catch {
      if (dirname(existing) === existing) return resolve(path);
      missing.unshift(basename(existing));
      existing = dirname(existing);
    }
  }
}

/** Returns the directory of sockets and logs, which only this user may enter; the client for Python has the same. */
function runDirectory(): string {
  if (WINDOWS) {
    const path = join(process.env.LOCALAPPDATA || temporary(), "mnem", "run");
    mkdirSync(path, { recursive: true });
    return path;
  }
  const uid = process.getuid!();
  const runtime = process.env.XDG_RUNTIME_DIR;
  const info = runtime ? statSync(runtime, { throwIfNoEntry: false }) : undefined;
  const path = runtime && info?.isDirectory() && info.uid === uid ? join(runtime, "mnem") : join(temporary(), `mnem-run-${uid}`);
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (err) {
    if ((err as NodeJS.ErrnoException).code !== "EEXIST") throw err;
  }
  const made = lstatSync(path);
  if (!made.isDirectory() || made.uid !== uid || made.mode & 0o077) {
    throw new NotRunning(`${path} is not a directory of this user alone`, "remove it");
  }
  return path;
}

/** Returns the directory for temporary files by the rules of Python. */
function temporary(): string {
  for (const name of ["TMPDIR", "TEMP", "TMP"]) {
    const path = process.env[name];
    if (path && statSync(path, { throwIfNoEntry: false })?.isDirectory()) return resolve(path);
  }
  return tmpdir();
}

/** Makes an empty repository in a directory that has none. Of several processes that try, one does. */
export async function ensure(repository: string, create: boolean): Promise<void> {
  const directory = join(repository, ".mnem");
  // What init writes last: before that, another process is making it.
  if (existsSync(join(directory, ".gitignore")) || !create && existsSync(directory)) return;
  if (!create) {
    const hint = "open it with create: true to make one";
    throw new NotFound({ code: "not_found", detail: `there is no memory in ${repository}`, hint });
  }
  try {
    await init(repository);
  } catch (err) {
    if (!existsSync(directory)) throw err;
  }
}

/** Makes an empty repository. */
export async function init(repository: string): Promise<void> {
  const path = program();
  await new Promise<void>((done, fail) => {
    execFile(path, ["init", "--repo", repository, "--json"], { timeout: START_TIMEOUT }, (err, _, stderr) => {
      if (err) fail(said(stderr) ?? new NotRunning(`mnem init failed: ${err.message}`, undefined, err));
      else done();
    });
  });
}

/** Returns the error that a program printed last. */
function said(text: string): MnemError | undefined {
  const line = text.split("\n").reverse().find((l) => l.startsWith('{"error"'));
  return line === undefined ? undefined : ofProblem(0, line);
}

type Server = ChildProcessByStdio<null, Readable, null>;

/** The files of one shared server: its socket or start file, and its log. */
export class Place {
  readonly socket: string;
  readonly startFile: string;
  readonly log: string;

  constructor(readonly repository: string, readonly tcp: boolean) {
    const name = join(runDirectory(), createHash("sha256").update(repository).digest("hex").slice(0, 20));
    [this.socket, this.startFile, this.log] = [`${name}.sock`, `${name}.json`, `${name}.log`];
  }

  /** The repository without what a URL may keep secret. */
  get shown(): string {
    if (!URL.canParse(this.repository)) return this.repository;
    const { protocol, hostname, pathname } = new URL(this.repository);
    return `${protocol}//${hostname}${pathname}`;
  }

  /**
   * Starts a server, waits until it listens, and returns the error that it ends with, if it does. Throws Busy if
   * another one has the place.
   */
  async start(idle: number): Promise<() => Promise<MnemError> | undefined> {
    const where = this.tcp ? ["--addr", "127.0.0.1:0", "--token-file", this.startFile] : ["--addr", `unix:${this.socket}`];
    const env = { ...process.env };
    for (const name of [...CALLER, "MNEM_STAGE", "MNEM_REPO", "SOURCE_DATE_EPOCH"]) delete env[name];
    const log = openSync(this.log, "w", 0o600);
    let child: Server;
    try {
      child = spawn(program(), [
        "serve", "--repo", this.repository, ...where, "--limit", `idle=${Math.max(1, Math.round(idle))}s`,
        "--limit", "rate=1000000", "--log", "none", "--json",
      ], { cwd: dirname(this.log), env, detached: true, stdio: ["ignore", "pipe", log], windowsHide: true }) as Server;
    } finally {
      closeSync(log);
    }
    const ended = new Promise<number | string>((done, fail) => {
      child.once("error", (err) => fail(new NoProgram(`mnem cannot be started: ${err.message}`, "look at MNEM_PROGRAM")));
      child.once("close", (code, signal) => done(code ?? signal ?? 0));
    });
    const limit = sleep(START_TIMEOUT, undefined, { ref: false }).then(() => {
      child.kill("SIGKILL");
      throw new NotRunning(`mnem serve did not start within ${START_TIMEOUT / 1000} s`);
    });
    const first = await Promise.race([firstLine(child.stdout), ended.then(() => ""), limit]);
    if (!first.startsWith('{"url"')) throw await this.failure(await ended);
    child.stdout.destroy();
    child.unref();
    return () => {
      const code = child.exitCode ?? child.signalCode;
      return code === null ? undefined : this.failure(code);
    };
  }

  /** Returns the error that a server ended with before it listened. */
  private async failure(code: number | string): Promise<MnemError> {
    if (code === BUSY) return new Busy({ code: "busy", detail: "another mnem serve has this memory" });
    if (typeof code === "string" || code === 0) return new Busy({ code: "busy", detail: `mnem serve was ended (${code})` });
    const text = await readFile(this.log, "utf8");
    return said(text) ?? new NotRunning(`mnem serve ended with ${code}: ${text.slice(-500)}`);
  }

  /** Returns URL and token of a server, undefined if the start file has none. */
  async started(): Promise<{ url: string; token: string } | undefined> {
    try {
      const { url, token } = JSON.parse(await readFile(this.startFile, "utf8")) as Record<string, unknown>;
      return typeof url === "string" && typeof token === "string" ? { url, token } : undefined;
    } catch {
      return undefined;
    }
  }
}

/** Returns the first line of a stream, what came of it if it ends before. */
async function firstLine(from: Readable): Promise<string> {
  let text = "";
  from.setEncoding("utf8");
  return new Promise((done) => {
    from.on("data", (part: string) => {
      text += part;
      if (text.includes("\n")) done(text);
    });
    from.once("close", () => done(text));
  });
}

/** Waits 5 ms, then longer up to half a second. */
export async function pause(attempt: number): Promise<void> {
  await sleep(Math.min(5 * 2 ** attempt, 500));
}
