// Memory: the verbs of mnem as methods.

import { createHash, randomUUID } from "node:crypto";

import { AnswerLost, Busy, InvalidInput, MnemError, NotRunning, ofProblem } from "./errors.js";
import type { Operation } from "./errors.js";
import { Broken, LocalLink, RemoteLink, TimedOut } from "./link.js";
import type { Connection, Link, Reply } from "./link.js";
import { WINDOWS, absolute, pause } from "./program.js";
import { LISTS, Verbs } from "./verbs.js";
import type {
  CommitAnswer, CommitOptions, ForgetOptions, LogAnswer, MarkAnswer,
  MarkOptions, RememberAnswer, ShowAnswer, ShowOptions,
} from "./verbs.js";

/** Seconds after which a shared server ends if no process asks. */
const IDLE = 300;

/** Seconds that one request may take: a little more than the server allows it. */
const TIMEOUT = 320;

/** Operations among which a lost write is looked for. */
const MAX_LOOKED_AT = 1000;

/** Times that a request is sent in all, if the server ends each time. */
const SENT_AGAIN = 8;

/** Options of Memory.open. */
export interface OpenOptions {
  /** Make an empty memory if there is none. Default true; false throws NotFound. */
  create?: boolean | undefined;
  /** The token for a URL. Default MNEM_TOKEN. */
  token?: string | undefined;
  /** Recorded with changes. Default MNEM_AUTHOR. */
  author?: string | undefined;
  /** Recorded with changes. Default MNEM_AGENT. */
  agent?: string | undefined;
  /** Recorded with changes. Default MNEM_TASK. MNEM_BRANCH and MNEM_SESSION count too. */
  task?: string | undefined;
  /** A loopback port with a token in place of a Unix socket; on Windows always. */
  tcp?: boolean | undefined;
  /** Seconds after which the server ends when no process asks. Default 300. */
  idle?: number | undefined;
  /** Seconds for one request. Default 320. */
  timeout?: number | undefined;
}

/** For whom, and on which branch, a memory is used. */
export interface Caller {
  author?: string | undefined;
  agent?: string | undefined;
  task?: string | undefined;
  branch?: string | undefined;
  session?: string | undefined;
}

type Fields = Readonly<Record<string, unknown>>;

/** A change line: a node or edge that is written, an embedding, or what is removed. */
export type Change = { node: Fields } | { edge: Fields } | { embedding: Fields } | { remove: Fields };

/**
 * A memory. Each verb is a method with the parameters of the command; errors are MnemError. A write is never made
 * twice, even if the server is killed in the middle.
 */
export class Memory extends Verbs {
  readonly #link: Link;
  readonly #headers: Readonly<Record<string, string>>;

