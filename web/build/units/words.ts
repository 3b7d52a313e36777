import { done, same } from '../check';
import { brief, difference, headline, many, seen, short, uuid, Piece } from '../../src/words';

const told = (from: string, to: string) => difference(from, to)
  .map((p) => ({ same: '', old: '-', new: '+' })[p.kind] + p.text).join('|');

same(told('', ''), '', 'nothing');
same(told('a b', 'a b'), 'a b', 'equal');
same(told('', 'new words'), '+new words', 'all new');
same(told('the cutover is on Friday', 'the cutover is on 3 October'),
  'the cutover is on |-Friday|+3 October', 'a word');
same(told('open', 'done'), '-open|+done', 'one word');
same(told('a c', 'a b c'), 'a |+b |c', 'put between');
same(told('a b c', 'a c'), 'a |-b |c', 'taken out');
same(told('港口的冬季', '港口的夏季'), '港口的|-冬|+夏|季', 'scripts without spaces');
same(told('The nightly rebuild starts at four', 'It rebuilds the index every night at four'),
  '-The nightly rebuild starts|+It rebuilds the index every night| at four', 'a phrase, not the letters that both have');
same(told('go through Jenkins, job kl-release', 'go through GitHub Actions, workflow kl-release'),
  'go through |-Jenkins, job|+GitHub Actions, workflow| kl-release', 'over a comma');
same(told('a long beginning of a text, 5 and in its middle as well, 7', 'a long beginning of a text, 6 and in its middle as well, 8'),
  'a long beginning of a text, |-5|+6| and in its middle as well, |-7|+8', 'two changes far apart');
same(told('naïve café', 'naïve cafe'), 'naïve |-café|+cafe', 'accents');

// Whatever the texts are, what is same and old is the one, same and new the other.
let state = 12345;
const next = (n: number) => (state = (state * 1103515245 + 12345) % 2147483648) % n;
const join = (list: Piece[], without: string) => list.filter((p) => p.kind !== without).map((p) => p.text).join('');
for (let i = 0; i < 300; i++) {
  const word = () => ['a', 'bb', ' ', '.', '港', '<b>', '\u202e'][next(7)];
  const text = () => Array.from({ length: next(12) }, word).join('');
  const from = text(), to = text(), d = difference(from, to);
  same([join(d, 'new'), join(d, 'old')], [from, to], `difference of ${JSON.stringify([from, to])}`);
}
const long = Array.from({ length: 5000 }, (_, i) => `w${i}`).join(' ');
same(difference(long, 'x ' + long).map((p) => p.kind), ['new', 'same'], 'long texts');
same(difference('a ' + long, long.toUpperCase() + ' b').length, 2, 'long texts that differ throughout');

same(seen('plain <b>'), [{ text: 'plain <b>', code: false }], 'plain');
same(seen('a\u202eb'), [{ text: 'a', code: false }, { text: 'U+202E', code: true }, { text: 'b', code: false }],
  'bidi');
same(seen('\u0000\u{e0041}').map((p) => p.text), ['U+0000', 'U+E0041'], 'hidden');
same(seen('line\n\ttab שלום 港').length, 1, 'what is meant to be there');
same(seen(''), [], 'empty');

same(uuid('Q3bJou73lS7gUcVWAZPXSg'), '4376c9a2-eef7-952e-e051-c5560193d74a', 'an id');
same(uuid('Q3bJ'), '', 'too short');
same(uuid('***'), '', 'no base64');
const id = '4376c9a2-eef7-952e-e051-c5560193d74a';
same(headline({ message: 'remember Note ' + id, title: 'remembered: "x"' }), 'remembered: "x"', 'ids alone');
same(headline({ message: 'moved it', title: '1 changed' }), 'moved it', 'a message');
same(headline({ message: '', title: '1 changed' }), '1 changed', 'no message');
same(headline({ message: 'forget ' + id }), 'forget ' + id, 'no title');
same(short('bafyreie7b6fyavpkbrhuafquuhrepbnmuhmn3426g75425qvzvpgvn54di'), 'e7b6fyavpkbr', 'a revision');
same([short('HEAD~1'), short('bafkreibm6jg3ux5qumhcn2b3flc3tyu6dmlb4xa7u5bf44yegnrjhc4yeq')], ['HEAD~1', 'bafkreibm6jg'],
  'other revisions');
same([brief('one  two\nthree', 20), brief('one two three', 9), brief('x'.repeat(30), 10)],
  ['one two three', 'one two…', 'x'.repeat(10) + '…'], 'a beginning');
same([many(1, 'memory', 'memories'), many(1200, 'edge')], ['1 memory', '1,200 edges'], 'numbers');
done();
