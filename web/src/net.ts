// The part of the memory that a graph shows: nodes and edges that were asked for, in the order in which
// they came.

import { Explored, Lead } from './types';
import { called } from './markdown';
import { plain } from './words';

/** Dot is a node of a graph, or a group that stands for as many as it says. */
export interface Dot {
  id: string; name: string; type: string; more: number; open: boolean; start?: boolean; group?: number;
  /** a memory of the community that a group is of */
  leads?: string;
}

export interface Link { id: string; type: string; src: string; dst: string }

/** Net is a part of a memory. What was put into a group is in folded, with the id of the group. */
export interface Net { dots: Dot[]; links: Link[]; folded?: Readonly<Record<string, string>> }

/** Start is a node that a graph begins with. */
export interface Start { id: string; name: string; type: string; leads?: string }

/** begin is a net of nodes that nothing was asked of yet. */
export function begin(starts: Start[]): Net {
  return { dots: starts.map((s) => ({ ...s, more: 0, open: false, start: true })), links: [] };
}

/** maxDots is how many nodes a graph shows; more are put into groups. */
export const maxDots = 2000;

const longest = 80; // characters of a name

/** named returns a node's label in a graph. */
export function named(n: { key: string | null; summary: string | null; id: string }): string {
  return plain(called(n.summary || n.key || n.id.slice(0, 8), longest));
}

/** grow adds the neighbours of a node, or only its edges to what is there. What is there keeps its place in the order. */
export function grow(net: Net, around: Start, near: Explored, edgesOnly = false): Net {
  const dots = net.dots.map((d) => ({ ...d }));
  const at = new Map(dots.map((d, i) => [d.id, i]));
  const folded = net.folded ?? {};
  const put = (id: string, name: string, type: string) => {
    if (at.has(id) || folded[id]) return;
    at.set(id, dots.length);
    dots.push({ id, name, type, more: 0, open: false });
  };
  put(around.id, around.name, around.type);
  if (!edgesOnly) for (const n of near.nodes) put(n.id, named(n), n.type);
  const centre = dots[at.get(around.id) ?? -1];
  const links = [...net.links], known = new Set(links.map((l) => l.id));
  let left = near.more + near.cut;
  const link = (e: Lead) => {
    const [from, to] = [folded[e.from] ?? e.from, folded[e.to] ?? e.to];
    const [src, dst] = e.forward ? [from, to] : [to, from];
    if (!at.has(src) || !at.has(dst)) left++;
    else if (!known.has(e.edge)) {
      known.add(e.edge);
      links.push({ id: e.edge, type: e.type, src, dst });
    }
  };
  for (const n of near.nodes) for (const r of n.reasons) if (r.edge) link(r.edge);
  if (centre) {
    centre.open = !edgesOnly || left === 0;
    centre.more = left;
  }
  return { dots, links, folded };
}

/** fold puts members into a group, but those that are expanded or that the graph began with. */
export function fold(net: Net, members: ReadonlySet<string>, group: Start): Net {
  const goes = new Set(net.dots.filter((d) => members.has(d.id) && !d.open && !d.start && !d.group).map((d) => d.id));
  const is = net.dots.find((d) => d.id === group.id);
  if (goes.size < (is ? 1 : 2)) return net;
  const size = goes.size + (is?.group ?? 0);
  const dots = net.dots.filter((d) => !goes.has(d.id) && d !== is);
  dots.push({ ...group, more: 0, open: false, group: size });
  const folded = { ...net.folded };
  for (const id of goes) folded[id] = group.id;
  const pairs = new Set<string>(), links: Link[] = [];
  for (const l of net.links) {
    const src = folded[l.src] ?? l.src, dst = folded[l.dst] ?? l.dst;
    const pair = `${l.type} ${src} ${dst}`;
    if (src === l.src && dst === l.dst) links.push(l);
    else if (src !== dst && !pairs.has(pair)) {
      pairs.add(pair);
      links.push({ ...l, src, dst });
    }
  }
  return { dots, links, folded };
}

/** cut is a net without what is more than a graph shows. */
export function cut(net: Net): Net {
  if (net.dots.length <= maxDots) return net;
  const dots = net.dots.slice(0, maxDots), there = new Set(dots.map((d) => d.id));
  return { ...net, dots, links: net.links.filter((l) => there.has(l.src) && there.has(l.dst)) };
}

/** Leaves says what of a net is not shown. */
export interface Leaves { edges: ReadonlySet<string>; types: ReadonlySet<string>; nodes: ReadonlySet<string> }

/** only is the part of a net without some types and nodes, and of that what is reached from where it began. */
export function only(net: Net, without: Leaves, began: string[]): Net {
  const there = new Set(net.dots.filter((d) => began.includes(d.id) ||
    !without.types.has(d.type) && !without.nodes.has(d.id)).map((d) => d.id));
  const links = net.links.filter((l) => !without.edges.has(l.type) && there.has(l.src) && there.has(l.dst));
  const beside = new Map<string, string[]>();
  const add = (a: string, b: string) => {
    const list = beside.get(a);
    if (list) list.push(b);
    else beside.set(a, [b]);
  };
  for (const l of links) {
    add(l.src, l.dst);
    add(l.dst, l.src);
  }
  const kept = new Set(began.filter((id) => there.has(id)));
  for (const id of kept) for (const next of beside.get(id) ?? []) kept.add(next); // a set goes on to what is added
  return {
    dots: net.dots.filter((d) => kept.has(d.id)), links: links.filter((l) => kept.has(l.src) && kept.has(l.dst)),
  };
}

/** dot writes a net as Graphviz reads it. */
export function dot(net: Net): string {
  const quote = (s: string) => '"' + s.replace(/[\\"]/g, '\\$&').replace(/[\u0000-\u001f]/g, ' ') + '"';
  return ['digraph memory {', ...net.dots.map((d) => `  ${quote(d.id)} [label=${quote(d.name)}];`),
    ...net.links.map((l) => `  ${quote(l.src)} -> ${quote(l.dst)} [label=${quote(l.type)}];`), '}', ''].join('\n');
}

/** mermaid writes a net as Mermaid reads it. Signs that would end a text are written by their numbers. */
export function mermaid(net: Net): string {
  const quote = (s: string) => '"' + s.replace(/[^\p{L}\p{N} .,:/_-]/gu, (c) => `#${c.codePointAt(0)};`) + '"';
  const number = new Map(net.dots.map((d, i) => [d.id, `n${i}`]));
  return ['graph LR', ...net.dots.map((d) => `  ${number.get(d.id)}[${quote(d.name)}]`),
    ...net.links.map((l) => `  ${number.get(l.src)} -->|${quote(l.type)}| ${number.get(l.dst)}`), ''].join('\n');
}
