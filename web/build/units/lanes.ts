import { done, same } from '../check';
import { order, place } from '../../src/lanes';
import { Commit } from '../../src/types';

const none = { added: 0, changed: 0, removed: 0 };
const commit = (name: string, time: number, ...parents: string[]): Commit => ({
  commit: name, parents, author: 'a', graph: '', agent: null, task: null, message: name,
  time: `2026-01-01T00:00:${String(time).padStart(2, '0')}Z`, nodes: none, edges: none,
});

const names = (list: Commit[]) => list.map((c) => c.commit).join('');
const a = commit('a', 1), b = commit('b', 2, 'a'), c = commit('c', 3, 'a'), m = commit('m', 4, 'b', 'c');

same(names(order([[c, a], [b, a]])), 'cba', 'two branches');
same(names(order([[b, a], [c, a]])), 'cba', 'the order of branches does not matter');
same(names(order([[m, b, a], [m, c, a]])), 'mcba', 'a merge');
same(names(order([])), '', 'no branch');
// Clocks that go wrong do not put a commit before what came after it.
same(names(order([[commit('y', 1, 'x'), commit('x', 9)]])), 'yx', 'a wrong clock');
same(names(order([[commit('p', 5), commit('q', 5)]])), 'qp', 'equal times');

const told = (logs: Commit[][]) => place(order(logs)).map((p) => [p.commit.commit, p.lane, p.above, p.lines, p.width]);
same(told([[b, a]]), [['b', 0, false, [[0, 0]], 1], ['a', 0, true, [], 1]], 'a line');
same(told([[m, b, a], [c, a]]), [
  ['m', 0, false, [[0, 0], [0, 1]], 2], ['c', 1, true, [[1, 1], [0, 0]], 2], ['b', 0, true, [[0, 1], [1, 1]], 2],
  ['a', 1, true, [], 2],
], 'a merge');
done();
