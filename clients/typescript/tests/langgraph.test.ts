// MnemStore against LangGraph's InMemoryStore: the same random operations, the same answers.

import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { Annotation, END, InMemoryStore, START, StateGraph } from "@langchain/langgraph";
import type { BaseStore, Item, LangGraphRunnableConfig, Operation, PutOperation } from "@langchain/langgraph";

import * as mnem from "../src/index.js";
import { MnemStore } from "../src/langgraph.js";
import { Random, memoryOf, operations } from "./support.js";

const LABELS = ["users", "docs", "ann", "bob", "für Elise", 'a"b', "*", "x".repeat(300), "Zoe", "zoe"];
const KEYS = ["k1", "k2", "prefs", "a/b", "", "日本", "y".repeat(300), "a\0b"];
const WORDS = ["zebra", "apple", "infra", "billing", "Stripe"];
const ALL = 1_000_000;

/** Draws operations. */
class Draw {
  constructor(readonly r: Random) {}

  namespace(): string[] {
    const labels = this.r.below(3) ? LABELS.slice(0, 3) : LABELS;
    return Array.from({ length: 1 + this.r.below(3) }, () => this.r.choice(labels));
  }

  value(depth = 0): unknown {
    const kind = this.r.below(depth < 2 ? 8 : 6);
    if (kind === 6) return Array.from({ length: this.r.below(3) }, () => this.value(depth + 1));
    if (kind === 7) return this.object(this.r.below(3), depth + 1);
    return [this.r.below(11) - 5, this.r.choice(WORDS), 1.5, null, true, this.r.choice([2 ** 70, "\ud800", "a\0", "__proto__"])][kind];
  }

  object(size: number, depth = 0): Record<string, unknown> {
    return Object.fromEntries(Array.from({ length: size }, () => [this.r.choice(["a", "b", "c"]), this.value(depth)]));
  }

  filter(): Record<string, unknown> | undefined {
    const operator = this.r.choice(["$eq", "$ne", "$gt", "$gte", "$lt", "$lte", "$in", "$nin"]);
    const n = this.r.below(10);
    const several = { [operator]: [n, this.r.choice(WORDS), 1.5] };
    if (this.r.below(2)) return { n: { [operator]: n } };
    return this.r.choice([
      undefined, undefined, {}, { n }, { a: this.value() }, { a: { [operator]: this.value() } }, { n: several },
      { a: several }, { n: { $odd: 1 } }, { n: { $gt: 2, $lt: 8 } }, { absent: { $ne: 1 } }, { a: {} },
    ]);
  }

  operation(): Operation {
    const kind = this.r.below(10);
    if (kind < 4) {
      const index = this.r.choice<false | string[] | undefined>([undefined, undefined, false, ["a"], ["b.a", "c[*]", "{a,b}", "c[-1]"]]);
      const value = { ...this.object(this.r.below(4)), n: this.r.below(10) };
      return { namespace: this.namespace(), key: this.r.choice(KEYS), value, ...(index === undefined ? {} : { index }) };
    }
    if (kind < 5) return { namespace: this.namespace(), key: this.r.choice(KEYS), value: null };
    if (kind < 7) return { namespace: this.namespace(), key: this.r.choice(KEYS) };
    const page = { limit: this.r.choice([0, 3, 10, 100]), offset: this.r.choice([0, 0, 1, 5]) };
    if (kind < 9) {
      const filter = this.filter();
      const query = this.r.choice([undefined, undefined, this.r.choice(WORDS)]);
      const namespacePrefix = this.namespace().slice(0, this.r.choice([0, 0, 1, 2]));
      return { namespacePrefix, ...page, ...(filter ? { filter } : {}), ...(query ? { query } : {}) };
    }
    const conditions = Array.from({ length: this.r.below(2) }, () =>
      ({ matchType: this.r.choice(["prefix", "suffix"] as const), path: this.namespace() }));
    const depth = this.r.choice([undefined, undefined, 1, 2]);
    return { matchConditions: conditions, ...page, ...(depth ? { maxDepth: depth } : {}) };
  }
}

