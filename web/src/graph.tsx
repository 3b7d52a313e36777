import { h, ComponentChildren, Fragment } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { ask } from './api';
import { go, href } from './route';
import { Dot, Leaves, Net, Start, begin, cut, fold, grow, maxDots, named, only } from './net';
import { Failure, Named, Text, Waits, useAsk, useShow } from './parts';
import { Picture } from './picture';
import { Page } from './search';
import { Node, hidden } from './types';
import { many } from './words';

const each = 200; // neighbours that a click brings
const few = 12; // and of what a question found, each
const members = 150; // of a community that are drawn
const together = 60; // nodes that one press of "Expand all" expands

/** GraphPage shows the surroundings of a node, a question or a community, or the communities to choose from. */
export function GraphPage(page: Page) {
  const q = page.route.query;
  if (page.route.part) return q.get('community') ? <OfCommunity {...page} /> : <OfNode {...page} />;
  return q.get('q') ? <OfSearch {...page} /> : <Overview {...page} />;
}

function OfNode({ route, at }: Page) {
  const node = useShow<Node>({ name: route.part, at, include: hidden });
  return <Waits of={node}>{(n) => (
    <Graph key={n.id + at} starts={[{ id: n.id, name: named(n), type: n.type }]} at={at} name={named(n)} most={each}>
      Around <Named id={n.id} name={n.key} summary={n.summary} at={at} /></Graph>
  )}</Waits>;
}

function OfSearch({ route, at }: Page) {
  const query = route.query.get('q')!;
  const found = useAsk('recall', { query, at, limit: 10 });
  return <Waits of={found}>{(f) => f.items.length === 0 ? <p class="empty">Nothing was found.</p> : (
    <Graph key={query + at} at={at} name={query} most={few}
      starts={f.items.map((i) => ({ id: i.id, name: named({ ...i, summary: null }), type: i.type }))}>
      Around <a href={href('search', '', { q: query, at })}><Text of={query} /></a></Graph>
  )}</Waits>;
}

function OfCommunity({ route, at }: Page) {
  const asked = useAsk('explore', { topic: route.part, communities: true, at, limit: members });
  return <Waits of={asked}>{({ node, communities }) => {
    const c = communities?.[0];
    if (!node || !c) {
      return <p class="empty">This memory is in no community. <a href={href('graph', route.part, { at })}>Its neighbours</a></p>;
    }
    return <Graph key={node.id + at} at={at} name={`community ${c.number}`} most={each} inside starts={c.members.map((m) => (
        { id: m.id, name: named(m), type: m.node_type ?? '' }))}>
        Community {c.number}, {c.size > c.members.length && `${c.members.length} of `}{c.size} memories</Graph>;
  }}</Waits>;
}

/** Overview lists the communities of the memory. */
function Overview({ at, tick }: Page) {
  const asked = useAsk('explore', { communities: true, at, limit: 60 }, tick);
  return (
    <section>
      <h1>Graph</h1>
      <p class="dim">A graph begins with a memory, with the results of a <a href="#/">search</a>, or with a community:
        memories that have more edges among each other than to the rest.</p>
      <Waits of={asked}>{({ communities: list = [], more }) => <>
        {list.length === 0 && <p class="empty">There are no communities: no memories are linked yet.</p>}
        <ul class="rows">{list.map((one) => one.members[0] && (
          <li key={one.number}>
            <span class="grow"><a href={href('graph', one.members[0].id, { at, community: '1' })}>
              <Text of={named(one.members[0])} /></a>
              <div class="meta"><span>with {one.members.slice(1, 3).map((m, i) => <>{i > 0 && ', '}
                <Text of={named(m)} /></>)}</span></div></span>
            <span class="meta">{many(one.size, 'memory', 'memories')}</span>
          </li>
        ))}</ul>
        {more > 0 && <p class="dim">{more.toLocaleString('en')} smaller ones are not listed.</p>}
      </>}</Waits>
    </section>
  );
}

