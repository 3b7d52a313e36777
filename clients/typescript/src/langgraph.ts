/**
 * A LangGraph store in a memory: every batch of puts is one commit.
 *
 *     import { MnemStore } from "@mnem/client/langgraph";
 *
 *     const graph = builder.compile({ store: new MnemStore(await Memory.open("notes")) });
 *
 * It answers as InMemoryStore does, with these differences:
 *
 * - A query ranks items as mnem's retrieve does, by words and meaning, without an index configuration. Items that it
 *   does not find follow without a score. index chooses the text that is searched; index: false leaves an item without
 *   a score.
 * - Items come in the order in which they were first put, across namespaces. InMemoryStore goes namespace by namespace.
 * - Namespaces are listed while they have items. InMemoryStore also lists those that were emptied.
 * - Items are copies, read from JSON as it was before the puts of the same batch. InMemoryStore keeps the objects
 *   themselves, and a put changes items that were returned before. What JSON leaves out, such as undefined, is left
 *   out; bigint, and a value beyond about 900 kB, are refused.
 * - A put that looks like it holds a credential throws Refused, unless allowSecret names the rule.
 * - Labels and keys with a lone surrogate throw InvalidInput.
 */

import { BaseStore, InMemoryStore } from "@langchain/langgraph";
import type {
  GetOperation, Item, ListNamespacesOperation, MatchCondition, Operation, OperationResults, PutOperation, SearchOperation,
} from "@langchain/langgraph";

import { InvalidInput } from "./errors.js";
import type { Memory } from "./memory.js";
import { Records, nameOf } from "./records.js";
import type { Put, Stored } from "./records.js";

/** The score of mnem that is 1.0. */
const SCORE = 65536;

/** Options of MnemStore. */
export interface StoreOptions {
  /** The type of the nodes. Stores of different kinds do not see each other. Default StoreItem. */
  kind?: string;
  /** Paths whose text queries search. Default the whole value. */
  fields?: readonly string[];
  /** Rules of 'mnem config secrets' whose matches are written anyway. */
  allowSecret?: readonly string[];
}

/** A BaseStore of LangGraph in a memory. */
export class MnemStore extends BaseStore {
  private readonly records: Records;
  private readonly fields: readonly string[];
  private readonly checks = new InMemoryStore();

  constructor(memory: Memory, options: StoreOptions = {}) {
    super();
    this.records = new Records(memory, options.kind ?? "StoreItem", options.allowSecret);
    this.fields = options.fields ?? ["$"];
  }

  /** Answers all reads from before the puts, then makes one commit of the puts. */
  async batch<Op extends Operation[]>(operations: Op): Promise<OperationResults<Op>> {
    const puts = new Map<string, PutOperation>();
    const results: unknown[] = [];
    for (const op of operations) {
      await this.check(op);
      if ("value" in op) {
        puts.set(nameOf([...op.namespace, op.key]), op);
        results.push(null);
      } else if ("namespacePrefix" in op) results.push(await this.searched(op));
      else if ("key" in op) results.push(await this.got(op));
      else results.push(await this.namespaces(op));
    }
    const changes = [...puts.values()].map((op): [string[], Put | undefined] => [[...op.namespace, op.key], this.putOf(op)]);
    if (changes.length) await this.records.write(changes, messageOf(puts));
    return results as OperationResults<Op>;
  }

  /** Throws what InMemoryStore throws for labels that are not allowed. */
  private async check(op: Operation): Promise<void> {
    const namespace = "namespace" in op ? op.namespace : "namespacePrefix" in op ? op.namespacePrefix : undefined;
    if (namespace && ("namespace" in op || namespace.length)) await this.checks.batch([{ namespace, key: "" }]);
  }

  private async got(op: GetOperation): Promise<Item | null> {
    const found = await this.records.get([...op.namespace, op.key]);
    return found ? itemOf(found) : null;
  }

  private async searched(op: SearchOperation): Promise<Item[]> {
    const { namespacePrefix: prefix, filter, query, limit = 10, offset = 0 } = op;
    const all = (await this.records.list(prefix)).filter((r) => r.path.length > prefix.length);
    const found = all.filter((r) => matches(r.value as Value, filter));
    const scores = new Map<string, number>();
    if (query) {
      const searchable = new Set(found.filter((r) => r.props.searched).map((r) => r.id));
      for (const { id, score } of await this.records.search(query, prefix)) if (searchable.has(id)) scores.set(id, score / SCORE);
      const rank = new Map([...scores.keys()].map((id, i) => [id, i]));
      found.sort((a, b) => (rank.get(a.id) ?? rank.size) - (rank.get(b.id) ?? rank.size));
    }
    return found.slice(offset, offset + limit).map((r) => ({ ...itemOf(r), score: scores.get(r.id) }));
  }

