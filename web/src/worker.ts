// The worker that places nodes while the page goes on. It is given a graph, and tells places until they are at rest.
// A graph that comes earlier than that begins where the one before would have come to rest: what is drawn depends on
// the graphs that were asked for, and not on when.

import { Layout, Places, layout } from './layout';

/** Task is a graph to place; edges are numbers of nodes in pairs. With still only the last places are told. */
export interface Task { number: number; ids: string[]; edges: Uint32Array; still: boolean }

/** Placed are places of a task. */
export interface Placed { number: number; places: Places; done: boolean }

const slice = 12; // milliseconds of work before places are told

const port = self as unknown as {
  onmessage: (e: MessageEvent<Task>) => void;
  postMessage(p: Placed, transfer: Transferable[]): void;
};
const known = new Map<string, [number, number]>();
let now: { task: Task; layout: Layout } | null = null;

/** finish brings the graph under way to rest, and keeps its places. */
function finish(): void {
  if (!now) return;
  while (now.layout.step(10));
  const p = now.layout.places();
  now.task.ids.forEach((id, i) => known.set(id, [p[2 * i]!, p[2 * i + 1]!]));
  now = null;
}

/** before returns the positions of placed nodes; new ones start next to a linked node, and NaN is any position. */
function before(task: Task): Places {
  const out = new Float64Array(2 * task.ids.length).fill(NaN);
  if (known.size === 0) return out;
  const beside = new Map<string, string>();
  for (let i = 0; i < task.edges.length; i += 2) {
    const a = task.ids[task.edges[i]!]!, b = task.ids[task.edges[i + 1]!]!;
    if (known.has(b)) beside.set(a, b);
    if (known.has(a)) beside.set(b, a);
  }
  task.ids.forEach((id, i) => {
    const by = known.get(beside.get(id) ?? '');
    const at = known.get(id) ?? (by && [by[0] + 30 * Math.cos(i), by[1] + 30 * Math.sin(i)]);
    if (at) out.set(at, 2 * i);
  });
  return out;
}

function work(): void {
  if (!now) return;
  const until = performance.now() + slice, { task, layout } = now;
  let more = true;
  while (more && (task.still || performance.now() < until)) more = layout.step(1);
  const places = layout.places();
  if (more) setTimeout(work, 0);
  else finish();
  port.postMessage({ number: task.number, places, done: !more }, [places.buffer]);
}

port.onmessage = (e) => {
  const idle = now === null;
  finish();
  now = { task: e.data, layout: layout(e.data.ids.length, e.data.edges, before(e.data)) };
  if (idle) work(); // else it is called by itself
};