interface GraphProps {
  starts: Start[]; at: string; name: string; most: number; inside?: boolean; children: ComponentChildren;
}

/** groups puts nodes into groups by community until no more are left than a graph shows. */
async function groups(net: Net, at: string): Promise<Net> {
  const tried = new Set<string>();
  while (net.dots.length > maxDots) {
    const next = net.dots.find((d) => !d.open && !d.start && !d.group && !tried.has(d.id));
    if (!next) break;
    tried.add(next.id);
    const [c] = (await ask('explore', { topic: next.id, communities: true, at, limit: 10_000 })).communities ?? [];
    const ids = new Set(c ? c.members.map((m) => m.id) : [next.id]);
    const group = {
      id: `group ${c?.number ?? 0}`, name: c ? `Community ${c.number}` : 'in no community', type: '',
      leads: c && next.id,
    };
    net = fold(net, ids, group);
  }
  return cut(net);
}

function Graph({ starts, at, name, most, inside, children }: GraphProps) {
  const [net, setNet] = useState<Net>(() => begin(starts));
  const [without, setWithout] = useState<Leaves>({ edges: new Set(), types: new Set(), nodes: new Set() });
  const [failed, setFailed] = useState<Error | null>(null);
  const [busy, setBusy] = useState(true);
  const [ready, setReady] = useState(false);
  // One at a time, each beginning with what came of the one before: the order of nodes is that of the asking.
  const add = async (list: Start[], limit: number, edgesOnly = false) => {
    setBusy(true);
    try {
      const all = await Promise.all(list.map((s) => ask('explore', { topic: s.id, at, depth: 1, limit })));
      const now = await new Promise<Net>((done) => setNet((n) => { done(n); return n; }));
      const next = await groups(list.reduce((n, s, i) => grow(n, s, all[i]!, edgesOnly), now), at);
      setNet(next);
      setFailed(null);
    } catch (err) {
      setFailed(err as Error);
    } finally {
      setBusy(false);
      setReady(true);
    }
  };
  const expand = (d: Dot) => {
    if (d.leads) go(href('graph', d.leads, { at, community: '1' }));
    else if (!busy && !d.open && !d.group) void add([d], each);
  };
  useEffect(() => { void add(starts, most, inside); }, []);
  const began = useMemo(() => starts.map((s) => s.id), []);
  const shown = useMemo(() => only(net, without, began), [net, without]);
  const closed = shown.dots.filter((d) => !d.open && !d.group);
  const grouped = shown.dots.filter((d) => d.group).reduce((n, d) => n + d.group!, 0);
  const full = net.dots.length >= maxDots || Object.keys(net.folded ?? {}).length > 0;
  return (
    <section class="graph">
      <h1>{children}</h1>
      {failed && <Failure of={failed} />}
      <div class="line">
        <span class="dim" role="status">{shown.dots.filter((d) => !d.group).length} memories, {shown.links.length} edges
          {grouped > 0 && `; ${grouped} more memories are grouped by community`}
          {full && `. At most ${maxDots.toLocaleString('en')} are drawn`}</span>
        <button disabled={busy || closed.length === 0 || full} onClick={() => add(closed.slice(0, together), each)}>
          Expand all</button>
      </div>
      <Filters net={net} without={without} set={setWithout} />
      {ready && <Picture net={shown} onOpen={expand} name={name} />}
      <Words net={shown} at={at} onOpen={expand} />
    </section>
  );
}

