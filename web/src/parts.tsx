import { h, Fragment, ComponentChildren } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { Refusal, ask } from './api';
import { called } from './markdown';
import { report } from './report';
import { href } from './route';
import { save } from './save';
import { Answer, Arguments, Json, Node, Verb, hidden } from './types';
import { difference, seen, short } from './words';

/** Asked is the state of a request; the last answer stays until the next one arrives. */
export interface Asked<T> { data: T | null; failed: Error | null; busy: boolean }

/** useAsk asks an operation whenever its arguments or the tick change; name '' asks nothing. */
export function useAsk<V extends Verb>(name: V | '', args: Arguments[V], tick = 0): Asked<Answer<V>> {
  type T = Answer<V>;
  const key = name + JSON.stringify(args);
  const [state, setState] = useState<Asked<T> & { key: string }>({ data: null, failed: null, busy: true, key: '' });
  useEffect(() => {
    if (!name) return;
    const abort = new AbortController();
    setState((s) => ({ data: s.key === key ? s.data : null, failed: null, busy: true, key }));
    ask(name, args, abort.signal).then(
      (data) => setState({ data, failed: null, busy: false, key }),
      (failed) => { if (!abort.signal.aborted) setState({ data: null, failed, busy: false, key }); });
    return () => abort.abort();
  }, [key, tick]);
  return name && state.key === key ? state : { data: null, failed: null, busy: !!name };
}

/** useNodes gets nodes of a commit, for the further contents of cards. */
export function useNodes(ids: string[], commit: string): Record<string, Node> {
  const [nodes, setNodes] = useState<Record<string, Node>>({});
  const key = commit + ids.join();
  useEffect(() => {
    const abort = new AbortController();
    for (const id of ids) {
      ask('show', { name: id, at: commit, include: hidden }, abort.signal).then(
        (n) => setNodes((all) => ({ ...all, [id]: n as Node })),
        () => undefined); // the card shows what was found, and no more
    }
    return () => abort.abort();
  }, [key]);
  return nodes;
}

/** useShow reads a record whose form the caller knows; null reads nothing. */
export function useShow<T>(args: Arguments['show'] | null, tick = 0): Asked<T> {
  return useAsk(args ? 'show' : '', args ?? {}, tick) as unknown as Asked<T>;
}

/** Failure says what was refused, and what to do. */
export function Failure({ of }: { of: Error }) {
  const hint = of instanceof Refusal ? of.hint : '';
  return (
    <div class="note bad" role="alert">
      <p><Text of={of.message} /></p>
      {hint && <p class="dim"><Text of={hint} /></p>}
    </div>
  );
}

/** Waits shows what was asked: that it is awaited, failed, or by its children what it is. */
export function Waits<T>({ of, children }: { of: Asked<T>; children: (data: T) => ComponentChildren }) {
  if (of.failed) return <Failure of={of.failed} />;
  if (!of.data) return <p class="dim" role="status">Reading…</p>;
  return <>{children(of.data)}</>;
}

const shown = 20_000; // characters of a text before the rest is asked for

/** Text shows a text of the memory as text: whatever it holds is neither markup nor order of what is around it. */
export function Text({ of, block }: { of: string; block?: boolean }) {
  const [all, setAll] = useState(false);
  const part = all || of.length <= shown ? of : of.slice(0, shown);
  const pieces = useMemo(() => seen(part), [part]);
  const inside = pieces.map((p) => p.code
    ? <span class="code" title="an invisible or direction-changing character">{p.text}</span> : p.text);
  const more = part.length < of.length &&
    <button class="link" onClick={() => setAll(true)}>… show all {of.length.toLocaleString('en')} characters</button>;
  return block ? <div class="text" dir="auto">{inside}{more}</div> : <bdi class="text">{inside}{more}</bdi>;
}

/** Words shows the difference of two texts with the words that changed marked. */
export function Words({ old, now }: { old: string; now: string }) {
  const pieces = useMemo(() => difference(old, now), [old, now]);
  return (
    <div class="text" dir="auto">
      {pieces.map((p) => p.kind === 'same' ? <Text of={p.text} />
        : p.kind === 'old' ? <del><Text of={p.text} /></del> : <ins><Text of={p.text} /></ins>)}
    </div>
  );
}

/** Time is a time as this reader writes times, with the exact one behind it. */
export function Time({ of, day }: { of: string; day?: boolean }) {
  const d = new Date(of);
  if (isNaN(d.getTime())) return <Text of={of} />;
  const text = day ? d.toLocaleDateString(undefined, { dateStyle: 'medium' })
    : d.toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' });
  return <time dateTime={of} title={of}>{text}</time>;
}

/** Cid is a CID as the command line prints it, the whole of it behind. */
export function Cid({ of }: { of: string }) {
  return <code class="cid" title={of}>{short(of)}</code>;
}

/** Id is the id of a memory as the command line prints it. */
export function Id({ of }: { of: string }) {
  return <code class="cid" title={of}>{of.slice(0, 8)}</code>;
}

/** Named links to a node by what it says, or its key, or its id. */
export function Named(p: { id: string; name?: string | null; summary?: string | null; at?: string; whole?: boolean }) {
  const text = p.summary || p.name || p.id.slice(0, 8);
  return (
    <a href={href('node', p.id, { at: p.at })} title={p.name ?? undefined}>
      <Text of={p.whole ? text : called(text, 200)} />
    </a>
  );
}

/** Band says how much an item answers the question. */
export function Band({ of }: { of: string }) {
  const names: Record<string, string> = { answer: 'answer', maybe: 'maybe', rest: 'related' };
  return <span class={'band ' + of}>{names[of] ?? of}</span>;
}

/** Copy copies a text, and says that it did. */
export function Copy({ text, children }: { text: () => string; children: ComponentChildren }) {
  const [said, setSaid] = useState('');
  const timer = useRef(0);
  const copy = () => {
    navigator.clipboard.writeText(text()).then(() => setSaid('Copied'), () => setSaid('Not copied'));
    clearTimeout(timer.current);
    timer.current = window.setTimeout(() => setSaid(''), 2000);
  };
  return <span><button onClick={copy}>{children}</button> <span role="status" class="dim">{said}</span></span>;
}

/** asText is a value of a property as people read it. */
export function asText(v: Json): string {
  if (Array.isArray(v) && v.every((one) => typeof one === 'string')) return v.join(', ');
  return typeof v === 'string' ? v : v === null ? '' : JSON.stringify(v, null, typeof v === 'object' ? 1 : 0);
}

/** Command is a command line to type. */
export function Command({ children }: { children: string }) {
  return <code class="command">{children}</code>;
}

/** Keep keeps what the page shows as one HTML file. */
export function Keep({ name }: { name: string }) {
  return <button onClick={() => save(name + '.html', 'text/html', report(document.getElementById('main')!, name))}>
    Save as HTML</button>;
}