function plain(item: Item | null): unknown {
  return item && { namespace: item.namespace, key: item.key, value: JSON.parse(JSON.stringify(item.value)) as unknown };
}

const place = (item: { namespace: string[]; key: string }): string => JSON.stringify([item.namespace, item.key]);

/** The two stores, and in which order items were first put. */
class Pair {
  readonly reference = new InMemoryStore();
  readonly made: string[] = [];

  constructor(readonly store: MnemStore) {}

  /** Compares answers, except for the differences that MnemStore lists. */
  async same(op: Operation, mine: unknown, theirs: unknown): Promise<void> {
    const what = JSON.stringify(op);
    if ("value" in op) assert.equal(mine, null);
    else if ("namespacePrefix" in op) await this.sameSearch(op, mine as Item[], what);
    else if ("key" in op) {
      assert.deepEqual(plain(mine as Item | null), plain(theirs as Item | null), what);
      if (mine) assert((mine as Item).createdAt <= (mine as Item).updatedAt);
    } else {
      const kept = (this.reference as unknown as { data: Map<string, Map<string, Item>> }).data;
      for (const [namespace, items] of kept) if (!items.size) kept.delete(namespace); // which only the reference lists
      assert.deepEqual(mine, (await this.reference.batch([op]))[0], what);
    }
  }

  private async sameSearch(op: { namespacePrefix: string[]; filter?: object; query?: string; limit?: number; offset?: number },
    mine: Item[], what: string): Promise<void> {
    const { namespacePrefix, filter = {}, query, limit = 10, offset = 0 } = op;
    const everything = await this.reference.search(namespacePrefix, { filter, limit: ALL });
    everything.sort((a, b) => this.made.indexOf(place(a)) - this.made.indexOf(place(b)));
    if (query) { // the order is mnem's own
      const ours = await this.store.search(namespacePrefix, { filter, query, limit: ALL });
      const sorted = (items: Item[]): unknown[] => items.map((i) => JSON.stringify(plain(i))).sort();
      assert.deepEqual(sorted(ours), sorted(everything), what);
      assert.deepEqual(mine, ours.slice(offset, offset + limit), what);
    } else assert.deepEqual(mine.map(plain), everything.slice(offset, offset + limit).map(plain), what);
  }

  async step(ops: Operation[]): Promise<void> {
    const mine = await this.store.batch(ops);
    const puts = new Map(ops.filter((op): op is PutOperation => "value" in op).map((op) => [place(op), op]));
    for (const [i, op] of ops.entries()) {
      // Reads are answered from before the puts. What a query finds is compared with the store as it is now.
      const queried = "namespacePrefix" in op && op.query && puts.size;
      if (!queried) await this.same(op, mine[i], "value" in op ? null : (await this.reference.batch([op]))[0]);
    }
    await this.reference.batch([...puts.values()]);
    for (const [at, put] of puts) {
      const known = this.made.indexOf(at);
      if (put.value === null && known >= 0) this.made.splice(known, 1);
      if (put.value !== null && known < 0) this.made.push(at);
    }
  }
}

