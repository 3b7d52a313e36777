// Where the nodes of a graph are drawn, by d3-force. The same graph has the same picture: nodes begin at places that
// their order decides, every step is done in the same order, and d3-force draws its numbers from a fixed seed.

import { Body, forceCollide, forceLink, forceManyBody, forceSimulation, forceX, forceY } from 'd3-force';

/** Places are x and y of each node in turn. */
export type Places = Float64Array;

export interface Layout {
  /** step moves everything some steps on, and reports whether there are more. */
  step(n: number): boolean;
  places(): Places;
}

const apart = 90; // how far linked nodes want to be from each other
const dense = 600; // nodes up to which names have room, so that it pays to keep them apart

/** layout places nodes; edges has their numbers in pairs. NaN is a place that is not known yet; others stay near. */
export function layout(count: number, edges: ArrayLike<number>, known: Places): Layout {
  const bodies: Body[] = [];
  let some = false;
  for (let i = 0; i < count; i++) {
    const x = known[2 * i]!, y = known[2 * i + 1]!;
    bodies.push(isNaN(x) ? {} : { x, y });
    some = some || !isNaN(x);
  }
  const bonds = [];
  for (let i = 0; i + 1 < edges.length; i += 2) bonds.push({ source: edges[i]!, target: edges[i + 1]! });
  const s = forceSimulation(bodies).stop()
    .force('link', forceLink(bonds).distance(apart))
    .force('charge', forceManyBody().strength(-400).distanceMax(8 * apart).theta(1.1))
    .force('x', forceX(0).strength(0.04)).force('y', forceY(0).strength(0.04));
  if (count <= dense) s.force('apart', forceCollide(26));
  if (some) s.alpha(0.4);
  return {
    step(n) {
      for (; n > 0 && s.alpha() >= s.alphaMin(); n--) s.tick();
      return s.alpha() >= s.alphaMin();
    },
    places() {
      const out = new Float64Array(2 * count);
      bodies.forEach((b, i) => {
        out[2 * i] = b.x!;
        out[2 * i + 1] = b.y!;
      });
      return out;
    },
  };
}
