// Connections to a server: a local one, which is started when none answers, or a remote one.

import * as http from "node:http";
import * as https from "node:https";

import { Busy, MnemError, NotFound, NotRunning, ofProblem } from "./errors.js";
import { Place, START_TIMEOUT, ensure, init, pause } from "./program.js";
import { VERSION } from "./version.js";

/** Connections that are used at once; further requests wait. */
const MAX_CONNECTIONS = 16;

/** Times that a server is started and asked before the client gives up. */
const STARTS = 12;

/** The connection broke, or could not be made. */
export class Broken extends Error {}

/** No answer came in time. */
export class TimedOut extends Error {}

/** A response that was read. */
export interface Reply {
  status: number;
  headers: http.IncomingHttpHeaders;
  body: string;
}

interface Where {
  socketPath?: string;
  url: URL;
  token: string;
  timeout: number;
}

/** One connection to one process of a server. It is not made again after it broke. */
export class Connection {
  instance = "";
  version = "";
  private readonly agent: http.Agent;

  constructor(private readonly where: Where) {
    const secure = where.url.protocol === "https:";
    this.agent = new (secure ? https : http).Agent({ keepAlive: true, maxSockets: 1 });
    const agent = this.agent as unknown as { createConnection: (options: object, done: (err: Error) => void) => unknown };
    const connect = agent.createConnection.bind(agent);
    let used = false;
    agent.createConnection = (options, done) => {
      if (used) return void done(new Error("the connection was closed"));
      used = true;
      return connect(options, done);
    };
  }

  ask(method: string, path: string, body?: string, headers: Record<string, string> = {}): Promise<Reply> {
    const { url, socketPath, token, timeout } = this.where;
    const data = body === undefined ? undefined : Buffer.from(body);
    return new Promise((done, fail) => {
      const request = (url.protocol === "https:" ? https : http).request({
        ...(socketPath ? { socketPath } : { host: url.hostname.replace(/^\[|\]$/g, ""), port: url.port || undefined }),
        agent: this.agent, method, path: url.pathname.replace(/\/+$/, "") + path,
        headers: {
          Host: socketPath ? "localhost" : url.host, Accept: "application/json", ...headers,
          ...(token ? { Authorization: `Bearer ${token}` } : {}), ...(data ? { "Content-Length": data.length } : {}),
        },
      });
      const broken = (err: Error): void => fail(err instanceof TimedOut ? err : new Broken(err.message, { cause: err }));
      request.setTimeout(timeout, () => request.destroy(new TimedOut(`no answer within ${timeout / 1000} s`)));
      request.once("error", broken);
      request.once("response", (response) => {
        const parts: Buffer[] = [];
        response.on("data", (part: Buffer) => parts.push(part));
        response.once("error", broken);
        response.once("close", () => {
          if (!response.complete) return broken(new Error("the answer broke off"));
          done({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(parts).toString() });
        });
      });
      request.end(data);
    });
  }

  /** Finds out which process answers, and its version. */
  async greet(): Promise<this> {
    try {
      const reply = await this.ask("GET", "/v1/version");
      let version: unknown;
      try {
        version = (JSON.parse(reply.body) as Record<string, unknown>).version;
      } catch {
        version = undefined;
      }
      if (reply.status !== 200 || typeof version !== "string") throw ofProblem(reply.status, reply.body);
      this.version = version;
      this.instance = String(reply.headers["mnem-instance"] ?? "");
      return this;
    } catch (err) {
      this.close();
      throw err;
    }
  }

  close(): void {
    this.agent.destroy();
  }
}

/** A pool of connections. */
export abstract class Link {
  private idle: Connection[] = [];
  private taken = 0;
  private waiting: (() => void)[] = [];
  private renewing: Promise<void> | undefined;
  private warned = false;

  constructor(readonly timeout: number) {}

  /** Returns a new connection; throws Broken if nothing answers. */
  protected abstract dial(): Promise<Connection>;

  /** Makes a server answer after none did. */
  protected abstract renew(): Promise<void>;

  /** Returns a connection, an open one unless fresh. The caller gives it back or drops it. */
  async take(fresh = false): Promise<Connection> {
    if (this.taken >= MAX_CONNECTIONS) await new Promise<void>((go) => this.waiting.push(go));
    else this.taken++;
    try {
      if (fresh) this.close();
      const open = this.idle.pop();
      if (open) return open;
      const connection = await this.connect();
      this.compare(connection.version);
      return connection;
    } catch (err) {
      this.leave();
      throw err;
    }
  }