  private constructor(link: Link, headers: Readonly<Record<string, string>>) {
    super();
    [this.#link, this.#headers] = [link, headers];
  }

  /**
   * Opens the memory in a directory, in a database (postgres://…), or at the URL of a server (http://…).
   *
   * For a directory or database the server of this user is reached, or started if none runs: one for all processes.
   */
  static async open(path: string = ".", options: OpenOptions = {}): Promise<Memory> {
    const timeout = (options.timeout ?? TIMEOUT) * 1000;
    const { env } = process;
    let link: Link;
    if (/^https?:\/\//.test(path)) {
      if (!URL.canParse(path)) throw new InvalidInput({ code: "invalid_input", detail: `'${path}' is no URL` });
      link = new RemoteLink(path, options.token ?? env.MNEM_TOKEN ?? "", timeout);
    } else {
      const { create = true, tcp = WINDOWS, idle = IDLE } = options;
      const repository = /^postgres(ql)?:\/\//.test(path) ? path : absolute(path);
      link = await LocalLink.to(repository, { create, tcp, idle, timeout });
    }
    link.give(await link.take());
    return new Memory(link, headersOf({
      author: options.author ?? env.MNEM_AUTHOR, agent: options.agent ?? env.MNEM_AGENT, task: options.task ?? env.MNEM_TASK,
      branch: env.MNEM_BRANCH, session: env.MNEM_SESSION,
    }));
  }

  /** Returns the same memory for another author, agent, task, branch that is written to, or session. */
  acting(caller: Caller): Memory {
    return new Memory(this.#link, { ...this.#headers, ...headersOf(caller) });
  }

  /** Closes connections. The shared server ends by itself. */
  close(): void {
    this.#link.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
  }

  /** Returns the version of the program that answers. */
  async serverVersion(): Promise<string> {
    const connection = await this.#link.take();
    this.#link.give(connection);
    return connection.version;
  }

  // Verbs with a shorter form than the table has.

  /**
   * Commits change lines: objects with one member node, edge, embedding or remove.
   *
   * Without changes the stage is committed. Conflicts throw Conflict, whose answer has them.
   */
  override commit(options?: CommitOptions): Promise<CommitAnswer>;
  override commit(changes: readonly Change[], message: string, options?: Omit<CommitOptions, "lines" | "message">): Promise<CommitAnswer>;
  override commit(...given: unknown[]): Promise<CommitAnswer> {
    return this.verb("commit", ["lines", "message"], given) as Promise<CommitAnswer>;
  }

  /** Returns a node, a commit, or anything else that is stored; or the value of one field of a node. */
  override show(name: string, options: ShowOptions & { field: string }): Promise<unknown>;
  override show(name: `key:${string}` | `id:${string}`, options?: Omit<ShowOptions, "raw">): Promise<ShowAnswer>;
  override show(name?: string | ShowOptions, options?: ShowOptions): ReturnType<Verbs["show"]>;
  override show(...given: unknown[]): Promise<never> {
    return this.verb("show", ["name"], given) as Promise<never>;
  }

  /** Marks memories as forgotten: by ids or keys, or by where, type and before. restore takes it back. */
  override forget(options?: ForgetOptions): Promise<MarkAnswer>;
  override forget(nodes: string | readonly string[], options?: ForgetOptions): Promise<MarkAnswer>;
  override forget(...given: unknown[]): Promise<MarkAnswer> {
    return this.verb("forget", ["nodes"], listed(given, 0)) as Promise<MarkAnswer>;
  }

  /** Marks nodes as superseded, expired, retired or forgotten; remove: true takes the mark off. */
  override mark(options?: MarkOptions): Promise<MarkAnswer>;
  override mark(kind: string, nodes: string | readonly string[], options?: Omit<MarkOptions, "kind" | "nodes">): Promise<MarkAnswer>;
  override mark(...given: unknown[]): Promise<MarkAnswer> {
    return this.verb("mark", ["kind", "nodes"], listed(given, 1)) as Promise<MarkAnswer>;
  }

  /**
   * Starts a session, which records what recall and retrieve answer to the function, and ends it; replay repeats it.
   *
   *     await memory.session("triage", (seen) => seen.recall("who leads infra"));
   */
  async session<T>(name: string, work: (seen: Memory) => Promise<T>, options: { follow?: boolean; at?: string } = {}): Promise<T> {
    await this.sessionStart(name, options);
    try {
      return await work(this.acting({ session: name }));
    } finally {
      await this.sessionEnd(name);
    }
  }

  // How a verb is asked.

  protected async verb(name: string, positional: readonly string[], given: readonly unknown[]): Promise<unknown> {
    const args = argumentsOf(name, positional, given);
    let reply: Reply;
    try {
      reply = await this.#request(`/v1/${name}`, asJSON(args));
    } catch (err) {
      if (err instanceof AnswerLost) return this.#answerOf(name, args, err);
      throw err;
    }
    let answer: unknown;
    try {
      answer = JSON.parse(reply.body);
    } catch {
      answer = undefined;
    }
    if (answer === undefined || Array.isArray(answer) !== LISTS.has(name)) {
      const hint = "are client and server of the same version?";
      throw new MnemError({ code: "bad_answer", detail: `the answer of ${name} is not as expected`, hint });
    }
    return answer;
  }

  /** Sends a request until it is answered, with a key by which a write is made once. */
  async #request(path: string, body: string): Promise<Reply> {
    let key = randomUUID();
    let sentTo: string | undefined; // the process that a request without an answer went to
    const deadline = performance.now() + this.#link.timeout;
    for (let attempt = 0; ; attempt++) {
      const connection = await this.#link.take(sentTo !== undefined);
      let reply: Reply;
      try {
        if (sentTo !== undefined && connection.instance !== sentTo) {
          await lookFor(connection, key);
          sentTo = undefined;
        }
        const headers = { ...this.#headers, "Content-Type": "application/json", "Idempotency-Key": key };
        reply = await connection.ask("POST", path, body, headers);
      } catch (err) {
        this.#link.drop(connection);
        if (!(err instanceof Broken || err instanceof TimedOut)) throw err;
        sentTo ??= connection.instance;
        if (err instanceof TimedOut || attempt >= SENT_AGAIN || performance.now() > deadline) {
          throw new NotRunning(`the server ended before it answered: ${err.message}`, undefined, err);
        }
        continue;
      }
      this.#link.give(connection);
      if (reply.status === 200 || isAnswer(reply)) return reply;
      const error = ofProblem(reply.status, reply.body);
      if (!(error instanceof Busy) || performance.now() > deadline || /lets a request take/.test(error.detail)) throw error;
      if (["busy", "interrupted"].includes(error.code) && reply.headers["retry-after"] === undefined) {
        // The server, or the process that had the memory open, ended: the log tells whether it wrote.
        if (attempt >= SENT_AGAIN) throw error;
        await this.#lookForAgain(key);
        key = randomUUID();
      }
      await pause(attempt);
    }
  }

  async #lookForAgain(key: string): Promise<void> {
    const connection = await this.#link.take();
    try {
      await lookFor(connection, key);
    } catch (err) {
      this.#link.drop(connection);
      throw err;
    }
    this.#link.give(connection);
  }

  /** Returns the answer of a write that was made, as the memory tells it. */
  async #answerOf(name: string, args: Record<string, unknown>, lost: AnswerLost): Promise<unknown> {
    const { commit, operation } = lost;
    if (name === "commit" && commit) {
      const [made] = await this.log({ at: commit, limit: 1 }) as [LogAnswer];
      return {
        branch: (operation.refs?.[0]?.ref ?? "").replace(/^refs\/heads\//, ""), commit: made.commit, dry_run: false,
        duplicates: 0, edges: made.edges, graph: made.graph, no_change: false, nodes: made.nodes, parents: made.parents,
        unchanged: 0,
      };
    }
    if (name === "remember" && commit) {
      const again = { ...args, dry_run: true, without: undefined, supersedes: undefined };
      const found = await this.verb("remember", [], [again]) as RememberAnswer;
      if (found.action === "duplicate") return { ...found, action: "added", commit, dry_run: false, no_change: false };
    }
    throw lost;
  }
}

/** Throws AnswerLost if the operation log has a write with a key. */
async function lookFor(connection: Connection, key: string): Promise<void> {
  if (!connection.instance) return; // an older server, which logs no keys
  const word = "key=" + createHash("sha256").update(key).digest("hex").slice(0, 16);
  const body = JSON.stringify({ limit: MAX_LOOKED_AT });
  const reply = await connection.ask("POST", "/v1/op_log", body, { "Content-Type": "application/json" });
  if (reply.status !== 200) throw ofProblem(reply.status, reply.body);
  const found = (JSON.parse(reply.body) as Operation[]).find((o) => o.command.includes(word));
  if (found) throw new AnswerLost(found);
}

/** Reports whether a reply is an answer with bad news, such as a replay that differs. */
function isAnswer(reply: Reply): boolean {
  return reply.status === 409 && /^application\/json\b/.test(reply.headers["content-type"] ?? "");
}

function headersOf(caller: Caller): Record<string, string> {
  const { author, agent, task, branch, session } = caller;
  const named = { "Mnem-Author": author, "Mnem-Agent": agent, "Mnem-Task": task, "Mnem-Branch": branch, "Mnem-Session": session };
  return Object.fromEntries(Object.entries(named).filter((e): e is [string, string] => e[1] !== undefined && e[1] !== ""));
}

function isOptions(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns arguments in which one node may stand for a list of them. */
function listed(given: readonly unknown[], at: number): unknown[] {
  return given.map((value, i) => (i === at && typeof value === "string" ? [value] : value));
}

/** Returns the named arguments of a call: positional ones, then an object of options. */
function argumentsOf(name: string, positional: readonly string[], given: readonly unknown[]): Record<string, unknown> {
  const args: Record<string, unknown> = {};
  given.forEach((value, i) => {
    if (i === given.length - 1 && isOptions(value)) Object.assign(args, value);
    else if (i < positional.length) args[positional[i]!] = value;
    else if (value !== undefined) throw new InvalidInput({ code: "usage", detail: `${name} takes no argument ${i + 1}` });
  });
  return args;
}

const LONE_SURROGATE = /\p{Surrogate}/u;

/** Returns a value as JSON. Lone surrogates, numbers that are not finite, functions and so on have no such form. */
export function asJSON(value: unknown): string {
  try {
    return JSON.stringify(value, (key, v: unknown) => {
      if (typeof v === "function" || typeof v === "symbol" || (typeof v === "number" && !Number.isFinite(v))) {
        throw new TypeError(`${typeof v} ${String(v)}`);
      }
      if (LONE_SURROGATE.test(key) || (typeof v === "string" && LONE_SURROGATE.test(v))) {
        throw new TypeError("a text has a lone surrogate");
      }
      return v;
    });
  } catch (err) {
    throw new InvalidInput({ code: "invalid_input", detail: `no JSON form: ${(err as Error).message}`, cause: err });
  }
}
