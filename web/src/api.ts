// What the page asks of the server. Every answer is JSON; every refusal is a Refusal.

import { Answer, Arguments, Verb } from './types';

export type Scope = 'none' | 'read' | 'write' | 'admin';

/** Login holds this browser's rights. */
export interface Login {
  scope: Scope;
  by: 'none' | 'code' | 'token';
  name: string;
  key?: string;
}

/** Refusal is an answer other than success, as RFC 9457 has it. */
export class Refusal extends Error {
  constructor(readonly status: number, readonly code: string, detail: string, readonly hint: string,
    readonly answer: unknown) {
    super(detail);
  }
}

const keyName = 'mnem-view-key';
let key = '';

function readKey(): string {
  try {
    return key || localStorage.getItem(keyName) || '';
  } catch {
    return key; // a browser that keeps nothing: this tab alone is logged in
  }
}

function keepKey(to: string): void {
  key = to;
  try {
    if (to) localStorage.setItem(keyName, to);
    else localStorage.removeItem(keyName);
  } catch {
    // as above
  }
}

/** headers returns the headers of every request: the key, which goes with the cookie. */
export function headers(more?: Record<string, string>): Record<string, string> {
  const k = readKey();
  return k ? { 'Mnem-View': k, ...more } : { ...more };
}

async function refusal(res: Response): Promise<Refusal> {
  try {
    const p = await res.json();
    return new Refusal(res.status, String(p.code), String(p.detail), String(p.hint ?? ''), p.answer);
  } catch {
    return new Refusal(res.status, 'failed', `the server answered with ${res.status}`, '', undefined);
  }
}

/** compact leaves out what is not given. */
export function compact(args: object): Record<string, unknown> {
  const out: Record<string, unknown> = {};
  for (const [name, v] of Object.entries(args)) {
    if (v !== undefined && v !== '' && v !== false && !(Array.isArray(v) && v.length === 0)) out[name] = v;
  }
  return out;
}

/** loggedOut is the event of a login that counts no more. */
export const loggedOut = 'mnem-logged-out';

/** ask asks an operation and returns its answer. Lists of lines come as arrays. */
export async function ask<V extends Verb>(name: V, args: Arguments[V], signal?: AbortSignal): Promise<Answer<V>> {
  let res: Response;
  try {
    res = await fetch(`/v1/${name}`, {
      method: 'POST', signal, credentials: 'same-origin', redirect: 'error',
      headers: headers({ 'Content-Type': 'application/json', Accept: 'application/json' }),
      body: JSON.stringify(compact(args)),
    });
  } catch (err) {
    if ((err as Error).name === 'AbortError') throw err;
    throw new Refusal(0, 'gone', 'the server does not respond', 'start mnem view again', undefined);
  }
  // Bad news, as of a replay that differs, has another status and is an answer all the same.
  const isAnswer = (res.headers.get('Content-Type') ?? '').startsWith('application/json');
  if (res.status === 401) dispatchEvent(new Event(loggedOut));
  if (!res.ok && !isAnswer) throw await refusal(res);
  return await res.json() as Answer<V>;
}

/** whoAmI asks what this browser may do. */
export async function whoAmI(): Promise<Login> {
  const res = await fetch('/login', { headers: headers(), credentials: 'same-origin' });
  if (!res.ok) throw await refusal(res);
  return await res.json() as Login;
}

/** logIn trades a code or a token for a cookie and a key. */
export async function logIn(by: { code: string } | { token: string }): Promise<Login> {
  const res = await fetch('/login', {
    method: 'POST', credentials: 'same-origin', headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(by),
  });
  if (!res.ok) throw await refusal(res);
  const login = await res.json() as Login;
  keepKey(login.key ?? '');
  return login;
}

/** logOut ends the login of this browser. */
export async function logOut(): Promise<Login> {
  const res = await fetch('/login', { method: 'DELETE', headers: headers(), credentials: 'same-origin' });
  keepKey('');
  if (!res.ok) throw await refusal(res);
  return await res.json() as Login;
}

/** takeCode returns the code in a fragment, '' for none. */
export function takeCode(fragment: string): string {
  const m = /^#code=([a-z2-7]{1,100})$/.exec(fragment);
  return m ? m[1]! : '';
}