/** Filters choose types of edges and of memories, and when memories were created. */
function Filters({ net, without, set }:
{ net: Net; without: Leaves; set: (change: (l: Leaves) => Leaves) => void }) {
  const edges = useMemo(() => [...new Set(net.links.map((l) => l.type))].sort(), [net]);
  const types = useMemo(() => [...new Set(net.dots.map((d) => d.type).filter(Boolean))].sort(), [net]);
  const toggle = (of: 'edges' | 'types', name: string) => {
    set((l) => {
      const next = new Set(l[of]);
      if (!next.delete(name)) next.add(name);
      return { ...l, [of]: next };
    });
  };
  const [span, setSpan] = useState({ from: '', to: '' });
  const [times, setTimes] = useState<ReadonlyMap<string, string>>(new Map());
  const timed = span.from !== '' || span.to !== '';
  useEffect(() => {
    if (!timed) {
      set((l) => l.nodes.size === 0 ? l : { ...l, nodes: new Set() });
      return;
    }
    const missing = net.dots.filter((d) => !d.group && !times.has(d.id));
    const abort = new AbortController();
    const read = async () => {
      const all = new Map(times);
      for (let i = 0; i < missing.length; i += together) { // some at a time: the server has others to answer
        await Promise.all(missing.slice(i, i + together).map(async (d) => {
          const n = await ask('show', { name: d.id, include: hidden }, abort.signal).catch(() => null) as Node | null;
          all.set(d.id, n?.created ?? '');
        }));
        if (abort.signal.aborted) return;
      }
      if (missing.length > 0) setTimes(all);
      const out = net.dots.filter((d) => {
        const day = all.get(d.id)?.slice(0, 10) ?? '';
        return day !== '' && (span.from !== '' && day < span.from || span.to !== '' && day > span.to);
      });
      set((l) => ({ ...l, nodes: new Set(out.map((d) => d.id)) }));
    };
    void read();
    return () => abort.abort();
  }, [span, net]);
  const left = without.edges.size + without.types.size + (timed ? 1 : 0);
  const day = (name: 'from' | 'to') => <label>{name} <input type="date" value={span[name]}
    onInput={(e) => setSpan({ ...span, [name]: (e.target as HTMLInputElement).value })} /></label>;
  return (
    <details>
      <summary>Filters{left > 0 && ` (${left})`}</summary>
      <div class="filters">
        <fieldset><legend>Edges</legend>{edges.map((t) => (
          <label key={t}><input type="checkbox" checked={!without.edges.has(t)} onChange={() => toggle('edges', t)} />{' '}
            <Text of={t} /></label>
        ))}</fieldset>
        <fieldset><legend>Types</legend>{types.map((t) => (
          <label key={t}><input type="checkbox" checked={!without.types.has(t)} onChange={() => toggle('types', t)} />{' '}
            <Text of={t} /></label>
        ))}</fieldset>
        <fieldset><legend>Created</legend>{day('from')}{day('to')}</fieldset>
      </div>
    </details>
  );
}

/** Words says what the picture shows. */
function Words({ net, at, onOpen }: { net: Net; at: string; onOpen: (d: Dot) => void }) {
  const names = new Map(net.dots.map((d) => [d.id, d.name]));
  return (
    <details>
      <summary>As a list</summary>
      <ul>{net.dots.slice(0, 300).map((d) => (
        <li key={d.id}>{d.group ? <>{d.leads ? <a href={href('graph', d.leads, { at, community: '1' })}><Text of={d.name} /></a>
          : <Text of={d.name} />} <span class="dim">{d.group} memories</span></>
          : <><Named id={d.id} name={d.name} at={at} /> <span class="dim"><Text of={d.type} /></span>{' '}</>}
          {!d.group && (d.open ? d.more > 0 && <span class="dim">{d.more} more edges are not shown</span>
            : <button aria-label={`Expand ${d.name}`} onClick={() => onOpen(d)}>Expand</button>)}
          <ul>{net.links.filter((l) => l.src === d.id).map((l) => (
            <li key={l.id}><i><Text of={l.type} /></i> → <a href={href('node', l.dst, { at })}>
              <Text of={names.get(l.dst) ?? l.dst} /></a></li>
          ))}</ul></li>
      ))}</ul>
      {net.dots.length > 300 && <p class="dim">{net.dots.length - 300} more are not listed.</p>}
    </details>
  );
}
