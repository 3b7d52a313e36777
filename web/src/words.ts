// Pure functions over texts: differences by words, and what must be seen of a text.

export interface Piece { kind: 'same' | 'old' | 'new'; text: string }

const most = 2000; // words compared one by one; longer texts are told as replaced where they differ

const single = '[\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}]';
const parts = new RegExp(single + '|[\\p{L}\\p{N}\\p{M}_]+|\\s+|[^\\p{L}\\p{N}\\p{M}\\s_]', 'gu');

/** split cuts a text into words and what is between them. Scripts without spaces are cut by character. */
export function split(text: string): string[] {
  return text.match(parts) ?? [];
}

/** difference returns what is the same, what went and what came, in order. */
export function difference(from: string, to: string): Piece[] {
  const a = split(from), b = split(to);
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  const x = a.slice(start, a.length - end), y = b.slice(start, b.length - end);
  const out: Piece[] = [];
  add(out, 'same', a.slice(0, start));
  if (x.length > most || y.length > most) {
    add(out, 'old', x);
    add(out, 'new', y);
  } else {
    middle(out, x, y);
  }
  add(out, 'same', a.slice(a.length - end));
  return phrases(out);
}

/** letters counts the letters and digits of a text. */
function letters(text: string): number {
  return text.match(/[\p{L}\p{N}]/gu)?.length ?? 0;
}

/**
 * phrases joins changes that are separated by less than they change: a reader sees one phrase replaced by another,
 * and not the letters and words that both happen to share.
 */
function phrases(pieces: Piece[]): Piece[] {
  const out: Piece[] = [];
  let from = '', to = '';
  const flush = () => {
    if (from) out.push({ kind: 'old', text: from });
    if (to) out.push({ kind: 'new', text: to });
    from = to = '';
  };
  pieces.forEach((p, i) => {
    if (p.kind === 'old') from += p.text;
    else if (p.kind === 'new') to += p.text;
    else {
      const size = letters(p.text), before = Math.max(letters(from), letters(to));
      const after = Math.max(...pieces.slice(i + 1, i + 3).map((n) => n.kind === 'same' ? 0 : letters(n.text)), 0);
      if ((from || to) && i < pieces.length - 1 && size <= Math.min(before, after)) {
        from += p.text;
        to += p.text;
      } else {
        flush();
        out.push(p);
      }
    }
  });
  flush();
  return out;
}

function add(out: Piece[], kind: Piece['kind'], words: string[]): void {
  const text = words.join('');
  if (!text) return;
  const last = out[out.length - 1];
  if (last && last.kind === kind) last.text += text;
  else out.push({ kind, text });
}

/** middle appends the difference by a longest common subsequence. */
function middle(out: Piece[], x: string[], y: string[]): void {
  const width = y.length + 1;
  const length = new Uint16Array((x.length + 1) * width);
  for (let i = x.length - 1; i >= 0; i--) {
    for (let j = y.length - 1; j >= 0; j--) {
      length[i * width + j] = x[i] === y[j] ? length[(i + 1) * width + j + 1]! + 1
        : Math.max(length[(i + 1) * width + j]!, length[i * width + j + 1]!);
    }
  }
  let i = 0, j = 0;
  while (i < x.length || j < y.length) {
    if (i < x.length && j < y.length && x[i] === y[j]) {
      add(out, 'same', [x[i]!]);
      i++; j++;
    } else if (j >= y.length || i < x.length && length[(i + 1) * width + j]! >= length[i * width + j + 1]!) {
      add(out, 'old', [x[i++]!]);
    } else {
      add(out, 'new', [y[j++]!]);
    }
  }
}

// What changes the order of text around it, or cannot be seen.
const hidden = new RegExp('[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u00ad\\u061c\\u200b\\u200e\\u200f' +
  '\\u202a-\\u202e\\u2060-\\u2069\\ufeff\\u{e0000}-\\u{e007f}]', 'gu');

export interface Seen { text: string; code: boolean }

/** seen cuts a text into what is shown as it is, and codes of characters that would deceive a reader. */
export function seen(text: string): Seen[] {
  const out: Seen[] = [];
  let at = 0;
  for (const m of text.matchAll(hidden)) {
    if (m.index > at) out.push({ text: text.slice(at, m.index), code: false });
    out.push({ text: 'U+' + m[0].codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0'), code: true });
    at = m.index + m[0].length;
  }
  if (at < text.length) out.push({ text: text.slice(at), code: false });
  return out;
}

/** plain returns a text with codes in place of deceptive characters, for places that cannot mark them. */
export function plain(text: string): string {
  return seen(text).map((s) => s.text).join('');
}

const idsAlone = /^[a-z ]+( \S+)? [0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/;

/** headline returns a commit's name: its message, or the title of its changes if the message has only ids. */
export function headline(c: { message: string; title?: string }): string {
  return c.title && (c.message === '' || idsAlone.test(c.message)) ? c.title : c.message || c.title || '';
}

/** short is a CID as the command line prints and takes it: the prefix that all have is left out. */
export function short(cid: string): string {
  return cid.startsWith('bafyrei') ? cid.slice(7, 19) : cid.startsWith('baf') ? cid.slice(0, 12) : cid;
}

/** brief is the beginning of a text on one line, cut between words; punctuation before the cut is left out. */
export function brief(text: string, most: number): string {
  const line = text.slice(0, most * 4).replace(/\s+/g, ' ').trim();
  if (line.length <= most) return line;
  const cut = line.slice(0, most), space = cut.lastIndexOf(' ');
  return (space > most / 2 ? cut.slice(0, space) : cut).replace(/[\s.,;:…]+$/, '') + '…';
}

/** many is a number with what it counts. */
export function many(n: number, one: string, more = one + 's'): string {
  return `${n.toLocaleString('en')} ${n === 1 ? one : more}`;
}

/** uuid returns the id of 16 bytes in base64, as DAG-JSON has them; '' where they are none. */
export function uuid(base64: string): string {
  try {
    const bytes = [...atob(base64)].map((c) => c.charCodeAt(0).toString(16).padStart(2, '0'));
    if (bytes.length !== 16) return '';
    return bytes.join('').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  } catch {
    return '';
  }
}
