// What the tests share: memories in temporary directories, and the processes that serve them.

import { existsSync, readFileSync, readdirSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";

import { Memory } from "../src/index.js";
import type { OpenOptions } from "../src/index.js";
import { Place, absolute } from "../src/program.js";

export const PROGRAM = process.env.MNEM_PROGRAM ?? "";

/** Seconds after which servers of tests end by themselves. */
export const IDLE = 4;

export const LONG = Boolean(process.env.MNEM_LONG);

/** The directory of all clients in the repository. */
export const CLIENTS = process.env.MNEM_CLIENTS ?? join(dirname(fileURLToPath(import.meta.url)), "../../..");

/** A memory of a test. */
export class TestMemory {
  constructor(readonly path: string, readonly tcp: boolean, private readonly t: TestContext) {}

  async open(options: OpenOptions = {}): Promise<Memory> {
    const memory = await Memory.open(this.path, { author: "ann", idle: IDLE, tcp: this.tcp, ...options });
    this.t.after(() => memory.close());
    return memory;
  }

  get place(): Place {
    return new Place(absolute(this.path), this.tcp);
  }

  /** Returns the id of the process that serves the memory, undefined if none does. */
  server(): number | undefined {
    const where = this.tcp ? this.place.startFile : `unix:${this.place.socket}`;
    return readdirSync("/proc").filter((p) => /^\d+$/.test(p)).map(Number).find((pid) => {
      try {
        const args = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
        return args[1] === "serve" && args.includes(where);
      } catch {
        return false;
      }
    });
  }

  kill(signal: NodeJS.Signals = "SIGKILL"): void {
    const pid = this.server();
    if (pid !== undefined) process.kill(pid, signal);
  }
}

/** Returns an empty memory for a test. */
export async function memoryOf(t: TestContext, tcp = false): Promise<TestMemory> {
  const directory = await mkdtemp(join(tmpdir(), "mnem-test-"));
  t.after(() => rm(directory, { recursive: true, force: true, maxRetries: 5 }));
  return new TestMemory(join(directory, "memory"), tcp, t);
}

/** Reports whether processes can be found, which some tests need. */
export const PROCESSES = existsSync("/proc/self/cmdline");

/** Returns how many random operations a differential test makes. */
export function operations(plain = 500, long = 10_000): number {
  return LONG ? long : plain;
}

/** Random numbers that depend on a seed alone: mulberry32. MNEM_SEED repeats a run. */
export class Random {
  private state: number;

  constructor(t: TestContext) {
    const seed = Number(process.env.MNEM_SEED ?? Math.floor(Math.random() * 2 ** 32));
    t.diagnostic(`MNEM_SEED=${seed}`);
    this.state = seed;
  }

  /** Returns a number from 0 to below n. */
  below(n: number): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let x = Math.imul(this.state ^ (this.state >>> 15), this.state | 1);
    x ^= x + Math.imul(x ^ (x >>> 7), x | 61);
    return Math.floor((((x ^ (x >>> 14)) >>> 0) / 2 ** 32) * n);
  }

  choice<T>(from: readonly T[]): T {
    return from[this.below(from.length)]!;
  }
}
