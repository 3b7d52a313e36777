// The part of the memory that a graph shows: nodes and edges that were asked for, in the order in which
// they came.

import { Neighbor, Neighbors } from './types';
import { plain } from './words';

export interface Dot { id: string; name: string; type: string; more: number; open: boolean }

export interface Link { id: string; type: string; src: string; dst: string }

export interface Net { dots: Dot[]; links: Link[] }

/** Start is a node that a graph begins with. */
export interface Start { id: string; name: string; type: string }

/** begin is a net of nodes that nothing was asked of yet. */
export function begin(starts: Start[]): Net {
  return { dots: starts.map((s) => ({ ...s, more: 0, open: false })), links: [] };
}

/** maxDots is how many nodes a graph shows. */
export const maxDots = 2000;

const longest = 80; // characters of a name

/** named is what a node is called in a graph. */
export function named(n: { key: string | null; summary: string | null; id: string }): string {
  const text = plain(n.key || n.summary || n.id.slice(0, 8));
  return text.length > longest ? text.slice(0, longest - 1) + '…' : text;
}

/** grow adds the neighbours of a node. What is there stays where it is in the order. */
export function grow(net: Net, around: Start, near: Neighbors): Net {
  const dots = net.dots.map((d) => ({ ...d }));
  const at = new Map(dots.map((d, i) => [d.id, i]));
  const put = (id: string, name: string, type: string) => {
    if (at.has(id) || dots.length >= maxDots) return;
    at.set(id, dots.length);
    dots.push({ id, name, type, more: 0, open: false });
  };
  put(around.id, around.name, around.type);
  for (const n of [...near.out, ...near.in]) put(n.id, named(n), n.node_type ?? '');
  const centre = dots[at.get(around.id) ?? -1];
  if (centre) {
    centre.open = true;
    centre.more = near.more_out + near.more_in;
  }
  const links = [...net.links], known = new Set(links.map((l) => l.id));
  const link = (e: Neighbor, src: string, dst: string) => {
    if (known.has(e.edge) || !at.has(src) || !at.has(dst)) return;
    known.add(e.edge);
    links.push({ id: e.edge, type: e.type, src, dst });
  };
  for (const e of near.out) link(e, around.id, e.id);
  for (const e of near.in) link(e, e.id, around.id);
  return { dots, links };
}

/** only is the part of a net without some types of edges, and the nodes that the others reach from where it began. */
export function only(net: Net, hidden: ReadonlySet<string>, began: string[]): Net {
  const links = net.links.filter((l) => !hidden.has(l.type));
  const beside = new Map<string, string[]>();
  for (const l of links) {
    beside.set(l.src, [...beside.get(l.src) ?? [], l.dst]);
    beside.set(l.dst, [...beside.get(l.dst) ?? [], l.src]);
  }
  const there = new Set(net.dots.map((d) => d.id));
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
