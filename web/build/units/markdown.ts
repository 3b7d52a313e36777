import { done, same } from '../check';
import { flat, line, parse, web, Inline } from '../../src/markdown';

const spans = (list: Inline[]): string => list.map((o) => o.kind === 'break' ? '/' : o.kind === 'text' ? o.text
  : o.kind === 'code' ? `C(${o.text})` : o.kind === 'link' ? `L(${o.to} ${spans(o.inside)})`
  : `${o.kind}(${spans(o.inside)})`).join('');
const of = (text: string) => spans(line(text));

same(of('a *b* **c** _d_ ~~e~~ `f`'), 'a em(b) strong(c) em(d) del(e) C(f)', 'marks');
same(of('snake_case_name and 2 * 3 * 4 and **open'), 'snake_case_name and 2 * 3 * 4 and **open', 'no marks');
same(of('**a *b* c**'), 'strong(a em(b) c)', 'nested');
same(of('``a ` b`` `open'), 'C(a ` b) `open', 'code');
same(of('\\*a\\* \\a'), '*a* \\a', 'backslashes');
same(of('a\nb  \nc'), 'a b  /c', 'ends of lines');
same(of('[a](https://example.org/x)'), 'L(https://example.org/x a)', 'a link');
same(of('see https://example.org/x.'), 'see L(https://example.org/x https://example.org/x).', 'a bare address');
same(of('<https://example.org>'), 'L(https://example.org/ https://example.org)', 'an address in brackets');
same(of('![a](https://example.org/x.png)'), 'L(https://example.org/x.png image: a)', 'an image is a link');
for (const to of ['javascript:alert(1)', 'JaVaScRiPt:alert(1)', 'data:text/html,x', 'file:///etc/passwd', 'sharing.md',
  '//example.org', '\u0001https://example.org', 'https:/\\example.org', 'vbscript:x', 'https://', '#top', '']) {
  same(web(to), '', `no address: ${to}`);
  same(of(`[a](${to})`).includes('L('), false, `no link: ${to}`);
}
same(of('<script>alert(1)</script> <img src=x onerror=y>'), '<script>alert(1)</script> <img src=x onerror=y>', 'HTML');
same(of('[[wiki]] [a] [b](open'), '[[wiki]] [a] [b](open', 'brackets');
same(of('[a [b](https://b.example) c](https://a.example)'), 'L(https://a.example/ a [b](https://b.example) c)',
  'no link in a link');

const kinds = (text: string) => JSON.stringify(parse(text));
same(parse('# A\n\ntext\nmore\n\n- a\n- b\n  - c\n\n1. x\n2. y').map((b) => b.kind),
  ['heading', 'text', 'list', 'list'], 'blocks');
same(kinds('```sh\n# no heading\n```\nafter'),
  kinds('~~~\n# no heading\n~~~\nafter'), 'fences');
same(parse('```\nopen'), [{ kind: 'code', text: 'open' }], 'an open fence');
same(parse('| a | b |\n|---|---|\n| `x|y` | z \\| w |\n\nend'), [
  { kind: 'table', head: ['a', 'b'], rows: [['`x|y`', 'z | w']] }, { kind: 'text', text: 'end' },
], 'a table');
same(parse('> a\n> b\n\nc'), [
  { kind: 'quote', inside: [{ kind: 'text', text: 'a\nb' }] }, { kind: 'text', text: 'c' },
], 'a quotation');
same(parse('Title\n=====\n* * *'), [{ kind: 'heading', level: 1, text: 'Title' }, { kind: 'rule' }], 'underlined');
same(parse('- a\n\n  b\n- c'), [{ kind: 'list', from: 0, items: [
  [{ kind: 'text', text: 'a' }, { kind: 'text', text: 'b' }], [{ kind: 'text', text: 'c' }]] }], 'an item of two');
same(parse(''), [], 'nothing');
same(flat('# A\n\n**b** [c](https://c.example)\n\n- d\n- e', 100), 'A b c d · e', 'on one line');

// No text loses a letter, and hostile ones end.
const letters = (v: unknown): string => typeof v === 'string' ? v.replace(/[^aq]/g, '')
  : Array.isArray(v) ? v.map(letters).join('') : v && typeof v === 'object'
  ? Object.entries(v).map(([name, one]) => name === 'kind' || name === 'to' ? '' : letters(one)).join('') : '';
let state = 7;
const next = (n: number) => (state = (state * 1103515245 + 12345) % 2147483648) % n;
for (let i = 0; i < 400; i++) {
  const text = Array.from({ length: next(40) }, () => ['a', 'q', ' ', '\n', '\n\n', '*', '_', '`', '- ', '> ', '    ', '1. ',
    '~~', '[', ']', '(', ')', '|', '#', '```', '<', '\\'][next(22)]).join('');
  const whole = parse(text);
  if (!/```|~~~/.test(text)) same(letters(whole), letters(text), JSON.stringify(text));
  for (const part of text.split('\n')) same(letters(line(part)), letters(part), JSON.stringify(part));
}
for (const one of ['*', '_', '`', '[', '(', '![', '**a ', '[a](', '<h', 'https://', '`a``', '> ', '- ', '\n', ' ', '|', '~~a', '*a_',
  '- \n\n', '1. a\n   ', '**a** ', '\\', '#', '-', '    -', 'h']) {
  const text = one.repeat(Math.ceil(20_000 / one.length));
  same([parse(text).length > 0 || one === '\n' || one === ' ', line(text).length > 0], [true, true], one);
}
done();
