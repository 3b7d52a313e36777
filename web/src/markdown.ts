// The part of Markdown that documents use, as a tree. HTML is text here, images are links, and a link leads only to
// http and https. Work is bounded: nesting by depth, and each search for an end by a distance.

import { brief } from './words';

export type Inline =
  | { kind: 'text'; text: string } | { kind: 'code'; text: string } | { kind: 'break' }
  | { kind: 'em'; inside: Inline[] } | { kind: 'strong'; inside: Inline[] } | { kind: 'del'; inside: Inline[] }
  | { kind: 'link'; to: string; inside: Inline[] };

export type Block =
  | { kind: 'heading'; level: number; text: string } | { kind: 'text'; text: string } | { kind: 'rule' }
  | { kind: 'code'; text: string } | { kind: 'quote'; inside: Block[] }
  | { kind: 'list'; from: number; items: Block[][] } | { kind: 'table'; head: string[]; rows: string[][] };

const deepest = 8; // levels of blocks and of marks in a line
const farthest = 2000; // characters until the end of a link or an address
const tries = 40; // candidates for the end of a mark

const item = /^( {0,3})([-*+]|\d{1,9}[.)])(?: (.*)|$)/;
const fence = /^( {0,3})(`{3,}|~{3,})(.*)$/;
const heading = /^ {0,3}(#{1,6})(?:[ \t]+(.*))?$/;
const rule = /^ {0,3}([-*_])[ \t]*(?:\1[ \t]*){2,}$/;
const quote = /^ {0,3}> ?/;
const under = /^ {0,3}(=+|-{2,})[ \t]*$/;
const delimiter = /^[ \t]*[|:-][-|: \t]*$/;

const blank = (line: string) => line.trim() === '';
const indent = (line: string) => line.length - line.trimStart().length;
const starts = (line: string) => heading.test(line) || rule.test(line) || quote.test(line) || fence.test(line);

/** parse cuts a document into blocks. */
export function parse(text: string): Block[] {
  return blocks(text.replace(/\r\n?/g, '\n').replace(/\t/g, '    ').split('\n'), 0);
}

function blocks(lines: string[], depth: number): Block[] {
  if (depth > deepest) return [{ kind: 'text', text: lines.join('\n') }];
  const out: Block[] = [];
  let open: string[] = [];
  const flush = () => {
    if (open.length > 0) out.push({ kind: 'text', text: open.join('\n') });
    open = [];
  };
  for (let i = 0; i < lines.length;) {
    const line = lines[i]!;
    const f = fence.exec(line), hd = heading.exec(line);
    if (open.length > 0 && under.test(line)) {
      out.push({ kind: 'heading', level: line.includes('=') ? 1 : 2, text: open.join(' ') });
      open = [];
      i++;
    } else if (blank(line)) {
      flush();
      i++;
    } else if (f && !(f[2]![0] === '`' && f[3]!.includes('`'))) {
      flush();
      const body: string[] = [], end = f[2]!;
      for (i++; i < lines.length; i++) {
        const close = lines[i]!.trim();
        if (close.startsWith(end) && close === end[0]!.repeat(close.length)) break;
        body.push(lines[i]!.slice(Math.min(indent(lines[i]!), f[1]!.length)));
      }
      out.push({ kind: 'code', text: body.join('\n') });
      i++;
    } else if (hd) {
      flush();
      out.push({ kind: 'heading', level: hd[1]!.length, text: (hd[2] ?? '').trim() });
      i++;
    } else if (rule.test(line)) {
      flush();
      out.push({ kind: 'rule' });
      i++;
    } else if (quote.test(line)) {
      flush();
      const body: string[] = [];
      for (; i < lines.length && !blank(lines[i]!) && (quote.test(lines[i]!) || !starts(lines[i]!)); i++) {
        body.push(lines[i]!.replace(quote, ''));
      }
      out.push({ kind: 'quote', inside: blocks(body, depth + 1) });
    } else if (item.test(line)) {
      flush();
      i = list(lines, i, depth, out);
    } else if (open.length === 0 && indent(line) >= 4) {
      const body: string[] = [];
      for (; i < lines.length && (blank(lines[i]!) || indent(lines[i]!) >= 4); i++) body.push(lines[i]!.slice(4));
      out.push({ kind: 'code', text: body.join('\n').trimEnd() });
    } else if (open.length === 0 && line.includes('|') && lines[i + 1]?.includes('-') && lines[i + 1]!.includes('|') &&
      delimiter.test(lines[i + 1]!)) {
      const rows: string[][] = [];
      for (i += 2; i < lines.length && lines[i]!.includes('|'); i++) rows.push(cells(lines[i]!));
      out.push({ kind: 'table', head: cells(line), rows });
    } else {
      open.push(line);
      i++;
    }
  }
  flush();
  return out;
}

/** list appends the list that begins at a line, and returns the line after it. */
function list(lines: string[], i: number, depth: number, out: Block[]): number {
  const ordered = (m: RegExpExecArray) => /\d/.test(m[2]!);
  const first = item.exec(lines[i]!)!;
  const items: Block[][] = [];
  while (i < lines.length) {
    const m = item.exec(lines[i]!);
    if (!m || ordered(m) !== ordered(first) || rule.test(lines[i]!)) break;
    const inner = m[1]!.length + m[2]!.length + 1, body = [m[3] ?? ''];
    let next = ++i;
    while (i < lines.length) {
      for (next = i; next < lines.length && blank(lines[next]!);) next++;
      const line = lines[next];
      if (line === undefined) break;
      if (indent(line) >= inner) {
        if (next > i) body.push('');
        body.push(line.slice(inner));
      } else if (next > i || item.test(line) || starts(line)) break;
      else body.push(line.trim());
      i = next + 1;
    }
    items.push(blocks(body, depth + 1));
    i = Math.max(i, next);
  }
  out.push({ kind: 'list', from: ordered(first) ? parseInt(first[2]!, 10) : 0, items });
  return i;
}

/** cells cuts a row of a table. A bar in code or after a backslash belongs to its cell. */
function cells(line: string): string[] {
  const out: string[] = [];
  let cell = '', code = false;
  const text = line.trim().replace(/^\|/, '');
  for (let i = 0; i < text.length; i++) {
    if (text[i] === '\\' && text[i + 1] === '|') cell += text[++i];
    else if (text[i] === '|' && !code) {
      out.push(cell.trim());
      cell = '';
    } else {
      if (text[i] === '`') code = !code;
      cell += text[i];
    }
  }
  if (cell.trim()) out.push(cell.trim());
  return out;
}

