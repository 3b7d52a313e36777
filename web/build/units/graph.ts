import { done, same } from '../check';
import { hit, svg, towards } from '../../src/draw';
import { layout } from '../../src/layout';
import { Net, begin, cut, dot, fold, grow, maxDots, mermaid, only } from '../../src/net';
import { Explored } from '../../src/types';

type Found = Explored['nodes'][number];
const neighbor = (id: string, type: string, edge = type + id, forward = true): Found => ({
  id, key: id, type: 'T', summary: null, score: 1, hops: 1, why: '',
  reasons: [{ kind: 'edge', score: 1, edge: { from: '', to: id, edge, type, forward } }],
});
const near = (id: string, ...nodes: Found[]): Explored => {
  for (const n of nodes) n.reasons[0]!.edge!.from = id;
  return { commit: null, node: null, nodes, more: 1, cut: 2 };
};

const none: Net = { dots: [], links: [] };
const one = grow(none, { id: 'a', name: 'a', type: 'T' }, near('a', neighbor('b', 'knows'), neighbor('c', 'owns')));
same(one.dots.map((d) => [d.id, d.open, d.more]), [['a', true, 3], ['b', false, 0], ['c', false, 0]], 'around one');
same(one.links.map((l) => l.src + l.type + l.dst), ['aknowsb', 'aownsc'], 'links');
const two = grow(one, one.dots[1]!, near('b', neighbor('d', 'knows'), neighbor('a', 'knows', 'knowsb', false)));
same(two.dots.map((d) => d.id).join(''), 'abcd', 'the order stays');
same(two.links.length, 3, 'an edge that is known from its other end');
same(none.dots.length, 0, 'what was given is not changed');
const without = (edges: string[], types: string[] = [], nodes: string[] = []) =>
  ({ edges: new Set(edges), types: new Set(types), nodes: new Set(nodes) });
const names = (net: Net) => net.dots.map((d) => d.id).join('');
same(names(only(two, without(['owns']), ['a'])), 'abd', 'without a type of edges');
same(names(only(two, without(['knows', 'owns']), ['a', 'x'])), 'a', 'without all edges');
same(names(only(two, without(['knows', 'owns']), ['c', 'a'])), 'ac', 'two beginnings');
same(names(only(two, without([], ['T']), ['a'])), 'a', 'without a type of memories, but where it began');
same(names(only(two, without([], [], ['b']), ['a'])), 'ac', 'without a memory, and what it alone leads to');
same(grow(one, one.dots[1]!, near('b', neighbor('c', 'knows'), neighbor('z', 'knows')), true).dots.length, 3,
  'edges among what is there');

const folded = fold(two, new Set(['a', 'b', 'c', 'd']), { id: 'g', name: 'G', type: '' });
same([names(folded), folded.dots[2]!.group, folded.links.length], ['abg', 2, 3], 'a group of what is not expanded');
same(names(fold(two, new Set(['c']), { id: 'g', name: 'G', type: '' })), 'abcd', 'one is no group');
const more = grow(folded, folded.dots[1]!, near('b', neighbor('c', 'likes')));
same([names(more), more.links.at(-1)!.dst], ['abg', 'g'], 'what is in a group stays there');
same(cut({ dots: Array.from({ length: maxDots + 5 }, (_, i) => ({ ...one.dots[0]!, id: String(i) })), links: [] })
  .dots.length, maxDots, 'no more than a graph shows');
same(begin(one.dots).links.length, 0, 'a beginning');
same(only(none, without([]), ['a']).dots.length, 0, 'nothing');

const hostile: Net = {
  dots: [{ id: 'a', name: 'say "hi" \\ ]\nend', type: '', more: 0, open: true }],
  links: [{ id: 'e', type: '|x"', src: 'a', dst: 'a' }],
};
same(dot(hostile),
  'digraph memory {\n  "a" [label="say \\"hi\\" \\\\ ] end"];\n  "a" -> "a" [label="|x\\""];\n}\n', 'DOT');
same(mermaid(hostile), 'graph LR\n  n0["say #34;hi#34; #92; #93;#10;end"]\n  n0 -->|"#124;x#34;"| n0\n', 'Mermaid');

const ring = (n: number) => Array.from({ length: n }, (_, i) => [i, (i + 1) % n]).flat();
const none2 = (n: number) => new Float64Array(2 * n).fill(NaN);
const run = (n: number) => {
  const l = layout(n, ring(n), none2(n));
  same(l.step(1000), false, 'it comes to rest');
  return [...l.places()];
};
same(run(40), run(40), 'the same graph, the same picture');
same(layout(0, [], none2(0)).places().length, 0, 'nothing to place');
const places = run(40);
let close = Infinity;
for (let i = 0; i < 40; i++) {
  for (let j = 0; j < i; j++) {
    close = Math.min(close, Math.hypot(places[2 * i]! - places[2 * j]!, places[2 * i + 1]! - places[2 * j + 1]!));
  }
}
same(close > 15, true, `nodes are apart: ${close}`);
same(places.every((p) => Number.isFinite(p) && Math.abs(p) < 5000), true, 'places are near');
const kept = layout(3, [0, 1], new Float64Array([5, 6, NaN, NaN, 1, 1])).places();
same([kept[0], kept[1]], [5, 6], 'what is placed stays');
const equal = layout(2, [], new Float64Array(4));
equal.step(300);
const p = equal.places();
same(Math.hypot(p[0]! - p[2]!, p[1]! - p[3]!) > 15, true, 'one place');
const long = Float64Array.from([0, 0, 100, 0, 0, 90, -80, 5]);
same([[1, 0], [0, 1], [-1, 0], [0, -1]].map(([x, y]) => towards(long, 0, x!, y!)), [1, 2, 3, 0], 'by arrow keys');
const drawn = svg(hostile, new Uint32Array([0, 0]), new Float64Array([1, 2]),
  { ground: '#fff', line: '#000', ink: '#111', types: ['#1', '#2', '#3', '#4', '#5', '#6'] });
same([drawn.startsWith('<svg '), drawn.includes('say &#34;hi&#34;'), drawn.includes('"hi"')], [true, true, false], 'SVG');
same(hit(hostile, new Float64Array([1, 2]), { by: 2, x: 10, y: 10 }, 14, 15), 0, 'a click on a node');
same(hit(hostile, new Float64Array([1, 2]), { by: 2, x: 10, y: 10 }, 80, 15), -1, 'a click beside it');

const started = Date.now();
run(2000);
console.log(`2,000 nodes are placed in ${Date.now() - started} ms`);
done();
