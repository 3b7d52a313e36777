// Drawing a net: on a canvas, and as SVG. Both draw the same.

import { Net } from './net';
import { Places } from './layout';

/** Looks are the colours of a drawing. */
export interface Looks { ground: string; line: string; ink: string; types: string[] }

/** View is the visible part of a drawing: a scale, and the position of its origin in pixels. */
export interface View { by: number; x: number; y: number }

export const radius = 7;
const longest = 24; // characters of a name next to its node
const line = 13; // the height of a name, in pixels
const named = 150; // nodes up to which all have their names

/** sizeOf is the radius of a node: groups grow with what they stand for. */
export function sizeOf(net: Net, i: number): number {
  const d = net.dots[i]!;
  return d.group ? Math.min(10 + 2 * Math.sqrt(d.group), 60) : d.start ? 10 : radius;
}

/** scaleOf is how large nodes are in a view. */
function scaleOf(net: Net, view: View): number {
  return Math.max(net.dots.length > named ? 0.3 : 0.6, Math.min(1.4, view.by));
}

/** short is a name as it has room in a drawing. */
export function short(name: string): string {
  return name.length > longest ? name.slice(0, longest - 1) + '…' : name;
}

/** colours gives each type of nodes one of some colours, in the order of their names. */
export function colours(net: Net): Map<string, number> {
  return new Map([...new Set(net.dots.map((d) => d.type))].sort().map((t, i) => [t, i % 6]));
}

/** pairs are the edges as numbers of nodes. */
export function pairs(net: Net): Uint32Array {
  const at = new Map(net.dots.map((d, i) => [d.id, i]));
  return new Uint32Array(net.links.flatMap((l) => [at.get(l.src)!, at.get(l.dst)!]));
}

/** fit is the view that shows all. */
export function fit(places: Places, width: number, height: number): View {
  let low = [0, 0], high = [0, 0];
  for (let i = 0; i < places.length; i += 2) {
    const x = places[i]!, y = places[i + 1]!;
    low = [Math.min(low[0]!, x), Math.min(low[1]!, y)];
    high = [Math.max(high[0]!, x), Math.max(high[1]!, y)];
  }
  const room = [160, 90];
  const by = Math.min(2, width / (high[0]! - low[0]! + room[0]!), height / (high[1]! - low[1]! + room[1]!));
  return { by, x: width / 2 - by * (low[0]! + high[0]!) / 2, y: height / 2 - by * (low[1]! + high[1]!) / 2 };
}

/**
 * paint draws a net. Of many nodes only some have their names: where it began, groups, and the one that is chosen. A name
 * that would lie on another one is left out.
 */
export function paint(c: CanvasRenderingContext2D, net: Net, edges: Uint32Array, places: Places, view: View,
  looks: Looks, chosen: number): void {
  const x = (i: number) => view.x + view.by * places[2 * i]!, y = (i: number) => view.y + view.by * places[2 * i + 1]!;
  c.strokeStyle = looks.line;
  // One pixel of the screen is drawn eight times as fast as anything wider.
  c.lineWidth = net.dots.length > named ? 1 / c.getTransform().a : 1.5;
  c.beginPath();
  for (let i = 0; i < edges.length; i += 2) {
    c.moveTo(x(edges[i]!), y(edges[i]!));
    c.lineTo(x(edges[i + 1]!), y(edges[i + 1]!));
  }
  c.stroke();
  const of = colours(net), scale = scaleOf(net, view);
  net.dots.forEach((d, i) => {
    c.beginPath();
    c.arc(x(i), y(i), scale * sizeOf(net, i), 0, 2 * Math.PI);
    c.fillStyle = looks.ground;
    c.fill();
    c.globalAlpha = d.open ? 1 : 0.35;
    c.fillStyle = c.strokeStyle = looks.types[of.get(d.type)!]!;
    c.fill();
    c.globalAlpha = 1;
    c.lineWidth = i === chosen ? 5 : 2;
    c.stroke();
  });
  const all = net.dots.length <= named || view.by > 1.5;
  const weight = (i: number) => i === chosen ? 3 : net.dots[i]!.start ? 2 : net.dots[i]!.group ? 1 : 0;
  c.font = '12px system-ui, sans-serif';
  c.textAlign = 'center';
  c.lineJoin = 'round';
  c.lineWidth = 3;
  c.strokeStyle = looks.ground;
  c.fillStyle = looks.ink;
  const first = net.dots.map((_, i) => i).sort((a, b) => weight(b) - weight(a) || a - b);
  const taken: [number, number, number][] = []; // the left, right and foot of each name
  for (const i of first) {
    const d = net.dots[i]!;
    if (!all && !weight(i)) continue;
    const name = short(d.name), at = y(i) + scale * sizeOf(net, i) + 13, half = c.measureText(name).width / 2;
    const left = x(i) - half, right = x(i) + half;
    if (taken.some(([l, r, foot]) => left < r && l < right && Math.abs(at - foot) < line)) continue;
    taken.push([left, right, at]);
    c.strokeText(name, x(i), at);
    c.fillText(name, x(i), at);
  }
}