  private async namespaces(op: ListNamespacesOperation): Promise<string[][]> {
    const { matchConditions = [], maxDepth, offset = 0 } = op;
    const all = (await this.records.list()).map((r) => r.path.slice(0, -1));
    const fitting = all.filter((n) => matchConditions.every((c) => fits(c, n))).map((n) => n.slice(0, maxDepth));
    const distinct = [...new Map(fitting.map((n) => [n.join(":"), n])).entries()];
    const sorted = distinct.sort(([a], [b]) => a.localeCompare(b)).map(([, n]) => n);
    return sorted.slice(offset, offset + (op.limit ?? sorted.length));
  }

  private putOf(op: PutOperation): Put | undefined {
    if (op.value === null) return undefined;
    let value: unknown;
    try {
      value = JSON.parse(JSON.stringify(op.value));
    } catch (err) {
      throw new InvalidInput({ code: "invalid_input", detail: `no JSON form: ${(err as Error).message}`, cause: err });
    }
    const text = op.index === false ? undefined : (op.index ?? this.fields).flatMap((path) => textsAt(value, path)).join("\n");
    return { value, text, more: { searched: op.index !== false } };
  }
}

type Value = Record<string, unknown>;

function itemOf(found: Stored): Item {
  return {
    value: found.value as Value, key: found.path.at(-1)!, namespace: found.path.slice(0, -1),
    createdAt: new Date(found.created), updatedAt: new Date(found.updated),
  };
}

function messageOf(puts: Map<string, PutOperation>): string {
  const removed = [...puts.values()].filter((op) => op.value === null).length;
  const parts = [...(removed < puts.size ? [`put ${puts.size - removed}`] : []), ...(removed ? [`delete ${removed}`] : [])];
  return `${parts.join(" and ")} store items`;
}

/** Reports whether a namespace begins or ends with a path; "*" stands for any label. */
function fits({ matchType, path }: MatchCondition, namespace: string[]): boolean {
  if (matchType !== "prefix" && matchType !== "suffix") throw new Error(`Unsupported match type: ${String(matchType)}`);
  if (path.length > namespace.length) return false;
  const at = matchType === "prefix" ? 0 : namespace.length - path.length;
  return path.every((label, i) => label === "*" || label === namespace[at + i]);
}

function matches(value: Value, filter: Value | undefined): boolean {
  return Object.entries(filter ?? {}).every(([name, wanted]) => compare(value[name], wanted));
}

const OPERATORS: Record<string, (value: unknown, to: unknown) => boolean> = {
  $eq: (value, to) => value === to,
  $ne: (value, to) => value !== to,
  $gt: (value, to) => Number(value) > Number(to),
  $gte: (value, to) => Number(value) >= Number(to),
  $lt: (value, to) => Number(value) < Number(to),
  $lte: (value, to) => Number(value) <= Number(to),
  $in: (value, to) => Array.isArray(to) && to.includes(value),
  $nin: (value, to) => !Array.isArray(to) || !to.includes(value),
};

/** Compares a member with what a filter wants of it: operators, or the same value. */
function compare(value: unknown, wanted: unknown): boolean {
  if (typeof wanted === "object" && wanted !== null && Object.keys(wanted).every((k) => Object.hasOwn(OPERATORS, k))) {
    return Object.entries(wanted).every(([operator, to]) => OPERATORS[operator]!(value, to));
  }
  return value === wanted;
}

/** Returns the texts at a path such as "title", "chapters[*].text", "list[-1]" or "{a,b.c}"; "$" is the whole value. */
function textsAt(value: unknown, path: string): string[] {
  return walk(value, path === "$" ? [] : (path.match(/\[[^\]]*\]|\{[^}]*\}|[^.[{]+/g) ?? []));
}

function walk(value: unknown, [step, ...rest]: string[]): string[] {
  if (value === null || value === undefined) return [];
  if (step === undefined) return [typeof value === "object" ? JSON.stringify(value) : String(value)];
  if (step.startsWith("{")) return step.slice(1, -1).split(",").flatMap((path) => textsAt(value, path.trim()).flatMap((t) => walk(t, rest)));
  if (typeof value !== "object") return [];
  if (step === "*" || step === "[*]") {
    return step === "*" || Array.isArray(value) ? Object.values(value).flatMap((v) => walk(v, rest)) : [];
  }
  if (step.startsWith("[")) return Array.isArray(value) ? walk(value.at(Number.parseInt(step.slice(1), 10)), rest) : [];
  return Object.hasOwn(value, step) ? walk((value as Value)[step], rest) : [];
}
