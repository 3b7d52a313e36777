import { done, same } from '../check';
import { curve, growth, questions } from '../../src/glance';
import { backs } from '../../src/operations';
import { Commit, Op } from '../../src/types';

const commit = (time: string, added: number, removed = 0) =>
  ({ time, nodes: { added, changed: 0, removed } }) as unknown as Commit;
const log = [commit('2026-03-20T00:00:00Z', 1, 4), commit('2026-03-18T00:00:00Z', 5), commit('2026-01-01T00:00:00Z', 10)];
same(growth(log, 12).points.map((p) => p.total), [0, 10, 15, 12], 'what there was after each commit');
same(growth(log, 12).week, 2, 'what came in a week');
same(growth([], 0), { points: [], week: 0 }, 'no commits');
same(growth(log.slice(0, 1), 100).points.map((p) => p.total), [103, 100], 'the log is cut');
same(curve(growth([commit('2026-01-01T00:00:00Z', 2), commit('2026-01-01T00:00:00Z', 2)], 4)), 'M0 48H150V26H300V4H300',
  'commits of one moment');
same(curve(growth([commit('2026-01-01T00:00:00Z', 0)], 0)).includes('NaN'), false, 'an empty commit');
same(questions(['Who?', null, 'why', 'who? ', ' ']), [['Who?', 2], ['why', 1]], 'questions');

const op = (seq: number, command: string, ...refs: [string, string | null, string | null][]) => ({
  op: `o${seq}`, seq, command: [command], refs: refs.map(([ref, from, to]) => ({ ref, from, to })), undone: false,
}) as unknown as Op;
const main = 'refs/heads/main';
const init = op(1, 'init', ['HEAD', null, 'main']), first = op(2, 'remember', [main, null, 'a']);
const second = op(3, 'remember', [main, 'a', 'b']), asked = op(4, 'recall', ['refs/sessions/s', null, 'x']);
const all = [asked, second, first, init];
same(all.map((o) => backs(o, all)), ['', true, 'Undo 3 first', ''], 'what undo can do');
const captured = [op(5, 'capture', [main, 'b', 'c']), ...all];
same([second, first].map((o) => backs(o, captured)), [true, 'Undo 3 first'], 'captures stay');
const back = [op(5, 'undo', [main, 'b', 'a']), ...all];
same(backs(first, back), true, 'what came since was undone');
done();
