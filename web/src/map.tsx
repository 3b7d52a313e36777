import { h, Fragment } from 'preact';
import { useState } from 'preact/hooks';
import { href } from './route';
import { Copy, Id, Named, Text, Waits, useAsk } from './parts';
import { Page } from './search';
import { MapEntry, Mapped } from './types';
import { headline, many, short } from './words';

/** MapPage shows the memory by its digests: the text of one, what is below it, and what changed since a commit. */
export function MapPage({ route, at, tick }: Page) {
  const since = route.query.get('since') ?? '';
  const map = useAsk('map', { scope: route.part || 'root', at, depth: 1, budget: 20_000 }, tick);
  return (
    <section>
      <Waits of={map}>{(m) => !m.digest && m.entries.length === 0
        ? <><h1>Map</h1><p class="empty">Nothing to summarise yet. A digest is made of memories; it needs no model.</p></>
        : <><Shown of={m} at={at} /><Since route={route} at={at} since={since} tick={tick} /></>}</Waits>
    </section>
  );
}

/** Shown is one digest: its sentences, each with the memory that it is from, and what is below. A folder has none. */
function Shown({ of: m, at }: { of: Mapped; at: string }) {
  const d = m.digest;
  const top = d ?? m.entries[0]!;
  const parts = m.entries.filter((e) => e.depth > 0 && e.kind !== 'memory');
  const members = m.entries.filter((e) => e.kind === 'memory');
  return (
    <>
      {top.kind !== 'root' && <nav aria-label="Above">{above(top, d?.above ?? []).map((a) => (
        <span key={a}><a href={to(a, at)}>{a === 'root' ? 'The whole memory' : <Text of={a} />}</a> › </span>
      ))}</nav>}
      <h1><Text of={name(top)} /></h1>
      <p class="line dim">
        <span class="type">{top.kind}</span>
        <span>{many(top.facts, 'memory', 'memories')}</span>
        {d && d.expired.length > 0 && <span>{d.expired.length} expired since</span>}
        {d && d.refused > 0 && <span class="mark">{d.refused} withheld: they look like credentials</span>}
        <Copy text={() => d ? d.text.map((s) => s.text ?? '').join('\n') + '\n' : m.printed ?? ''}>Copy as prompt text</Copy>
      </p>
      {d && d.text.length > 0 && <ul class="digest">{d.text.map((s, i) => (
        <li key={i}><a href={href('node', s.fact, { at })}><Text of={s.text ?? ''} /></a></li>
      ))}</ul>}
      {parts.length > 0 && <>
        <h2>Parts</h2>
        <ul class="rows titles">{parts.map((c) => (
          <li key={c.id}>
            <span class="grow"><a href={to(c.name, at)}><Text of={name(c)} /></a></span>
            <span class="meta"><code><Text of={c.name ?? ''} /></code> <span class="type">{c.kind}</span>{' '}
              <span>{many(c.facts, 'memory', 'memories')}</span></span>
          </li>
        ))}</ul>
      </>}
      {members.length > 0 && <>
        <h2>Memories here</h2>
        <ul class="rows titles">{members.map((e) => (
          <li key={e.id}><span class="grow"><Named id={e.id ?? ''} name={e.name} summary={e.title} at={at} /></span>
            <span class="meta"><Id of={e.id ?? ''} /></span></li>
        ))}</ul>
      </>}
      {m.more > 0 && <p class="dim">and {m.more.toLocaleString('en')} more</p>}
    </>
  );
}

/** above names what a digest is in, the whole memory first. A cluster's name begins with that of its scope. */
function above(d: Top, list: (string | null)[]): string[] {
  const scope = d.kind === 'cluster' ? (d.name ?? '').replace(/\/[^/]*$/, '') : '';
  const names = [...list].reverse().map((a) => a ?? '');
  return [...new Set(['root', ...names, scope])].filter(Boolean);
}

/** Since asks what changed below since another commit. */
function Since({ route, at, since, tick }: { route: Page['route']; at: string; since: string; tick: number }) {
  const log = useAsk('log', { at, limit: 50 }, tick);
  return (
    <section aria-labelledby="since">
      <h2 id="since">What changed</h2>
      <p><label>Since{' '}
        <select value={since} onChange={(e) => {
          location.hash = href('map', route.part, { at, since: (e.target as HTMLSelectElement).value });
        }}>
          <option value="">choose a commit</option>
          {(log.data ?? []).slice(1).map((c) => (
            <option value={c.commit} key={c.commit}>{new Date(c.time).toLocaleString(undefined,
              { dateStyle: 'medium', timeStyle: 'short' })} · {(headline(c) || short(c.commit)).slice(0, 60)}</option>
          ))}
          {since && !(log.data ?? []).some((c) => c.commit === since) && <option value={since}>{short(since)}</option>}
        </select></label></p>
      {since && <Changes part={route.part} at={at} since={since} tick={tick} />}
    </section>
  );
}

function Changes({ part, at, since, tick }: { part: string; at: string; since: string; tick: number }) {
  const [budget, setBudget] = useState(2000);
  const map = useAsk('map', { scope: part || undefined, at, since, depth: 8, budget }, tick);
  return <Waits of={map}>{(m) => <>
    {m.since && <p class="line"><span>{m.since.added} came, {m.since.changed} changed, {m.since.removed} went
      {m.since.more ? ', and more' : ''}</span><Copy text={() => m.printed ?? ''}>Copy as prompt text</Copy></p>}
    <ul class="rows">{m.entries.filter((e) => e.changed.length > 0).map((e) => (
      <li key={e.id}><span class="grow"><a href={to(e.name, at)}><Text of={name(e)} /></a>
        <ul>{e.changed.map((c) => <Changed key={c.id + c.state} of={c} at={at} since={since} />)}</ul></span></li>
    ))}</ul>
    {m.more > 0 && budget < 100_000 && <button onClick={() => setBudget(Math.min(budget * 4, 100_000))}>Show more</button>}
  </>}</Waits>;
}

/** Changed is one memory that came, changed or went: what went is shown as it was. */
function Changed({ of: c, at, since }: { of: Mapped['entries'][number]['changed'][number]; at: string; since: string }) {
  const signs = { added: '+', changed: '±', removed: '−' } as Record<string, string>;
  return <li><span class={'sign ' + c.state} title={c.state}>{signs[c.state] ?? c.state}</span>{' '}
    <Named id={c.id} summary={c.title} at={c.state === 'removed' ? since : at} /></li>;
}

function to(digest: string | null, at: string): string {
  return href('map', !digest || digest === 'root' ? '' : digest, { at });
}

type Top = Pick<MapEntry, 'kind' | 'name' | 'title'>;

function name(d: Top): string {
  return d.kind === 'root' ? 'The whole memory' : d.title || d.name || d.kind;
}