  private async connect(): Promise<Connection> {
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.dial();
      } catch (err) {
        if (!(err instanceof Broken)) throw err;
        if (attempt >= STARTS) throw new NotRunning(`the server ended: ${err.message}`, undefined, err);
      }
      this.renewing ??= this.renew().finally(() => (this.renewing = undefined));
      await this.renewing;
    }
  }

  give(connection: Connection): void {
    this.idle.push(connection);
    this.leave();
  }

  drop(connection: Connection): void {
    connection.close();
    this.leave();
  }

  /** Lets the next one that waits for a connection go on. */
  private leave(): void {
    const next = this.waiting.shift();
    if (next) next();
    else this.taken--;
  }

  /** Warns once if client and server differ. A development build has no version to compare. */
  compare(version: string): void {
    if (this.warned || ["devel", "(devel)"].includes(version) || version.replace(/^v/, "") === VERSION) return;
    this.warned = true;
    process.emitWarning(
      `@mnem/client ${VERSION} talks to mnem ${version}: members of answers may differ. ` +
        "Update one of them; a shared server ends by itself when no process uses it.",
      "VersionWarning",
    );
  }

  /** Closes connections that no request uses. */
  close(): void {
    for (const connection of this.idle.splice(0)) connection.close();
  }
}

/** A server at a URL, which this client does not start. */
export class RemoteLink extends Link {
  private readonly url: URL;

  constructor(url: string, private readonly token: string, timeout: number) {
    super(timeout);
    this.url = new URL(url);
  }

  protected dial(): Promise<Connection> {
    return new Connection({ url: this.url, token: this.token, timeout: this.timeout }).greet();
  }

  protected async renew(): Promise<void> {
    for (let attempt = 2; ; attempt++) {
      await pause(attempt);
      try {
        return (await this.dial()).close();
      } catch (err) {
        if (!(err instanceof Broken)) throw err;
        if (attempt >= 7) throw new NotRunning(`${this.url}: ${err.message}`, "start 'mnem serve' there", err);
      }
    }
  }
}

export interface LocalOptions {
  create: boolean;
  tcp: boolean;
  idle: number;
  timeout: number;
}

/** The server of a memory on this machine, which all processes of the user share. */
export class LocalLink extends Link {
  readonly place: Place;

  private constructor(repository: string, private readonly options: LocalOptions) {
    super(options.timeout);
    this.place = new Place(repository, options.tcp);
  }

  static async to(repository: string, options: LocalOptions): Promise<LocalLink> {
    if (!repository.includes("://")) await ensure(repository, options.create);
    return new LocalLink(repository, options);
  }

  protected async dial(): Promise<Connection> {
    const { place, timeout } = this;
    if (!place.tcp) {
      return new Connection({ url: new URL("http://localhost"), socketPath: place.socket, token: "", timeout }).greet();
    }
    const started = await place.started();
    if (!started) throw new Broken("no server was started");
    try {
      return await new Connection({ url: new URL(started.url), token: started.token, timeout }).greet();
    } catch (err) {
      const stranger = err instanceof MnemError && ["unauthorized", "bad_answer"].includes(err.code);
      throw stranger ? new Broken(err.message, { cause: err }) : err; // the port belongs to another program now
    }
  }

  /** Starts the server unless another process does. The server itself sees to it that there is one. */
  protected async renew(): Promise<void> {
    let last: Error | undefined;
    for (let attempt = 0; attempt < STARTS; attempt++) {
      try {
        return (await this.dial()).close();
      } catch (err) {
        if (!(err instanceof Broken)) throw err;
        last = err;
      }
      try {
        await this.start();
      } catch (err) {
        if (!(err instanceof Busy)) throw err;
        await pause(attempt);
      }
    }
    throw new NotRunning(`mnem serve started but does not answer: ${last?.message}`, undefined, last);
  }

  /** Starts a server and waits until it has opened the memory; makes one in a database if there is none. */
  private async start(): Promise<void> {
    try {
      await this.ready();
    } catch (err) {
      const { repository } = this.place;
      if (!(err instanceof NotFound) || !this.options.create || !repository.includes("://")) throw err;
      await init(repository);
      await this.ready();
    }
  }

  private async ready(): Promise<void> {
    const failure = await this.place.start(this.options.idle);
    const deadline = performance.now() + START_TIMEOUT;
    for (let attempt = 0; performance.now() < deadline; attempt++) {
      const ended = await failure();
      if (ended) throw ended;
      try {
        const connection = await this.dial();
        const { status } = await connection.ask("GET", "/readyz").finally(() => connection.close());
        if (status === 200) return;
      } catch (err) {
        if (!(err instanceof Broken)) throw err;
      }
      await pause(attempt);
    }
    throw new NotRunning(`mnem serve did not open ${this.place.shown} in time`);
  }
}
