import { done, same } from '../check';
import { href, parseRoute } from '../../src/route';
import { takeCode } from '../../src/api';
import { events } from '../../src/live';

const parsed = (fragment: string) => {
  const r = parseRoute(fragment);
  return [r.page, r.part, r.query.toString()];
};
same(parsed(''), ['search', '', ''], 'nothing');
same(parsed('#/'), ['search', '', ''], 'the root');
same(parsed('#/node/doc%2Fa%3Fb?at=x'), ['node', 'doc/a?b', 'at=x'], 'a key with signs');
same(parsed('#/node/%zz'), ['node', '%zz', ''], 'what cannot be decoded');
for (const part of ['alice', 'doc/a?b=c#d', '港口', '<script>', '100%']) {
  same(parseRoute(href('node', part, { q: part })).part, part, `part ${part}`);
  same(parseRoute(href('node', part, { q: part })).query.get('q'), part, `query ${part}`);
}
same(href('search', '', { a: '', b: undefined, c: ['1', '', '2'] }), '#/search?c=1&c=2', 'what is empty is left out');

same(takeCode('#code=abc234'), 'abc234', 'a code');
for (const no of ['', '#', '#/node/x', '#code=', '#code=ABC', '#code=a&b', '#code=' + 'a'.repeat(101)]) {
  same(takeCode(no), '', `no code: ${no.slice(0, 20)}`);
}

same(events('id: a\ndata: {}\n\nid: b\nevent: operation\ndata: 1\n\nid: c'),
  { ids: ['a', 'b'], data: ['1'], rest: 'id: c' }, 'events');
same(events(': quiet\n\n'), { ids: [], data: [], rest: '' }, 'a comment');
done();