/** web returns an address that a link may lead to, '' for any other. */
export function web(address: string): string {
  if (!/^https?:\/\//i.test(address) || /[\s\\\u0000-\u0020]/.test(address)) return '';
  try {
    return new URL(address).href;
  } catch {
    return '';
  }
}

const special = /[\\`*_~[!<h\n]/;
const word = /[\p{L}\p{N}]/u;

/** line cuts a text of a block into what is marked in it. */
export function line(text: string, depth = 0, links = true): Inline[] {
  const out: Inline[] = [];
  const never = new Set<string>(); // marks that have no end in what is left
  let plain = '';
  const put = (one: Inline) => {
    if (plain) out.push({ kind: 'text', text: plain });
    plain = '';
    out.push(one);
  };
  for (let i = 0; i < text.length;) {
    const next = text.slice(i).search(special); // most texts have few of them
    if (next < 0 || depth > deepest) {
      plain += text.slice(i);
      break;
    }
    plain += text.slice(i, i + next);
    i += next;
    const rest = span(text, i, depth, links, never);
    if (rest) {
      if (rest.one) put(rest.one);
      else plain += rest.text ?? '';
      i = rest.end;
    } else {
      plain += text[i++];
    }
  }
  if (plain) out.push({ kind: 'text', text: plain });
  return out;
}

interface Span { end: number; one?: Inline; text?: string }

/** span returns the marked text at a position, null for a character that marks nothing. */
function span(text: string, i: number, depth: number, links: boolean, never: Set<string>): Span | null {
  const c = text[i]!;
  if (c === '\n') {
    const hard = text.slice(Math.max(i - 2, 0), i) === '  ' || text[i - 1] === '\\';
    return hard ? { end: i + 1, one: { kind: 'break' } } : { end: i + 1, text: ' ' };
  }
  if (c === '\\') return /[!-/:-@[-`{-~]/.test(text[i + 1] ?? '') ? { end: i + 2, text: text[i + 1] } : null;
  if (c === '`') return code(text, i, never);
  if (c === '<' || c === 'h') return links ? address(text, i) : null;
  if (c === '!' || c === '[') return links ? link(text, i, depth) : null;
  return marked(text, i, depth, links, never);
}

function code(text: string, i: number, never: Set<string>): Span {
  let end = i;
  while (text[end] === '`') end++;
  const run = text.slice(i, end);
  for (let at = never.has(run) ? -1 : text.indexOf(run, end); at >= 0; at = text.indexOf(run, at)) {
    let close = at;
    while (text[close] === '`') close++;
    if (close - at === run.length) return { end: close, one: { kind: 'code', text: text.slice(end, at).trim() } };
    at = close;
  }
  never.add(run);
  return { end, text: run };
}

/** address is a bare address or one in angle brackets. */
function address(text: string, i: number): Span | null {
  const part = text.slice(i, i + farthest);
  const m = /^<(https?:\/\/[^\s<>]+)>/.exec(part) ?? (word.test(text[i - 1] ?? '') ? null
    : /^(https?:\/\/[^\s<>"'`|\\^{}]+)/.exec(part));
  if (!m) return null;
  const shown = m[0].startsWith('<') ? m[1]! : m[1]!.replace(/[.,;:!?*_~)\]]+$/, '');
  const to = web(shown);
  const end = i + (m[0].startsWith('<') ? m[0].length : shown.length);
  return to ? { end, one: { kind: 'link', to, inside: [{ kind: 'text', text: shown }] } } : null;
}

/** link is [text](address) or ![text](address). An address that the page does not follow leaves its text. */
function link(text: string, i: number, depth: number): Span | null {
  const image = text[i] === '!';
  const from = image ? i + 1 : i;
  if (text[from] !== '[') return null;
  let close = from + 1, open = 1;
  const limit = Math.min(text.length, from + farthest);
  for (; close < limit; close++) {
    if (text[close] === '\\') close++;
    else if (text[close] === '[') open++;
    else if (text[close] === ']' && --open === 0) break;
  }
  if (open > 0 || text[close + 1] !== '(') return null;
  let end = close + 2, nested = 1;
  for (; end < close + farthest && end < text.length; end++) {
    if (text[end] === '(') nested++;
    else if (text[end] === ')' && --nested === 0) break;
    else if (text[end] === '\n') return null;
  }
  if (text[end] !== ')' || nested > 0) return null;
  const label = text.slice(from + 1, close);
  const to = web(text.slice(close + 2, end).trim().split(' ')[0]!.replace(/^<|>$/g, ''));
  const inside: Inline[] = image ? [{ kind: 'text', text: `image: ${label || 'without a text'}` }]
    : line(label, depth + 1, false);
  return { end: end + 1, one: to ? { kind: 'link', to, inside } : { kind: 'em', inside } };
}

/** marked is a text in stars, underscores or tildes. */
function marked(text: string, i: number, depth: number, links: boolean, never: Set<string>): Span | null {
  const c = text[i]!;
  let n = i;
  while (text[n] === c && n - i < 3) n++;
  const size = Math.min(n - i, 2), mark = text.slice(i, i + size);
  const whole = { end: n, text: text.slice(i, n) };
  if (c === '~' && size < 2 || c !== '~' && c !== '*' && c !== '_') return null;
  if (/\s/.test(text[i + size] ?? ' ') || c === '_' && word.test(text[i - 1] ?? '') || never.has(mark)) return whole;
  let at = text.indexOf(mark, i + size + 1);
  for (let tried = 0; at >= 0 && tried < tries; tried++) {
    while (size === 1 && text[at + 1] === c) at += text[at + 2] === c ? 3 : 2; // two are another mark
    if (text[at] === c && !/\s/.test(text[at - 1] ?? ' ') && !(c === '_' && word.test(text[at + size] ?? ''))) {
      const kind = c === '~' ? 'del' : size === 2 ? 'strong' : 'em';
      return { end: at + size, one: { kind, inside: line(text.slice(i + size, at), depth + 1, links) } };
    }
    at = text.indexOf(mark, at + 1);
  }
  if (at < 0) never.add(mark);
  return whole;
}

/** called returns the part of a text that a list shows; the text may be a part of a document. */
export function called(text: string, most: number): string {
  return brief(/(?:^|\n) *(?:```|~~~|\||#{1,6} |[-*] )/.test(text.slice(0, most)) ? flat(text, most) : text, most);
}

/** flat is a document on one line, without its marks: what a list shows of it. */
export function flat(text: string, most: number): string {
  const words = (list: Inline[]): string => list.map((o) => o.kind === 'break' ? ' '
    : 'inside' in o ? words(o.inside) : o.text).join('');
  const all = (list: Block[]): string => list.map((b) => b.kind === 'rule' ? ''
    : b.kind === 'code' ? b.text : b.kind === 'quote' ? all(b.inside) : b.kind === 'list' ? b.items.map(all).join(' · ')
    : b.kind === 'table' ? [b.head, ...b.rows].map((r) => r.map((t) => words(line(t))).join(', ')).join('; ')
    : words(line(b.text))).join(' ');
  return all(parse(text.slice(0, most * 4)));
}
