import { h, ComponentChildren, Fragment } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { ask } from './api';
import { href } from './route';
import { Layout, Point, layout } from './layout';
import { Dot, Net, Start, begin, dot, grow, maxDots, mermaid, named, only } from './net';
import { Failure, Named, Text, Waits, useAsk } from './parts';
import { drawing, png, save } from './save';
import { Page } from './search';
import { hidden } from './types';

const each = 40; // neighbours in each direction that a click brings
const few = 6; // and of what a question found, each

/** GraphPage is what is around a node, or around what a question found. */
export function GraphPage(page: Page) {
  const query = page.route.query.get('q') ?? '';
  return page.route.part ? <OfNode {...page} /> : query ? <OfSearch {...page} />
    : <p class="empty">A graph begins with a memory or a question. <a href="#/">Search</a></p>;
}

function OfNode({ route, at }: Page) {
  const node = useAsk('get', { node: route.part, at, include: hidden });
  return <Waits of={node}>{(n) => (
    <Graph key={n.id + at} starts={[{ id: n.id, name: named(n), type: n.type }]} at={at} name={named(n)}>
      Around <Named id={n.id} name={n.key} summary={n.summary} at={at} /></Graph>
  )}</Waits>;
}

function OfSearch({ route, at }: Page) {
  const query = route.query.get('q')!;
  const found = useAsk('recall', { query, at, limit: 10 });
  return <Waits of={found}>{(f) => f.items.length === 0 ? <p class="empty">Nothing answers that.</p> : (
    <Graph key={query + at} at={at} name={query}
      starts={f.items.map((i) => ({ id: i.id, name: named({ ...i, summary: null }), type: i.type }))}>
      Around <a href={href('search', '', { q: query, at })}><Text of={query} /></a></Graph>
  )}</Waits>;
}

interface GraphProps { starts: Start[]; at: string; name: string; children: ComponentChildren }

function Graph({ starts, at, name, children }: GraphProps) {
  const [net, setNet] = useState<Net>(() => begin(starts));
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const [failed, setFailed] = useState<Error | null>(null);
  const near = (d: Start, limit: number) => ask('neighbors', { node: d.id, at, both: true, limit });
  const expand = (d: Start) => {
    near(d, each).then((n) => { setFailed(null); setNet((now) => grow(now, d, n)); }, setFailed);
  };
  useEffect(() => {
    // All are there before any is drawn: in the order of what began, whatever came first.
    Promise.all(starts.map((s) => near(s, starts.length > 1 ? few : each))).then(
      (all) => setNet((now) => starts.reduce((net, s, i) => grow(net, s, all[i]!), now)), setFailed);
  }, []);
  const shown = useMemo(() => only(net, hidden, starts.map((s) => s.id)), [net, hidden]);
  const types = useMemo(() => [...new Set(net.links.map((l) => l.type))].sort(), [net]);
  const toggle = (type: string) => {
    const next = new Set(hidden);
    if (!next.delete(type)) next.add(type);
    setHidden(next);
  };
  return (
    <section class="graph">
      <h1>{children}</h1>
      {failed && <Failure of={failed} />}
      <p class="dim" role="status">{shown.dots.length} memories, {shown.links.length} edges.
        {net.dots.length >= maxDots && ` No more than ${maxDots} are drawn.`} Choose one to see what is around it.</p>
      {types.length > 1 && <details>
        <summary>{types.length} types of edges{hidden.size > 0 && `, ${hidden.size} left out`}</summary>
        <fieldset class="line"><legend>Edges</legend>{types.map((t) => (
          <label key={t}><input type="checkbox" checked={!hidden.has(t)} onChange={() => toggle(t)} />{' '}
            <Text of={t} /></label>
        ))}</fieldset>
      </details>}
      <Picture net={shown} onOpen={expand} name={name} began={starts.length} />
      <Words net={shown} at={at} onOpen={expand} />
    </section>
  );
}

const perFrame = 8; // milliseconds of a frame for the layout
const many = 300, seldom = 250; // nodes from which on drawing costs more than placing: then it is drawn each so many ms

/** usePlaces moves nodes to their places, some steps in each frame, so that the page goes on meanwhile. */
function usePlaces(net: Net): Point[] {
  const known = useRef(new Map<string, Point>());
  const [points, setPoints] = useState<Point[]>([]);
  useEffect(() => {
    const at = new Map(net.dots.map((d, i) => [d.id, i]));
    const edges = net.links.map((l): [number, number] => [at.get(l.src)!, at.get(l.dst)!]);
    const l: Layout = layout(net.dots.length, edges, near(net, known.current));
    let frame = 0, drawn = -seldom;
    const still = matchMedia('(prefers-reduced-motion: reduce)').matches;
    const move = () => {
      const until = performance.now() + perFrame;
      let more = true;
      while (more && (still || performance.now() < until)) more = l.steps(1);
      net.dots.forEach((d, i) => known.current.set(d.id, l.points[i]!));
      if (!more || net.dots.length < many || until - drawn > seldom) {
        drawn = until;
        setPoints(l.points.map((p) => ({ ...p })));
      }
      if (more) frame = requestAnimationFrame(move);
    };
    move();
    return () => cancelAnimationFrame(frame);
  }, [net]);
  return points;
}

