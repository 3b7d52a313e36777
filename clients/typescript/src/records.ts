// Records of adapters: nodes of one type with a path of labels, a JSON value, and text that they are found by. The
// client for Python writes the same.

import { createHash } from "node:crypto";

import { InvalidInput, NotFound } from "./errors.js";
import type { Change, Memory } from "./memory.js";
import { pause } from "./program.js";

/** Bytes of a path that the key of its node has in full; longer ones are hashed. A key may have 512. */
const MAX_KEY = 400;

/** Records that are read one by one rather than with all others. */
const FEW = 8;

/** Milliseconds for which a write is repeated if others change the same records. */
const PATIENCE = 60_000;

/** A record as the memory has it. */
export interface Stored {
  path: string[];
  value: unknown;
  created: string;
  updated: string;
  props: Record<string, unknown>;
  id: string;
}

/** A record to write: more are further properties, text is searched by queries. */
export interface Put {
  value: unknown;
  text?: string | undefined;
  more?: Record<string, unknown>;
}

/** Returns a text for a path, which two paths share only if they are the same. */
export function nameOf(path: readonly string[]): string {
  return JSON.stringify(path);
}

/** The records of one type. */
export class Records {
  private lastOrder = 0;

  constructor(readonly memory: Memory, readonly kind: string, private readonly allowSecret?: readonly string[]) {}

  /** Returns the key of the node of a record. */
  private key(path: readonly string[]): string {
    const name = nameOf(path);
    const long = Buffer.byteLength(name) > MAX_KEY;
    return `${this.kind}/${long ? createHash("sha256").update(name).digest("hex") : name}`;
  }

  async get(path: readonly string[]): Promise<Stored | undefined> {
    try {
      return record(await this.memory.show(`key:${this.key(path)}`));
    } catch (err) {
      if (err instanceof NotFound) return undefined;
      throw err;
    }
  }

  /** Returns the records whose paths begin with labels, in the order in which they were made. */
  async list(under: readonly string[] = []): Promise<Stored[]> {
    const page = await unlessEmpty(this.memory.ls({ type: [this.kind], where: where(under), limit: 0 }));
    const found = (page?.nodes ?? []).map(record).filter((r) => under.every((label, i) => r.path[i] === label));
    return found.sort((a, b) => Number(a.props.order) - Number(b.props.order));
  }

  /** Returns ids and scores of the records that a query finds, best first. */
  async search(query: string, under: readonly string[]): Promise<{ id: string; score: number }[]> {
    const options = { type: [this.kind], where: where(under), limit: 1000, budget: 0 };
    return (await unlessEmpty(this.memory.retrieve(query, options)))?.items ?? [];
  }

  /** Puts and removes records in one commit; undefined removes. */
  async write(changes: readonly (readonly [string[], Put | undefined])[], message: string): Promise<void> {
    const deadline = performance.now() + PATIENCE;
    for (let attempt = 0; ; attempt++) {
      const existing = await this.existing(changes.map(([path]) => path));
      const lines = changes.flatMap(([path, put]): Change[] => {
        const old = existing.get(nameOf(path));
        if (put) return [{ node: this.line(path, put, old) }];
        return old ? [{ remove: { node: this.key(path) } }] : [];
      });
      if (!lines.length) return;
      try {
        await this.memory.commit(lines, message, { allow_secret: this.allowSecret });
        return;
      } catch (err) {
        // Another process may have removed one of them.
        if (!(err instanceof InvalidInput) || !err.detail.includes("no node") || performance.now() > deadline) throw err;
      }
      await pause(attempt);
    }
  }

  private async existing(paths: string[][]): Promise<Map<string, Stored>> {
    const found = paths.length <= FEW ? await Promise.all(paths.map((path) => this.get(path))) : await this.list();
    return new Map(found.flatMap((r) => (r ? [[nameOf(r.path), r]] : [])));
  }

  private line(path: string[], put: Put, old: Stored | undefined): Record<string, unknown> {
    const props = {
      ...Object.fromEntries(path.map((label, i) => [`label${i}`, label])), ...put.more,
      order: old?.props.order ?? this.nextOrder(), path: nameOf(path), value: JSON.stringify(put.value),
    };
    const content = put.text ? { content: put.text.replace(/\p{Surrogate}/gu, "?") } : {};
    return { key: this.key(path), type: this.kind, props, replace: true, ...content };
  }

  /** Returns a number that grows with time, in microseconds. */
  private nextOrder(): number {
    this.lastOrder = Math.max(Date.now() * 1000, this.lastOrder + 1);
    return this.lastOrder;
  }
}

function record(node: { props: unknown; created: string; updated: string | null; id: string }): Stored {
  const props = node.props as Record<string, unknown>;
  const path = JSON.parse(String(props.path)) as string[];
  const value: unknown = JSON.parse(String(props.value));
  return { path, value, props, created: node.created, updated: node.updated ?? node.created, id: node.id };
}

function where(under: readonly string[]): string[] | undefined {
  return under.length ? under.map((label, i) => `label${i} = ${JSON.stringify(label)}`) : undefined;
}

/** Returns an answer, undefined if the memory has no commit yet. */
async function unlessEmpty<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (err) {
    if (err instanceof NotFound) return undefined;
    throw err;
  }
}