describe("MnemStore", () => {
  test("random operations", { timeout: 3_600_000 }, async (t) => {
    const draw = new Draw(new Random(t));
    const memory = await (await memoryOf(t)).open();
    const pair = new Pair(new MnemStore(memory));
    for (let left = operations(); left > 0;) {
      const ops = Array.from({ length: draw.r.choice([1, 1, 1, 2, 3, 12]) }, () => draw.operation());
      left -= ops.length;
      await pair.step(ops);
    }
    await pair.step([{ namespacePrefix: [], limit: ALL, offset: 0 }]);
    assert(pair.made.length > 10);
  });

  test("reads of a batch come before its puts, and the puts are one commit", async (t) => {
    const memory = await (await memoryOf(t)).open();
    const store = new MnemStore(memory);
    const read = await store.batch([{ namespace: ["a"], key: "k", value: { x: 1 } }, { namespace: ["a"], key: "k" }, { namespacePrefix: ["a"] }]);
    assert.deepEqual(read as unknown[], [null, null, []]);
    await store.batch(Array.from({ length: 20 }, (_, i) => ({ namespace: ["b"], key: `k${i}`, value: { x: i } })));
    assert.deepEqual((await memory.log()).map((c) => c.message), ["put 20 store items", "put 1 store items"]);
    await memory.undo();
    assert.deepEqual(await store.search(["b"]), []);
  });

  test("bad input", async (t) => {
    const memory = await (await memoryOf(t)).open();
    const store = new MnemStore(memory);
    for (const namespace of [[], ["a.b"], [""], ["langgraph"], ["a:b"], ["a\0"], [1 as unknown as string]]) {
      for (const one of [store, new InMemoryStore()] as BaseStore[]) {
        await assert.rejects(one.put(namespace, "k", { a: 1 }), { name: "InvalidNamespaceError" }, JSON.stringify(namespace));
      }
    }
    const bad = [{ namespace: ["a.b"], key: "k", value: { a: 1 } }];
    await assert.rejects(store.batch(bad), { name: "InvalidNamespaceError" });
    await assert.rejects(store.put(["a"], "k", { a: 1n }), mnem.InvalidInput);
    await assert.rejects(store.put(["a"], "k", { a: "x".repeat(2_000_000) }), mnem.InvalidInput);
    await assert.rejects(store.put(["\ud800"], "k", { a: 1 }), mnem.InvalidInput);
    await assert.rejects(store.put(["a"], "k", { token: "ghp_0123456789abcdefghij0123456789abcdef" }), mnem.Refused);
    const wrong = { matchConditions: [{ matchType: "middle" as "prefix", path: ["a"] }], limit: 1, offset: 0 };
    await store.put(["a"], "k", { a: 1 });
    await assert.rejects(store.batch([wrong]), /Unsupported match type/);
    assert.equal((await memory.log()).length, 1);
  });

  test("a query ranks, and index chooses its text", async (t) => {
    const store = new MnemStore(await (await memoryOf(t)).open());
    for (const [i, text] of ["the zebra eats grass", "Stripe charges customers", "apples are red"].entries()) {
      await store.put(["docs"], `k${i}`, { text });
    }
    await store.put(["docs"], "hidden", { text: "zebra zebra" }, false);
    await store.put(["docs"], "part", { text: "giraffe", list: [{ t: "walrus" }] }, ["list[*].t"]);
    const found = await store.search(["docs"], { query: "who charges customers" });
    assert.equal(found[0]?.key, "k1");
    assert(found[0].score! > 0);
    const zebras = await store.search(["docs"], { query: "zebra" });
    assert.equal(zebras[0]?.key, "k0");
    assert.deepEqual(zebras.filter((i) => i.key === "hidden").map((i) => i.score), [undefined]);
    assert.equal((await store.search(["docs"], { query: "walrus" }))[0]?.key, "part");
  });

  test("many puts at once", async (t) => {
    const store = new MnemStore(await (await memoryOf(t)).open());
    await Promise.all(Array.from({ length: 10 }, (_, i) => store.put(["a"], `k${i}`, { i })));
    assert.equal((await store.search(["a"], { limit: 100 })).length, 10);
    await Promise.all(Array.from({ length: 10 }, () => store.delete(["a"], "k3")));
    assert.equal(await store.get(["a"], "k3"), null);
    assert.deepEqual(await store.listNamespaces(), [["a"]]);
  });

  test("a graph remembers through the store", async (t) => {
    const state = Annotation.Root({ question: Annotation<string>, answer: Annotation<string> });
    const graph = new StateGraph(state)
      .addNode("remember", async (_: typeof state.State, { store }: LangGraphRunnableConfig) => {
        await store!.put(["facts"], "lead", { text: "Alice leads infra" });
        return {};
      })
      .addNode("reply", async ({ question }: typeof state.State, { store }: LangGraphRunnableConfig) => {
        return { answer: String((await store!.search(["facts"], { query: question }))[0]?.value.text) };
      })
      .addEdge(START, "remember").addEdge("remember", "reply").addEdge("reply", END)
      .compile({ store: new MnemStore(await (await memoryOf(t)).open()) });
    assert.equal((await graph.invoke({ question: "who leads infra", answer: "" })).answer, "Alice leads infra");
  });
});