/** near are the places of nodes that were drawn; new ones begin beside what links them. */
function near(net: Net, known: Map<string, Point>): (Point | undefined)[] {
  if (known.size === 0) return [];
  return net.dots.map((d, i) => {
    const p = known.get(d.id);
    if (p) return p;
    const l = net.links.find((l) => l.src === d.id && known.has(l.dst) || l.dst === d.id && known.has(l.src));
    const by = l && known.get(l.src === d.id ? l.dst : l.src);
    return by && { x: by.x + 30 * Math.cos(i), y: by.y + 30 * Math.sin(i) };
  });
}

const edge = 90; // room around the outermost nodes

/** shortened is a name as it has room in the picture; the whole of it is what the pointer shows. */
function shortened(name: string): string {
  return name.length > 24 ? name.slice(0, 23) + '…' : name;
}

/** Picture is the drawing of a net. */
function Picture({ net, onOpen, name, began }: { net: Net; onOpen: (d: Dot) => void; name: string; began: number }) {
  const points = usePlaces(net);
  const svg = useRef<SVGSVGElement>(null);
  const at = new Map(net.dots.map((d, i) => [d.id, points[i]]));
  const types = [...new Set(net.dots.map((d) => d.type))].sort();
  const xs = points.map((p) => p.x), ys = points.map((p) => p.y);
  const low = { x: Math.min(0, ...xs) - edge, y: Math.min(0, ...ys) - edge / 2 };
  const size = { x: Math.max(0, ...xs) + edge - low.x, y: Math.max(0, ...ys) + edge / 2 - low.y };
  const texts = net.dots.length <= 150;
  const file = (ending: string, media: string, content: string | Blob) => save(`${name}.${ending}`, media, content);
  const picture = () => {
    png(svg.current!, getComputedStyle(document.body).backgroundColor)
      .then((b) => file('png', 'image/png', b), () => undefined); // a browser that draws none: SVG is there
  };
  return (
    <>
      <svg ref={svg} class="net" viewBox={[low.x, low.y, size.x, size.y].map((v) => v.toFixed(1)).join(' ')}
        role="group" aria-label="Graph; the list below says the same">
        {net.links.map((l) => {
          const a = at.get(l.src), b = at.get(l.dst);
          return a && b && <line class="link" key={l.id} x1={a.x} y1={a.y} x2={b.x} y2={b.y}>
            <title>{l.type}</title></line>;
        })}
        {net.dots.map((d, i) => points[i] && (
          <g key={d.id} class={'node' + (d.open ? ' open' : '')} tabIndex={0} role="button"
            aria-label={`${d.type} ${shortened(d.name)}`}
            transform={`translate(${points[i]!.x.toFixed(1)} ${points[i]!.y.toFixed(1)})`}
            onClick={() => onOpen(d)} onKeyDown={(e) => {
              if (e.key === 'Enter' || e.key === ' ') {
                e.preventDefault();
                onOpen(d);
              }
            }}>
            <title>{`${d.type}: ${d.name}`}</title>
            <circle class={'l' + types.indexOf(d.type) % 6} r={i < began ? 10 : 7} />
            {(texts || d.open) && <text y={20}>{shortened(d.name)}</text>}
          </g>
        ))}
      </svg>
      <p class="line">
        <span class="dim">{types.filter(Boolean).map((t) => (
          <span class="legend"><svg width="12" height="12" aria-hidden="true"><circle class={'l' + types.indexOf(t) % 6}
            cx="6" cy="6" r="5" /></svg> <Text of={t} /></span>))}</span>
        <span>Keep it as{' '}
          <button onClick={() => file('svg', 'image/svg+xml', drawing(svg.current!).text)}>SVG</button>{' '}
          <button onClick={picture}>PNG</button>{' '}
          <button onClick={() => file('dot', 'text/vnd.graphviz', dot(net))}>DOT</button>{' '}
          <button onClick={() => file('mmd', 'text/plain', mermaid(net))}>Mermaid</button></span>
      </p>
    </>
  );
}

/** Words says what the picture shows. */
function Words({ net, at, onOpen }: { net: Net; at: string; onOpen: (d: Dot) => void }) {
  const names = new Map(net.dots.map((d) => [d.id, d.name]));
  return (
    <details>
      <summary>In words</summary>
      <ul>{net.dots.slice(0, 300).map((d) => (
        <li key={d.id}><Named id={d.id} name={d.name} at={at} /> <span class="dim"><Text of={d.type} /></span>{' '}
          {d.open ? d.more > 0 && <span class="dim">{d.more} more are not shown</span>
            : <button onClick={() => onOpen(d)}>Expand</button>}
          <ul>{net.links.filter((l) => l.src === d.id).map((l) => (
            <li key={l.id}><i><Text of={l.type} /></i> → <a href={href('node', l.dst, { at })}>
              <Text of={names.get(l.dst) ?? l.dst} /></a></li>
          ))}</ul></li>
      ))}</ul>
      {net.dots.length > 300 && <p class="dim">{net.dots.length - 300} more are not listed.</p>}
    </details>
  );
}
