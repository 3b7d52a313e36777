import { h, Fragment } from 'preact';
import { useMemo } from 'preact/hooks';
import { href } from './route';
import { Cid, Id, Keep, Named, Text, Time, Waits, Words, asText, useAsk, useNodes, useShow } from './parts';
import { Page } from './search';
import { Change, Counts, Diff, Field, Shown } from './types';
import { headline, many, short } from './words';

/** Fields are the fields that a change changed, words marked. */
export function Fields({ of }: { of: Field[] }) {
  return (
    <dl class="pairs">
      {of.map((f) => <>
        <dt><Text of={f.field} /></dt>
        <dd>{f.old === null ? <ins><Text of={asText(f.new)} /></ins>
          : f.new === null ? <del><Text of={asText(f.old)} /></del>
            : <Words old={asText(f.old)} now={asText(f.new)} />}</dd>
      </>)}
    </dl>
  );
}

const sign: Record<Change, string> = { added: '+', changed: '±', removed: '−' };

export function Sign({ of }: { of: Change }) {
  return <span class={'sign ' + of}><span aria-hidden="true">{sign[of]}</span><span class="sr">{of}</span></span>;
}

const most = 200; // nodes and edges of a difference that are shown
const asked = 60; // names that are asked for, each by a request of its own

/** count says how many were added, changed and removed. */
export function count(c: Counts, one: string, more: string): string {
  const parts = (['added', 'changed', 'removed'] as const).filter((k) => c[k] > 0);
  return parts.map((k, i) => `${i === 0 ? many(c[k], one, more) : c[k].toLocaleString('en')} ${k}`).join(', ');
}

/** counts says what became of memories and of edges. */
export function counts(c: { nodes: Counts; edges: Counts }): string {
  return [count(c.nodes, 'memory', 'memories'), count(c.edges, 'edge', 'edges')].filter(Boolean).join(' · ');
}

/** says returns what a node of a difference says, '' if the difference does not tell. */
function says(n: Diff['nodes'][number]): string {
  const f = n.fields.find((one) => one.field === 'summary');
  return asText(f?.new ?? f?.old ?? null);
}

// Fields that every node has, or that are shown with it.
const plain = new Set(['key', 'type', 'created', 'updated', 'summary']);

/** telling returns the fields of a change that say more than the name of the node. */
function telling(n: Diff['nodes'][number]): Field[] {
  return n.fields.filter((f) => !plain.has(f.field) || n.change === 'changed' && f.field === 'summary');
}

/** Changes are what differs between two commits. */
export function Changes({ of, at }: { of: Diff; at: string }) {
  const nodes = of.nodes.slice(0, most), edges = of.edges.slice(0, most);
  const known = useMemo(() => new Map(of.nodes.map((n) => [n.id, says(n)])), [of]);
  const missing = useMemo(() => {
    const ids = [...nodes.map((n) => n.id), ...edges.flatMap((e) => [e.src, e.dst])];
    return [...new Set(ids)].filter((id) => !known.get(id)).slice(0, asked);
  }, [of]);
  const got = useNodes(missing, at);
  if (of.nodes.length + of.edges.length === 0) return <p class="empty">No differences.</p>;
  const named = (id: string, key: string | null, change: Change) =>
    <Named id={id} name={key} summary={known.get(id) || got[id]?.summary} at={change === 'removed' ? of.from ?? '' : at} />;
  return (
    <section class="changes">
      <p>{counts(of.counts)}</p>
      <ul class="diff">
        {nodes.map((n) => (
          <li key={n.id}>
            <Sign of={n.change} /> {named(n.id, n.key, n.change)}
            <div class="meta"><span class="type"><Text of={n.type} /></span> <Id of={n.id} />
              {n.key && <code><Text of={n.key} /></code>}</div>
            <Fields of={telling(n)} />
          </li>
        ))}
      </ul>
      {of.nodes.length > most && <p class="dim">{of.nodes.length - most} more memories are not shown.</p>}
      {edges.length > 0 && <details open={nodes.length === 0 || edges.length <= 12}>
        <summary>{count(of.counts.edges, 'edge', 'edges')}</summary>
        <ul class="diff">
          {edges.map((e) => (
            <li key={e.id}>
              <Sign of={e.change} /> {named(e.src, e.src_key, e.change)} → <i><Text of={e.type} /></i> →{' '}
              {named(e.dst, e.dst_key, e.change)}
              {e.change === 'changed' && <Fields of={e.fields} />}
            </li>
          ))}
        </ul>
        {of.edges.length > most && <p class="dim">{of.edges.length - most} more edges are not shown.</p>}
      </details>}
    </section>
  );
}

/** CommitPage is one commit, and what it changed. */
export function CommitPage({ route }: Page) {
  const shown = useShow<Shown>({ name: route.part });
  return (
    <Waits of={shown}>{(c) => (
      <article>
        <h1><Text of={headline(c) || 'Commit'} /></h1>
        <p class="meta"><Cid of={c.commit} /> <Time of={c.time} /> <Text of={c.author} />
          {c.agent && <span>by <Text of={c.agent} /></span>}{c.task && <span>for <Text of={c.task} /></span>}</p>
        {c.title && c.message && <p><Text of={headline(c) === c.title ? c.message : c.title} /></p>}
        <p class="line">
          {c.parents.map((p) => <a href={href('commit', p)}>Parent: <Cid of={p} /></a>)}
          <a href={href('search', '', { at: c.commit })}>Search at this commit</a>
          <Keep name={'commit ' + short(c.commit)} />
        </p>
        <Changes of={c.diff} at={c.commit} />
      </article>
    )}</Waits>
  );
}

/** DiffPage shows the differences between two commits. */
export function DiffPage({ route }: Page) {
  const a = route.query.get('a') ?? 'HEAD~1', b = route.query.get('b') ?? 'HEAD';
  const diff = useAsk('diff', { a, b });
  return (
    <section>
      <h1>From <code><Text of={short(a)} /></code> to <code><Text of={short(b)} /></code></h1>
      <p class="line"><a href={href('diff', '', { a: b, b: a })}>Swap</a>
        <Keep name={`diff ${short(a)} ${short(b)}`} /></p>
      <Waits of={diff}>{(d) => <Changes of={d} at={d.to ?? ''} />}</Waits>
    </section>
  );
}
