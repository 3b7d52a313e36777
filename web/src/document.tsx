import { h, Fragment } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { Block, Inline, line, parse, web } from './markdown';
import { Text } from './parts';
import { Node } from './types';
import { plain } from './words';

const shown = 20_000, most = 200_000; // characters of a document before the rest is asked for, and that are laid out

/** isMarkdown is whether what a node says is a part of a document in Markdown. */
export function isMarkdown(n: Pick<Node, 'type' | 'props' | 'sources'>): boolean {
  return n.props.format === 'markdown' ||
    n.type === 'Chunk' && n.sources.some((s) => /\.(md|markdown)(?:[?#]|$)/i.test(s));
}

/** Document shows Markdown. Nothing of it becomes markup of its own, is loaded, or leads anywhere but to the web. */
export function Document({ of }: { of: string }) {
  const [all, setAll] = useState(false);
  const [source, setSource] = useState(false);
  const part = all ? of : of.slice(0, shown);
  const blocks = useMemo(() => parse(part), [part]);
  return (
    <div class="doc" dir="auto">
      {source ? <Text of={of} block /> : <Blocks of={blocks} />}
      <p class="small">
        <button class="link" onClick={() => setSource(!source)}>{source ? 'As a document' : 'As text'}</button>{' '}
        {!source && part.length < of.length && <button class="link"
          onClick={() => of.length > most ? setSource(true) : setAll(true)}>
          … show all {of.length.toLocaleString('en')} characters</button>}
      </p>
    </div>
  );
}

function Blocks({ of }: { of: Block[] }) {
  return <>{of.map((b) => <One of={b} />)}</>;
}

function One({ of: b }: { of: Block }) {
  switch (b.kind) {
    case 'heading': return <h2 class={b.level > 2 ? 'lower' : ''}><Line of={b.text} /></h2>;
    case 'code': return <pre tabIndex={0}>{plain(b.text)}</pre>;
    case 'quote': return <blockquote><Blocks of={b.inside} /></blockquote>;
    case 'rule': return <hr />;
    case 'list': {
      const items = b.items.map((i) => <li>{i.length === 1 && i[0]!.kind === 'text' ? <Line of={i[0]!.text} />
        : <Blocks of={i} />}</li>);
      return b.from > 0 ? <ol start={b.from}>{items}</ol> : <ul>{items}</ul>;
    }
    case 'table': return (
      <table>
        <thead><tr>{b.head.map((c) => <th scope="col"><Line of={c} /></th>)}</tr></thead>
        <tbody>{b.rows.map((r) => <tr>{r.slice(0, b.head.length).map((c, i) => (
          <td data-head={plain(b.head[i]!)}><Line of={c} /></td>))}</tr>)}</tbody>
      </table>
    );
    default: return <p dir="auto"><Line of={b.text} /></p>;
  }
}

function Line({ of }: { of: string }) {
  return <>{useMemo(() => line(of), [of]).map((o) => <Span of={o} />)}</>;
}

function Span({ of: o }: { of: Inline }) {
  if (o.kind === 'break') return <br />;
  if (o.kind === 'text') return <>{plain(o.text)}</>;
  if (o.kind === 'code') return <code>{plain(o.text)}</code>;
  const inside = o.inside.map((i) => <Span of={i} />);
  if (o.kind === 'em') return <em>{inside}</em>;
  if (o.kind === 'strong') return <strong>{inside}</strong>;
  if (o.kind === 'del') return <s>{inside}</s>;
  const only = o.inside[0];
  const bare = o.inside.length === 1 && only?.kind === 'text' && web(only.text) === o.to;
  return <Away to={o.to} bare={bare}>{inside}</Away>;
}

/** Away is a link to the web. It names the site, whatever its text pretends. */
function Away({ to, bare, children }: { to: string; bare: boolean; children: h.JSX.Element[] }) {
  return <a href={to} title={to} target="_blank" rel="noopener noreferrer nofollow">{children}{' '}
    <span class="small">{bare ? '↗' : `(${new URL(to).host} ↗)`}</span></a>;
}
