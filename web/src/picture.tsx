import { h, Fragment } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { Looks, View, colours, fit, hit, paint, pairs, short, svg, towards } from './draw';
import { Places } from './layout';
import { Dot, Net, dot, mermaid } from './net';
import { Text } from './parts';
import { save } from './save';
import { Placed, Task } from './worker';

const script = '/worker.js';

/** start starts the worker. Where a policy asks for it, its address is vouched for: it is the only one. */
function start(): Worker {
  const trust = (window as unknown as {
    trustedTypes?: { createPolicy(name: string, p: object): { createScriptURL(url: string): string } };
  }).trustedTypes;
  if (!trust) return new Worker(script);
  policy ??= trust.createPolicy('mnem', { createScriptURL: () => script });
  return new Worker(policy.createScriptURL(script));
}
let policy: { createScriptURL(url: string): string } | undefined;

/** usePlaces has a worker place the nodes of a net, and calls back for each change. */
function usePlaces(net: Net, edges: Uint32Array, moved: (p: Places, done: boolean) => void): void {
  const worker = useRef<Worker | null>(null), number = useRef(0), call = useRef(moved);
  call.current = moved;
  useEffect(() => () => worker.current?.terminate(), []);
  useEffect(() => {
    const w = worker.current ??= start(), task = ++number.current;
    w.onmessage = (e: MessageEvent<Placed>) => {
      if (e.data.number === task) call.current(e.data.places, e.data.done);
    };
    w.postMessage({
      number: task, ids: net.dots.map((d) => d.id), edges,
      still: matchMedia('(prefers-reduced-motion: reduce)').matches,
    } satisfies Task);
  }, [net]);
}

interface PictureProps { net: Net; onOpen: (d: Dot) => void; name: string }

/** Picture is the drawing of a net: a click or Enter expands a node, arrow keys choose one. */
export function Picture({ net, onOpen, name }: PictureProps) {
  const canvas = useRef<HTMLCanvasElement>(null), probe = useRef<SVGSVGElement>(null);
  const edges = useMemo(() => pairs(net), [net]);
  const shown = useRef({ net, edges, places: new Float64Array(0) as Places }); // what was placed last
  const view = useRef<View>({ by: 1, x: 0, y: 0 }), own = useRef(false); // whether the reader moved the view
  const [chosen, setChosen] = useState('');
  const at = net.dots.findIndex((d) => d.id === chosen);
  const looks = (): Looks => {
    const of = (e: Element) => getComputedStyle(e);
    return {
      ground: of(canvas.current!).backgroundColor, line: of(canvas.current!).borderTopColor,
      ink: of(document.body).color, types: [...probe.current!.children].map((e) => of(e).fill),
    };
  };
  const draw = () => {
    const c = canvas.current;
    if (!c || shown.current.places.length === 0) return;
    const now = shown.current;
    const width = c.clientWidth, height = c.clientHeight, dense = devicePixelRatio;
    if (c.width !== Math.round(width * dense)) c.width = Math.round(width * dense);
    if (c.height !== Math.round(height * dense)) c.height = Math.round(height * dense);
    if (!own.current) view.current = fit(now.places, width, height);
    const to = c.getContext('2d')!;
    to.setTransform(dense, 0, 0, dense, 0, 0);
    to.clearRect(0, 0, width, height);
    paint(to, now.net, now.edges, now.places, view.current, looks(), now.net.dots.findIndex((d) => d.id === chosen));
    c.dataset.drawn = String(Number(c.dataset.drawn ?? 0) + 1);
  };
  const latest = useRef(draw);
  latest.current = draw;
  usePlaces(net, edges, (p, done) => {
    shown.current = { net, edges, places: p };
    latest.current();
    if (done && canvas.current) canvas.current.dataset.rest = String(net.dots.length); // the page may have been left
  });
  useEffect(() => {
    const again = () => latest.current();
    const size = new ResizeObserver(again), dark = matchMedia('(prefers-color-scheme: dark)');
    size.observe(canvas.current!);
    dark.addEventListener('change', again);
    return () => {
      size.disconnect();
      dark.removeEventListener('change', again);
    };
  }, []);
  useEffect(draw, [chosen, net]);
  const zoom = (by: number, x = canvas.current!.clientWidth / 2, y = canvas.current!.clientHeight / 2) => {
    const v = view.current, to = Math.max(0.05, Math.min(8, v.by * by));
    own.current = true;
    view.current = { by: to, x: x - (x - v.x) * to / v.by, y: y - (y - v.y) * to / v.by };
    draw();
  };
  const whole = () => {
    own.current = false;
    draw();
  };
  const open = (i: number) => {
    const d = shown.current.net.dots[i];
    if (!d) return;
    setChosen(d.id);
    onOpen(d);
  };
  const hand = useHand(canvas, view, open, (i) => setChosen(shown.current.net.dots[i]?.id ?? chosen),
    (x, y) => hit(shown.current.net, shown.current.places, view.current, x, y), () => { own.current = true; draw(); });
  const keys: Record<string, [number, number]> = {
    ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1],
  };
  const key = (e: KeyboardEvent) => {
    const way = keys[e.key];
    const here = shown.current, from = here.net.dots.findIndex((d) => d.id === chosen);
    if (way) setChosen(here.net.dots[from < 0 ? 0 : towards(here.places, from, ...way)]?.id ?? '');
    else if (e.key === 'Enter' || e.key === ' ') open(from);
    else if (e.key === '+' || e.key === '=') zoom(1.3);
    else if (e.key === '-') zoom(1 / 1.3);
    else if (e.key === '0') whole();
    else return;
    e.preventDefault();
  };
  const types = [...colours(net)].filter(([t]) => t);
  return (
    <>
      <svg ref={probe} class="sr" aria-hidden="true">{[0, 1, 2, 3, 4, 5].map((n) => <circle class={'l' + n} />)}</svg>
      <div class="drawing">
        <canvas ref={canvas} class="net" tabIndex={0} role="application" aria-roledescription="graph" onKeyDown={key}
          aria-label="Graph. Arrow keys choose a memory, Enter expands it. The list below says the same."
          {...hand} onWheel={(e: WheelEvent) => {
            e.preventDefault();
            zoom(e.deltaY < 0 ? 1.15 : 1 / 1.15, e.offsetX, e.offsetY);
          }} />
        <span class="zoom"><button aria-label="Zoom in" onClick={() => zoom(1.3)}>+</button>
          <button aria-label="Zoom out" onClick={() => zoom(1 / 1.3)}>−</button>
          <button aria-label="Show all" onClick={whole}>⤢</button></span>
      </div>
      <Chosen of={net.dots[at]} />
      <p class="line">
        <span class="dim">{types.map(([t, n]) => (
          <span class="legend"><svg width="12" height="12" aria-hidden="true"><circle class={'l' + n} cx="6" cy="6"
            r="5" /></svg> <Text of={t} /></span>))}</span>
        <Exports net={net} name={name} looks={looks}
          svg={() => svg(shown.current.net, shown.current.edges, shown.current.places, looks())}
          paint={(c) => {
            const { net, edges, places } = shown.current;
            paint(c, net, edges, places, fit(places, pixels, pixels), looks(), -1);
          }} />
      </p>
    </>
  );
}

