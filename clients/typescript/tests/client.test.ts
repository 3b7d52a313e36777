import assert from "node:assert/strict";
import { execFile, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { describe, test } from "node:test";
import type { TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import * as mnem from "../src/index.js";
import { Memory } from "../src/index.js";
import type { Change } from "../src/index.js";
import { Connection, RemoteLink } from "../src/link.js";
import { CLIENTS, IDLE, PROCESSES, PROGRAM, memoryOf } from "./support.js";
import type { TestMemory } from "./support.js";

const HERE = dirname(fileURLToPath(import.meta.url));
const run = promisify(execFile);
const python = spawnSync("python3", ["-c", "import sys; sys.exit(sys.version_info < (3, 10))"]).status === 0;
const node = (key: string, more: object = {}): Change => ({ node: { key, type: "T", ...more } });
const kills = { skip: PROCESSES ? false : "needs /proc" };
const pythons = { skip: python ? false : "no Python 3.10 or newer" };

async function opened(t: TestContext): Promise<Memory> {
  return (await memoryOf(t)).open();
}

describe("verbs", () => {
  test("remember and recall", async (t) => {
    const memory = await opened(t);
    const made = await memory.remember("Alice leads the infra team", { tag: ["team"] });
    assert.equal(made.action, "added");
    const found = await memory.recall("who leads infra");
    assert.equal(found.items[0]?.id, made.id);
    assert.match(found.items[0].rendered, /Alice leads the infra team/);
    assert.equal(found.commit, made.commit);
    const again = await memory.remember("Alice leads the infra team");
    assert.deepEqual([again.action, again.id], ["duplicate", made.id]);
  });

  test("forget and mark", async (t) => {
    const memory = await opened(t);
    const { id } = await memory.remember("the printer is on floor two");
    assert(id);
    assert.deepEqual((await memory.forget(id)).marked, [id]);
    assert.deepEqual((await memory.retrieve("printer")).items, []);
    assert.deepEqual((await memory.mark("", id, { remove: true })).unmarked, [id]);
    assert.equal((await memory.retrieve("printer")).items[0]?.id, id);
    assert.equal((await memory.mark("expired", [id], { reason: "moved" })).state, "expired");
  });

  test("history", async (t) => {
    const memory = await opened(t);
    const first = await memory.commit([node("a", { summary: "one", props: { n: null } })], "first");
    assert.equal(first.nodes.added, 1);
    const second = await memory.commit([node("a", { summary: "two" })], "second");
    const log = await memory.log();
    assert.deepEqual(log.map((c) => [c.commit, c.author]), [[second.commit, "ann"], [first.commit, "ann"]]);
    const field = (await memory.diff("HEAD~1", "HEAD")).nodes?.[0]?.fields[0];
    assert.deepEqual([field?.field, field?.old, field?.new], ["summary", "one", "two"]);
    assert.equal((await memory.undo()).did, "undone");
    assert.equal((await memory.show("a")).summary, "one");
    assert.deepEqual(await memory.show("a", { field: "summary" }), "one");
  });

  test("branch and merge", async (t) => {
    const memory = await opened(t);
    await memory.commit([node("a")], "first");
    await memory.branch("side");
    await memory.acting({ branch: "side", agent: "robot" }).commit([node("b")], "on the side");
    assert.deepEqual((await memory.branch()).map((b) => b.name).sort(), ["main", "side"]);
    await assert.rejects(memory.show("b"), mnem.NotFound);
    assert.equal((await memory.merge("side")).fast_forward, true);
    assert.equal((await memory.log({ limit: 1 }))[0]?.agent, "robot");
  });

  test("conflict", async (t) => {
    const memory = await opened(t);
    await memory.commit([node("a", { summary: "one" })], "first");
    await memory.branch("side");
    await memory.acting({ branch: "side" }).commit([node("a", { summary: "two" })], "side");
    await memory.commit([node("a", { summary: "three" })], "main");
    await assert.rejects(memory.merge("side"), (err) => {
      assert(err instanceof mnem.Conflict && err.code === "conflict");
      assert.equal((err.answer as { conflicts: unknown[] }).conflicts.length, 1);
      return true;
    });
  });

  test("session and replay", async (t) => {
    const memory = await opened(t);
    await memory.remember("Alice leads infra");
    await memory.session("triage", (seen) => seen.recall("infra"));
    const replayed = await memory.sessionReplay("triage");
    assert.deepEqual([replayed.identical, replayed.receipts], [true, 1]);
    assert((await memory.sessionList())[0]?.ended);
    await assert.rejects(memory.session("failing", async () => { throw new RangeError(); }), RangeError);
    assert((await memory.sessionList()).every((s) => s.ended));
  });

  test("errors", async (t) => {
    const memory = await opened(t);
    await assert.rejects(memory.show("nothing"), (err) => {
      assert(err instanceof mnem.NotFound && err instanceof mnem.MnemError && err instanceof Error);
      assert.deepEqual([err.name, err.code, err.status], ["NotFound", "not_found", 404]);
      assert.match(err.message, /\[not_found\]\nhint: ./);
      assert(err.hint && err.requestId);
      return true;
    });
    const untyped = memory as unknown as Record<string, (...given: unknown[]) => Promise<unknown>>;
    const bad: (() => Promise<unknown>)[] = [
      () => memory.remember(""),
      () => memory.remember("x", { importance: 9 }),
      () => memory.remember("\ud800"),
      () => memory.recall("x", { damping: NaN }),
      () => memory.recall("x", { limit: -1 }),
      () => memory.commit([node("a", { props: { x: () => 1 } })], "m"),
      () => memory.commit([node("a", { props: { x: 1n } })], "m"),
      () => memory.commit([{ nonsense: {} } as unknown as Change], "m"),
      () => memory.commit({ lines: [node("a")] }),
      () => untyped.remember!("x", { bogus: 1 }),
      () => untyped.remember!(1),
      () => untyped.remember!("x", "y"),
    ];
    for (const call of bad) await assert.rejects(call, mnem.InvalidInput, call.toString());
    await assert.rejects(memory.log(), mnem.NotFound);
    await assert.rejects(memory.commit([node("a")], "m", { expect: "bafyreia" + "a".repeat(51) }), mnem.Conflict);
  });

  test("many requests at once", async (t) => {
    const memory = await opened(t);
    await Promise.all(Array.from({ length: 60 }, (_, i) => memory.commit([node(`k${i}`)], `commit ${i}`)));
    assert.equal((await memory.log({ limit: 100 })).length, 60);
  });

  test("every verb is there", () => {
    const doc = JSON.parse(spawnSync(PROGRAM, ["serve", "--openapi"], { encoding: "utf8", maxBuffer: 1 << 28 }).stdout) as {
      paths: Record<string, unknown>;
    };
    const named = Object.keys(doc.paths).filter((p) => p.startsWith("/v1/")).map((p) => p.slice(4));
    const method = (verb: string): string => verb.replace(/_(\w)/g, (_, c: string) => c.toUpperCase());
    const missing = named.filter((verb) => !(method(verb) in Memory.prototype));
    assert.deepEqual(missing.sort(), ["export", "import", "op_watch", "pack_send", "pack_take", "uploads/{upload}"].filter((v) => missing.includes(v)));
    assert(named.length >= 60);
  });

  test("the generated file is current", pythons, () => {
    const done = spawnSync("python3", [join(CLIENTS, "generate.py"), "--mnem", PROGRAM, "--check"], { encoding: "utf8" });
    assert.equal(done.status, 0, done.stdout + done.stderr);
  });

  test("versions agree", () => {
    const read = JSON.parse(readFileSync(join(CLIENTS, "typescript/package.json"), "utf8")) as { version: string };
    assert.equal(read.version, mnem.VERSION);
  });
});

for (const tcp of [false, true]) {
  describe(`servers${tcp ? " over TCP" : ""}`, kills, () => {
    test("one for all", async (t) => {
      const at = await memoryOf(t, tcp);
      await Promise.all([at.open(), at.open(), at.open()]);
      const pid = at.server();
      await at.open();
      assert(pid);
      assert.equal(at.server(), pid);
    });

    test("an idle one ends, and one is started again", async (t) => {
      const at = await memoryOf(t, tcp);
      const memory = await at.open({ idle: 1 });
      await memory.remember("before");
      const pid = at.server();
      for (let i = 0; at.server() !== undefined; i++) {
        assert(i < 200, "the server does not end");
        await sleep(100);
      }
      await memory.remember("something else, later");
      assert.notEqual(at.server(), pid);
      assert.equal((await memory.log()).length, 2);
    });

    test("a killed one is started again, and each write is made once", async (t) => {
      const at = await memoryOf(t, tcp);
      const memory = await at.open();
      const made: (string | null)[] = [];
      for (let i = 0; i < 6; i++) {
        made.unshift((await memory.commit([node(`k${i}`)], `commit ${i}`)).commit);
        if (i % 2) at.kill();
      }
      assert.deepEqual((await memory.log()).map((c) => c.commit), made);
    });

    for (const signal of ["SIGKILL", "SIGTERM"] as const) test(`${signal} while many write`, async (t) => {
      const at = await memoryOf(t, tcp);
      const memory = await at.open();
      let writing = true;
      const killing = (async () => {
        while (writing) {
          await sleep(400);
          at.kill(signal);
        }
      })();
      const messages = await Promise.all([0, 1, 2, 3].map(async (w) => {
        const own = await at.open();
        const sent = [];
        for (let i = 0; i < 10; i++) {
          sent.push(`w${w}-${i}`);
          await own.commit([node(`w${w}-${i}`)], `w${w}-${i}`);
        }
        return sent;
      })).finally(() => (writing = false));
      await killing;
      const log = await memory.log({ limit: 100 });
      assert.deepEqual(log.map((c) => c.message).sort(), messages.flat().sort());
    });

    test("a memory that is removed and made again", async (t) => {
      const at = await memoryOf(t, tcp);
      const memory = await at.open();
      await memory.remember("the old one");
      rmSync(at.path, { recursive: true });
      const again = await at.open();
      await again.remember("the new one");
      assert.deepEqual((await again.log()).map((c) => c.title), ['remembered: "the new one"']);
    });

    test("Python and Node share one", pythons, async (t) => {
      const at = await memoryOf(t, tcp);
      const code = `import sys, mnem
m = mnem.Memory.open(sys.argv[1], tcp=sys.argv[2] == "true", idle=${IDLE})
for i in range(5): m.commit([{"node": {"key": f"{sys.argv[3]}-{i}", "type": "T"}}], f"{sys.argv[3]}-{i}")`;
      const env = { ...process.env, PYTHONPATH: join(CLIENTS, "python/src"), PYTHONDONTWRITEBYTECODE: "1" };
      const others = ["p1", "p2"].map((name) => run("python3", ["-c", code, at.path, String(tcp), name], { env }));
      const [one, two] = await Promise.all([at.open(), at.open()]);
      for (let i = 0; i < 5; i++) await Promise.all([one.commit([node(`n1-${i}`)], "n"), two.commit([node(`n2-${i}`)], "n")]);
      await Promise.all(others);
      assert.equal((await one.log({ limit: 100 })).length, 20);
      const where = tcp ? at.place.startFile : at.place.socket;
      const servers = spawnSync("sh", ["-c", 'for p in /proc/[0-9]*; do tr "\\0" " " <$p/cmdline 2>/dev/null; echo; done'], { encoding: "utf8" });
      assert.equal(servers.stdout.split("\n").filter((l) => l.includes(" serve ") && l.includes(where)).length, 1);
    });
  });
}

describe("servers by token", () => {
  test("a token is needed", async (t) => {
    const at = await memoryOf(t, true);
    const memory = await at.open();
    const started = await at.place.started();
    assert(started);
    assert.equal(statSync(at.place.startFile).mode & 0o777, 0o600);
    for (const token of ["", `mnem_${"a".repeat(8)}_${"a".repeat(52)}`]) {
      await assert.rejects(Memory.open(started.url, { token }), (err) => err instanceof mnem.Refused && err.code === "unauthorized");
    }
    const other = await Memory.open(started.url, { token: started.token });
    await other.remember("by token");
    assert.equal((await memory.log())[0]?.agent, null);
    other.close();
  });

  test("a port that another server has now is not taken for ours", kills, async (t) => {
    const at = await memoryOf(t, true);
    const memory = await at.open();
    at.kill();
    const stranger = createServer((_, response) => response.end());
    stranger.listen(0, "127.0.0.1");
    await once(stranger, "listening");
    t.after(() => stranger.close());
    const url = `http://127.0.0.1:${(stranger.address() as AddressInfo).port}`;
    writeFileSync(at.place.startFile, JSON.stringify({ url, token: "t" }));
    await memory.remember("not to strangers");
    assert.equal((await memory.log()).length, 1);
  });
});

describe("the answer is lost after the write", kills, () => {
  /** Loses answers to writes, and kills the server before or after it made them. */
  function lose(t: TestContext, at: TestMemory, times: number, kill: "no" | "before" | "after"): void {
    const ask = Connection.prototype.ask;
    t.after(() => { Connection.prototype.ask = ask; });
    Connection.prototype.ask = async function (this: Connection, ...given: Parameters<Connection["ask"]>) {
      const loses = /\/(commit|remember|forget|undo)$/.test(given[1]) && times-- > 0;
      if (loses && kill === "before") at.kill();
      const reply = await ask.apply(this, given);
      if (!loses || kill === "before") return reply;
      if (kill === "after") at.kill();
      const { Broken } = await import("../src/link.js");
      throw new Broken("the answer was lost");
    };
  }

  test("the server stays", async (t) => {
    const at = await memoryOf(t);
    const memory = await at.open();
    lose(t, at, 2, "no");
    const made = await memory.commit([node("a")], "m");
    assert.deepEqual((await memory.log()).map((c) => c.commit), [made.commit]);
  });

  test("the server is killed", async (t) => {
    const at = await memoryOf(t);
    const memory = await at.open();
    lose(t, at, 1, "after");
    const made = await memory.commit([node("a")], "m");
    assert.deepEqual((await memory.log()).map((c) => c.commit), [made.commit]);
    assert.deepEqual([made.nodes.added, made.branch, made.parents], [1, "main", []]);
  });

  test("remember answers from the memory", async (t) => {
    const at = await memoryOf(t);
    const memory = await at.open();
    lose(t, at, 1, "after");
    const made = await memory.remember("Alice leads infra", { without: ["diff"] });
    assert.equal(made.action, "added");
    assert.deepEqual((await memory.log()).map((c) => c.commit), [made.commit]);
    assert.equal((await memory.recall("infra")).items[0]?.id, made.id);
  });

  test("other verbs say that the write was made", async (t) => {
    const at = await memoryOf(t);
    const memory = await at.open();
    const { id } = await memory.remember("Alice leads infra");
    lose(t, at, 1, "after");
    const lost = await memory.forget(id!).then(() => assert.fail("answered"), (err: unknown) => err);
    assert(lost instanceof mnem.AnswerLost);
    const log = await memory.log();
    assert.equal(lost.commit, log[0]?.commit);
    assert.equal(log.length, 2);
  });

  test("the write was never made", async (t) => {
    const at = await memoryOf(t);
    const memory = await at.open();
    lose(t, at, 1, "before");
    await memory.commit([node("a")], "m");
    assert.equal((await memory.log()).length, 1);
  });

  test("undo is made once", async (t) => {
    const at = await memoryOf(t);
    const memory = await at.open();
    for (let i = 0; i < 3; i++) await memory.commit([node(`k${i}`)], "m");
    lose(t, at, 1, "after");
    await assert.rejects(memory.undo(), mnem.AnswerLost);
    assert.equal((await memory.log()).length, 2);
  });
});

describe("versions and programs", () => {
  test("another version is said once", async () => {
    const said: Error[] = [];
    const listen = (warning: Error): number => said.push(warning);
    process.on("warning", listen);
    const link = new RemoteLink("http://127.0.0.1:1", "", 1);
    for (const version of ["devel", mnem.VERSION, `v${mnem.VERSION}`, "9.9.9", "9.9.9"]) link.compare(version);
    await sleep(10);
    process.off("warning", listen);
    assert.deepEqual(said.filter((w) => w.name === "VersionWarning").map((w) => /9\.9\.9/.test(w.message)), [true]);
  });

  test("no program", () => {
    const code = `await (await import(${JSON.stringify(join(HERE, "../src/index.js"))})).Memory.open("/nonexistent/x")`;
    const done = spawnSync(process.execPath, ["--input-type=module", "-e", code], { env: { PATH: "" }, encoding: "utf8" });
    assert.match(done.stderr, /NoProgram: .*\[no_program\]\n\s*hint: /);
    const command = spawnSync(process.execPath, [join(HERE, "../src/cli.js"), "version"], { env: { PATH: "" }, encoding: "utf8" });
    assert.equal(command.status, 1);
    assert.match(command.stderr, /^mnem: .*no_program/);
  });

  test("the command passes arguments, output and exit codes on", () => {
    const cli = join(HERE, "../src/cli.js");
    const done = spawnSync(process.execPath, [cli, "version", "--json"], { encoding: "utf8" });
    assert.equal(typeof (JSON.parse(done.stdout) as { version: unknown }).version, "string");
    assert.equal(spawnSync(process.execPath, [cli, "nonsense"]).status, 2);
  });

  test("the command in PATH is not taken for the program", async (t) => {
    const { path } = await memoryOf(t);
    symlinkSync(join(HERE, "../src/cli.js"), join(dirname(path), "mnem"));
    const env = { PATH: `${dirname(path)}:${dirname(process.execPath)}` };
    const done = spawnSync(process.execPath, [join(HERE, "../src/cli.js"), "version"], { env, encoding: "utf8" });
    assert.match(done.stderr, /no_program/);
  });

  test("servers that cannot start", async () => {
    await assert.rejects(Memory.open("/nonexistent/memory", { create: false }), mnem.NotFound);
    await assert.rejects(Memory.open(fileURLToPath(import.meta.url)), mnem.MnemError);
    await assert.rejects(Memory.open("http://127.0.0.1:1"), mnem.NotRunning);
    await assert.rejects(Memory.open("http://"), mnem.InvalidInput);
  });
});

describe("processes", () => {
  test("variables that say who asks are those of each process", async (t) => {
    const at = await memoryOf(t);
    const env = { ...process.env, MNEM_AUTHOR: "carol", MNEM_AGENT: "robot" };
    const worker = [join(HERE, "worker.js"), at.path, "1", "1"];
    await run(process.execPath, worker, { env });
    const memory = await at.open();
    await memory.remember("what the second process says");
    await memory.branch("other");
    await run(process.execPath, [...worker.slice(0, 2), "2", "1"], { env: { ...env, MNEM_BRANCH: "other" } });
    assert.deepEqual((await memory.log()).map((c) => [c.author, c.agent]), [["ann", null], ["carol", "robot"]]);
    assert.equal((await memory.log({ at: "other" })).length, 3);
  });

  test("8 of them remember 25 facts each: 200 of 200", async (t) => {
    const at = await memoryOf(t);
    await Promise.all(Array.from({ length: 8 }, (_, w) => run(process.execPath, [join(HERE, "worker.js"), at.path, String(w), "25"])));
    const memory = await at.open();
    const ids = new Set<string>();
    for (let after: string | undefined | null; after !== null;) {
      const page = await memory.ls({ type: ["fact"], limit: 1000, after: after ?? undefined });
      for (const n of page.nodes ?? []) ids.add(n.id);
      after = page.next;
    }
    assert.equal(ids.size, 200);
  });
});
