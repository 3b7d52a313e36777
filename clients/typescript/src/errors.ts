/** What a problem document or an error of the command line has. */
export interface Problem {
  code: string;
  detail: string;
  hint?: string | undefined;
  status?: number | undefined;
  kind?: string | undefined;
  requestId?: string | undefined;
  candidates?: Record<string, unknown>[] | undefined;
  answer?: unknown;
  cause?: unknown;
}

/**
 * A verb did not succeed.
 *
 * code is one of the table in docs/reference/errors.md, or of this client: "not_running", "no_program", "answer_lost",
 * "bad_answer". hint is empty if there is none. kind says what to do next; answer is what the verb printed before it
 * failed, such as the conflicts of a merge.
 */
export class MnemError extends Error {
  readonly code: string;
  readonly detail: string;
  readonly hint: string;
  readonly status: number;
  readonly kind: string;
  readonly requestId: string;
  readonly candidates: Record<string, unknown>[];
  readonly answer: unknown;

  constructor(problem: Problem) {
    const { code, detail, hint } = problem;
    super(`${detail} [${code}]${hint ? `\nhint: ${hint}` : ""}`, { cause: problem.cause });
    this.name = new.target.name;
    [this.code, this.detail, this.hint] = [code, detail, hint ?? ""];
    [this.status, this.kind, this.requestId] = [problem.status ?? 0, problem.kind ?? "", problem.requestId ?? ""];
    [this.candidates, this.answer] = [problem.candidates ?? [], problem.answer];
  }
}

/** A value, name or revision is wrong, or parameters exclude each other. */
export class InvalidInput extends MnemError {}

/** There is no such repository, revision, node, edge, session, profile or verb. */
export class NotFound extends MnemError {}

/** The branch is not where the write expected it, or changes exclude each other. */
export class Conflict extends MnemError {}

/** A rule forbids it: the policy, a token, a credential in the text, or a missing confirmation. */
export class Refused extends MnemError {}

/** Stored bytes are not the ones that were written. */
export class Corrupt extends MnemError {}

/** The server, or the process that has the memory open, cannot answer now. */
export class Busy extends MnemError {}

/** The server does not answer and cannot be started. */
export class NotRunning extends MnemError {
  constructor(detail: string, hint?: string, cause?: unknown) {
    super({ code: "not_running", detail, hint, cause });
  }
}

/** The program mnem is not installed. */
export class NoProgram extends MnemError {
  constructor(detail: string, hint: string) {
    super({ code: "no_program", detail, hint });
  }
}

/** A record of the operation log. */
export interface Operation {
  op: string;
  command: string[];
  refs?: { ref: string; to?: string | null }[];
}

/**
 * The write was made, but its answer was lost with the server.
 *
 * operation is its record in the operation log, with the commits that branches moved to.
 */
export class AnswerLost extends MnemError {
  readonly operation: Operation;

  constructor(operation: Operation) {
    super({
      code: "answer_lost",
      detail: `the write was made as operation ${operation.op}; its answer was lost with the server`,
      hint: "opShow and show tell what it changed; do not write again",
    });
    this.operation = operation;
  }

  /** The commit that was made, undefined if the write made none. */
  get commit(): string | undefined {
    return this.operation.refs?.map((r) => r.to).find((to) => to?.startsWith("baf")) ?? undefined;
  }
}

const classes: Record<string, typeof MnemError> = {
  invalid_input: InvalidInput, usage: InvalidInput, incomplete: InvalidInput, too_large: InvalidInput,
  key_reused: InvalidInput, not_found: NotFound, redacted: NotFound, conflict: Conflict, mismatch: Conflict,
  precondition_failed: Conflict, refused: Refused, unauthorized: Refused, quota: Refused, corrupt: Corrupt,
  busy: Busy, in_flight: Busy, interrupted: Busy, too_many_requests: Busy,
};

/** Returns the error that a problem document describes. */
export function ofProblem(status: number, body: string): MnemError {
  let problem: Record<string, unknown> | undefined;
  try {
    const read = JSON.parse(body) as Record<string, unknown>;
    problem = (read.error as Record<string, unknown> | undefined) ?? read;
  } catch {
    problem = undefined;
  }
  const code = problem?.code;
  const detail = problem?.detail ?? problem?.message;
  if (!problem || typeof code !== "string" || typeof detail !== "string") {
    const hint = "is this the URL of 'mnem serve'?";
    return new MnemError({ code: "bad_answer", detail: `status ${status}: ${body.slice(0, 200)}`, hint, status });
  }
  const text = (name: string): string | undefined => (typeof problem[name] === "string" ? problem[name] : undefined);
  return new (Object.hasOwn(classes, code) ? classes[code]! : MnemError)({
    code, detail, status, hint: text("hint"), kind: text("kind"), requestId: text("request_id"),
    candidates: problem.candidates as Record<string, unknown>[] | undefined, answer: problem.answer,
  });
}
