import { done, same } from '../check';
import { layout } from '../../src/layout';
import { Net, begin, dot, grow, mermaid, only } from '../../src/net';
import { Neighbor, Neighbors } from '../../src/types';

const neighbor = (id: string, type: string): Neighbor =>
  ({ type, edge: type + id, id, key: id, node_type: 'T', summary: null, weight: 1 });
const near = (id: string, out: Neighbor[], back: Neighbor[] = []): Neighbors =>
  ({ commit: null, id, key: id, out, in: back, more_out: 1, more_in: 2 });

const none: Net = { dots: [], links: [] };
const one = grow(none, { id: 'a', name: 'a', type: 'T' }, near('a', [neighbor('b', 'knows'), neighbor('c', 'owns')]));
same(one.dots.map((d) => [d.id, d.open, d.more]), [['a', true, 3], ['b', false, 0], ['c', false, 0]], 'around one');
same(one.links.map((l) => l.src + l.type + l.dst), ['aknowsb', 'aownsc'], 'links');
const back = { ...neighbor('a', 'knows'), edge: 'knowsb' };
const two = grow(one, one.dots[1]!, near('b', [neighbor('d', 'knows')], [back]));
same(two.dots.map((d) => d.id).join(''), 'abcd', 'the order stays');
same(two.links.length, 3, 'an edge that is known from its other end');
same(none.dots.length, 0, 'what was given is not changed');
same(only(two, new Set(['owns']), ['a']).dots.map((d) => d.id).join(''), 'abd', 'without a type');
same(only(two, new Set(['knows', 'owns']), ['a', 'x']).dots.map((d) => d.id).join(''), 'a', 'without all');
same(only(two, new Set(['knows', 'owns']), ['c', 'a']).dots.map((d) => d.id).join(''), 'ac', 'two beginnings');
same(begin(one.dots).links.length, 0, 'a beginning');
same(only(none, new Set(), ['a']).dots.length, 0, 'nothing');

const hostile: Net = {
  dots: [{ id: 'a', name: 'say "hi" \\ ]\nend', type: '', more: 0, open: true }],
  links: [{ id: 'e', type: '|x"', src: 'a', dst: 'a' }],
};
same(dot(hostile),
  'digraph memory {\n  "a" [label="say \\"hi\\" \\\\ ] end"];\n  "a" -> "a" [label="|x\\""];\n}\n', 'DOT');
same(mermaid(hostile), 'graph LR\n  n0["say #34;hi#34; #92; #93;#10;end"]\n  n0 -->|"#124;x#34;"| n0\n', 'Mermaid');

const ring = (n: number) => Array.from({ length: n }, (_, i): [number, number] => [i, (i + 1) % n]);
const run = (n: number) => {
  const l = layout(n, ring(n));
  l.steps(1000);
  return l.points;
};
same(run(40), run(40), 'the same graph, the same picture');
same(layout(0, []).steps(5), true, 'nothing to place');
const points = run(40);
let close = Infinity;
points.forEach((p, i) => points.slice(i + 1).forEach((q) => {
  close = Math.min(close, Math.hypot(p.x - q.x, p.y - q.y));
}));
same(close > 15, true, `nodes are apart: ${close}`);
same(points.every((p) => Number.isFinite(p.x) && Math.abs(p.x) < 5000), true, 'places are near');
const kept = layout(3, [[0, 1]], [{ x: 5, y: 6 }, undefined, { x: 1, y: 1 }]);
same(kept.points[0], { x: 5, y: 6 }, 'what is placed stays');
const equal = layout(2, [], [{ x: 0, y: 0 }, { x: 0, y: 0 }]);
equal.steps(300);
const [p, q] = [equal.points[0]!, equal.points[1]!];
same(Math.hypot(p.x - q.x, p.y - q.y) > 15, true, 'one place');

const began = Date.now();
run(2000);
console.log(`2,000 nodes are placed in ${Date.now() - began} ms`);
done();