/** hit is the number of the node at a point, -1 for none. */
export function hit(net: Net, places: Places, view: View, px: number, py: number): number {
  const scale = scaleOf(net, view);
  for (let i = net.dots.length - 1; i >= 0; i--) {
    const dx = view.x + view.by * places[2 * i]! - px, dy = view.y + view.by * places[2 * i + 1]! - py;
    const far = Math.max(12, scale * sizeOf(net, i)); // a finger needs 24 pixels
    if (dx * dx + dy * dy <= far * far) return i;
  }
  return -1;
}

/** towards is the number of the node nearest to one in a direction, that one where there is none. */
export function towards(places: Places, from: number, dx: number, dy: number): number {
  let best = from, least = Infinity;
  for (let i = 0; 2 * i < places.length; i++) {
    const x = places[2 * i]! - places[2 * from]!, y = places[2 * i + 1]! - places[2 * from + 1]!;
    const along = x * dx + y * dy, aside = Math.abs(x * dy) + Math.abs(y * dx);
    const cost = along + 2 * aside;
    if (along > 0 && aside <= 2 * along && cost < least) {
      best = i;
      least = cost;
    }
  }
  return best;
}

/** svg draws a net as a document of its own. */
export function svg(net: Net, edges: Uint32Array, places: Places, looks: Looks): string {
  const text = (s: string) => s.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`)
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '\ufffd');
  const n = (v: number) => v.toFixed(1);
  const xs = net.dots.map((_, i) => places[2 * i]!), ys = net.dots.map((_, i) => places[2 * i + 1]!);
  const low = [Math.min(0, ...xs) - 90, Math.min(0, ...ys) - 45];
  const size = [Math.max(0, ...xs) + 90 - low[0]!, Math.max(0, ...ys) + 45 - low[1]!];
  const of = colours(net);
  const out = [`<svg xmlns="http://www.w3.org/2000/svg" width="${n(size[0]!)}" height="${n(size[1]!)}" ` +
    `viewBox="${n(low[0]!)} ${n(low[1]!)} ${n(size[0]!)} ${n(size[1]!)}" font-family="sans-serif" font-size="12" ` +
    'text-anchor="middle">', `<g stroke="${looks.line}" stroke-width="1.5">`];
  net.links.forEach((l, i) => {
    const a = edges[2 * i]!, b = edges[2 * i + 1]!;
    out.push(`<line x1="${n(xs[a]!)}" y1="${n(ys[a]!)}" x2="${n(xs[b]!)}" y2="${n(ys[b]!)}">` +
      `<title>${text(l.type)}</title></line>`);
  });
  out.push('</g>');
  net.dots.forEach((d, i) => {
    const colour = looks.types[of.get(d.type)!]!;
    out.push(`<circle cx="${n(xs[i]!)}" cy="${n(ys[i]!)}" r="${n(sizeOf(net, i))}" fill="${colour}" fill-opacity="` +
      `${d.open ? 1 : 0.35}" stroke="${colour}" stroke-width="2"><title>${text(d.name)}</title></circle>`,
    `<text x="${n(xs[i]!)}" y="${n(ys[i]! + sizeOf(net, i) + 13)}" fill="${looks.ink}">${text(short(d.name))}</text>`);
  });
  return out.join('\n') + '\n</svg>\n';
}
