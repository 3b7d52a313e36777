import { h, Fragment } from 'preact';
import { href } from './route';
import { Cid, Keep, Named, Text, Time, Waits, Words, asText, useAsk } from './parts';
import { Page } from './search';
import { Change, Commit, Counts, Diff, Field } from './types';

/** Fields are the fields that a change changed, words marked. */
export function Fields({ of }: { of: Field[] }) {
  return (
    <dl class="fields">
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

/** count says how many were added, changed and removed. */
export function count(c: Counts, what: string): string {
  const parts = (['added', 'changed', 'removed'] as const).filter((k) => c[k] > 0).map((k) => `${c[k]} ${k}`);
  return parts.length ? `${what}: ${parts.join(', ')}` : '';
}

/** Changes are what differs between two commits. */
export function Changes({ of, at }: { of: Diff; at: string }) {
  const nodes = of.nodes.slice(0, most), edges = of.edges.slice(0, most);
  if (of.nodes.length + of.edges.length === 0) return <p class="empty">No differences.</p>;
  return (
    <section class="changes">
      <p>{[count(of.counts.nodes, 'memories'), count(of.counts.edges, 'edges')].filter(Boolean).join(' · ')}</p>
      <ul class="diff">
        {nodes.map((n) => (
          <li key={n.id}>
            <Sign of={n.change} /> <span class="type"><Text of={n.type} /></span>{' '}
            <Named id={n.id} name={n.key} at={n.change === 'removed' ? of.from ?? '' : at} />
            <Fields of={n.fields.filter((f) => f.field !== 'key' && f.field !== 'type')} />
          </li>
        ))}
      </ul>
      {of.nodes.length > most && <p class="dim">{of.nodes.length - most} more memories are not shown.</p>}
      {edges.length > 0 && <h2>Edges</h2>}
      <ul class="diff">
        {edges.map((e) => (
          <li key={e.id}>
            <Sign of={e.change} /> <Named id={e.src} name={e.src_key} at={at} /> → <i><Text of={e.type} /></i> →{' '}
            <Named id={e.dst} name={e.dst_key} at={at} />
            {e.change === 'changed' && <Fields of={e.fields} />}
          </li>
        ))}
      </ul>
      {of.edges.length > most && <p class="dim">{of.edges.length - most} more edges are not shown.</p>}
    </section>
  );
}

/** CommitPage is one commit, and what it changed. */
export function CommitPage({ route }: Page) {
  const shown = useAsk('show', { name: route.part });
  return (
    <Waits of={shown}>{(c) => (
      <article>
        <p class="line dim"><Time of={c.time} /> <span><Text of={c.author} /></span>
          {c.agent && <span>by <Text of={c.agent} /></span>}{c.task && <span>for <Text of={c.task} /></span>}
          <Cid of={c.commit} /></p>
        <h1><Text of={c.message || c.title || 'Commit'} /></h1>
        {c.title && c.message && <p><Text of={c.title} /></p>}
        <p class="line">
          {c.parents.map((p) => <a href={href('commit', p)}>Parent: <Cid of={p} /></a>)}
          <a href={href('search', '', { at: c.commit })}>Search at this commit</a>
          <Keep name={'commit ' + c.commit.slice(-8)} />
        </p>
        <Changes of={c.diff} at={c.commit} />
      </article>
    )}</Waits>
  );
}

/** DiffPage is what differs between any two commits. */
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

function short(rev: string): string {
  return rev.startsWith('baf') ? rev.slice(-8) : rev;
}