/** Chosen says which node is chosen. */
function Chosen({ of }: { of?: Dot }) {
  return <p class="chosen" role="status">{!of ? <span class="dim">Click a memory to see what is around it. Drag to move,
    scroll to zoom.</span> : of.group ? `${of.group} memories: ${short(of.name)}`
    : <><span class="type"><Text of={of.type} /></span> <Text of={of.name} />{' '}
      <span class="dim">{of.more > 0 ? `${of.more} more edges are not shown` : ''}</span></>}</p>;
}

type Canvas = { current: HTMLCanvasElement | null };

/** useHand handles pointers: a click on a node opens it, moving over one chooses it, dragging moves the view. */
function useHand(canvas: Canvas, view: { current: View }, click: (i: number) => void, over: (i: number) => void,
  find: (x: number, y: number) => number, moved: () => void) {
  const from = useRef<{ x: number; y: number; far: number } | null>(null);
  return {
    onPointerDown: (e: PointerEvent) => {
      from.current = { x: e.offsetX, y: e.offsetY, far: 0 };
      canvas.current!.setPointerCapture(e.pointerId);
    },
    onPointerMove: (e: PointerEvent) => {
      const f = from.current;
      if (!f) {
        const i = find(e.offsetX, e.offsetY);
        canvas.current!.style.cursor = i < 0 ? '' : 'pointer';
        if (i >= 0) over(i);
        return;
      }
      const dx = e.offsetX - f.x, dy = e.offsetY - f.y;
      f.far += Math.abs(dx) + Math.abs(dy);
      if (f.far < 6) return;
      view.current = { ...view.current, x: view.current.x + dx, y: view.current.y + dy };
      f.x = e.offsetX;
      f.y = e.offsetY;
      moved();
    },
    onPointerUp: (e: PointerEvent) => {
      if (from.current && from.current.far < 6) click(find(e.offsetX, e.offsetY));
      from.current = null;
    },
    onPointerCancel: () => { from.current = null; },
  };
}

const pixels = 2400; // of a side of a picture

interface ExportsProps {
  net: Net; name: string; svg: () => string; looks: () => Looks; paint: (c: CanvasRenderingContext2D) => void;
}

/** Exports are the files that a graph is saved as. */
function Exports({ net, name, svg, looks, paint }: ExportsProps) {
  const file = (ending: string, media: string, content: string | Blob) => save(`${name}.${ending}`, media, content);
  const png = () => {
    const c = document.createElement('canvas');
    c.width = c.height = pixels;
    const to = c.getContext('2d')!;
    to.fillStyle = looks().ground;
    to.fillRect(0, 0, pixels, pixels);
    paint(to);
    c.toBlob((b) => { if (b) file('png', 'image/png', b); });
  };
  return (
    <span>Save as{' '}
      <button onClick={() => file('svg', 'image/svg+xml', svg())}>SVG</button>{' '}
      <button onClick={png}>PNG</button>{' '}
      <button onClick={() => file('dot', 'text/vnd.graphviz', dot(net))}>DOT</button>{' '}
      <button onClick={() => file('mmd', 'text/plain', mermaid(net))}>Mermaid</button></span>
  );
}
