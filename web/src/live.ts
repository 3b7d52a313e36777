// What is told as it happens: the server's stream of operations.

import { headers } from './api';

export interface Events { ids: string[]; data: string[]; rest: string }

/** events takes whole events off a text of text/event-stream, and returns the rest. */
export function events(text: string): Events {
  const out: Events = { ids: [], data: [], rest: '' };
  const parts = text.split('\n\n');
  out.rest = parts.pop()!;
  for (const part of parts) {
    let id = '', data = '', name = 'message';
    for (const line of part.split('\n')) {
      const m = /^(id|data|event): ?(.*)$/.exec(line);
      if (m?.[1] === 'id') id = m[2]!;
      if (m?.[1] === 'data') data += m[2]!;
      if (m?.[1] === 'event') name = m[2]!;
    }
    if (id) out.ids.push(id);
    if (name === 'operation') out.data.push(data);
  }
  return out;
}

const first = 1000, longest = 30_000; // milliseconds until the server is asked again

/** Told is an event for a follower: an operation, the server is gone or back, the login has ended. */
export type Told = 'changed' | 'gone' | 'back' | 'out';

/**
 * follow tells what happens until the signal. A browser has six connections to a server for all its tabs, so one
 * tab at a time holds the stream and tells the others. Where browsers have no locks, as at addresses beyond this
 * machine without TLS, each tab has a stream while somebody sees it.
 */
export function follow(tell: (what: Told) => void, signal: AbortSignal): void {
  if (!navigator.locks) {
    void stream(tell, signal, true);
    return;
  }
  const others = new BroadcastChannel('mnem');
  others.onmessage = (e: MessageEvent<Told>) => tell(e.data);
  signal.addEventListener('abort', () => others.close());
  const all = (what: Told) => {
    tell(what);
    if (!signal.aborted) others.postMessage(what);
  };
  navigator.locks.request('mnem-watch', { signal }, () => stream(all, signal, false))
    .catch(() => undefined); // the tab is closed
}

/** stream reads the server's stream of operations, and asks for it again where it ends. */
async function stream(tell: (what: Told) => void, signal: AbortSignal, hides: boolean): Promise<void> {
  let last = '', wait = first;
  while (!signal.aborted) {
    if (hides) await visible(true, signal);
    const end = new AbortController();
    signal.addEventListener('abort', () => end.abort());
    if (hides) void visible(false, end.signal).then(() => end.abort());
    try {
      const res = await fetch('/v1/op_watch', {
        headers: headers({ Accept: 'text/event-stream', ...(last ? { 'Last-Event-ID': last } : {}) }),
        credentials: 'same-origin', signal: end.signal,
      });
      if (res.status === 401) {
        tell('out');
        return;
      }
      if (res.status === 404) last = ''; // what came after it was collected
      if (!res.ok || !res.body) throw new Error(String(res.status));
      tell('back');
      wait = first;
      const reader = res.body.pipeThrough(new TextDecoderStream()).getReader();
      for (let rest = ''; ;) {
        const { done, value } = await reader.read();
        if (done) break;
        const e = events(rest + value);
        rest = e.rest.length > 1 << 20 ? '' : e.rest;
        last = e.ids[e.ids.length - 1] ?? last;
        if (e.data.length > 0) tell('changed');
      }
    } catch {
      if (signal.aborted) return;
      if (end.signal.aborted) continue;
      tell('gone');
    }
    end.abort();
    await new Promise((done) => setTimeout(done, wait));
    wait = Math.min(wait * 2, longest);
  }
}

/** visible waits until the page becomes visible, or hidden, or for the signal. */
function visible(is: boolean, signal: AbortSignal): Promise<void> {
  return new Promise((done) => {
    const look = () => {
      if (!signal.aborted && (document.visibilityState === 'visible') !== is) return;
      document.removeEventListener('visibilitychange', look);
      signal.removeEventListener('abort', look);
      done();
    };
    document.addEventListener('visibilitychange', look);
    signal.addEventListener('abort', look);
    look();
  });
}
