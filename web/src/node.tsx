import { h, ComponentChildren, Fragment } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { ask } from './api';
import { href } from './route';
import { Document, isMarkdown } from './document';
import { Cid, Command, Copy, Failure, Id, Named, Text, Time, Waits, asText, useAsk, useShow } from './parts';
import { Page } from './search';
import { Block, Commit, Explored, Node, Shown, hidden } from './types';
import { Fields } from './diff';
import { brief, headline } from './words';

const most = 400; // neighbours

/** NodePage is all that the memory says of one node. */
export function NodePage({ route, at, tick, writes }: Page) {
  const [changes, setChanges] = useState(0);
  const again = tick + changes;
  const node = useShow<Node>({ name: route.part, at, include: hidden }, again);
  return (
    <Waits of={node}>{(n) => (
      <article class="node">
        <header class="line">
          <span class="type"><Text of={n.type} /></span>
          <Id of={n.id} />
          {n.key && <code><Text of={n.key} /></code>}
          <a href={href('graph', n.id, { at })}>Graph</a>
        </header>
        <h1><Text of={titleOf(n)} /></h1>
        {n.mark && (
          <div class="note">
            <p>This was marked <b><Text of={n.mark.state} /></b> by <Text of={n.mark.actor} />,{' '}
              <Time of={n.mark.time} />{n.mark.by && <>: see <Named id={n.mark.by} at={at} /></>}</p>
            {n.mark.reason && <p><Text of={n.mark.reason} /></p>}
          </div>
        )}
        {n.context && n.context !== titleOf(n) && <p><Text of={n.context} /></p>}
        {n.summary && n.summary !== titleOf(n) && (n.type === 'Chunk' ? <Said of={n.summary} node={n} />
          : <Text of={n.summary} block />)}
        {n.content && <Said of={n.content} node={n} />}
        {n.type === 'Document' && n.props.format === 'markdown' && <Whole key={n.id} id={n.id} at={at} />}
        {!at && <Marks node={n} writes={writes} onChange={() => setChanges((c) => c + 1)} />}
        <Properties node={n} at={at} tick={again} />
        <Edges id={n.id} at={at} tick={again} />
        <History id={n.id} at={at} tick={again} />
        <Raw cid={n.cid} />
      </article>
    )}</Waits>
  );
}

const longest = 160; // characters of a heading

/** titleOf returns the name of a node: its title, the place of a part of a document, or its text. */
export function titleOf(n: Node): string {
  const own = n.props.title;
  const text = n.type === 'Document' && typeof own === 'string' ? own : n.type === 'Chunk' ? n.context : '';
  return brief(text || n.summary || n.key || n.id, longest);
}

/** Said is a text of a node: of a document as a document, any other as it is. */
function Said({ of, node }: { of: string; node: Node }) {
  return isMarkdown(node) ? <Document of={of} /> : <Text of={of} block />;
}

const parts = 60; // of a document that are read at once

/** read returns the parts of a document in the order of its file, and whether there are more. */
async function read(id: string, at: string, signal: AbortSignal): Promise<{ nodes: Node[]; more: boolean }> {
  const open = [id], found: string[] = [];
  let more = false;
  for (const one of open) { // sections are added while it goes on
    const near = await ask('explore', { topic: one, at, in: true, edge: ['part-of'], depth: 1, limit: most }, signal);
    for (const n of near.nodes) (n.type === 'Section' ? open : found).push(n.id);
    more = near.more + near.cut > 0 || open.length > parts || found.length > parts;
    if (more) break;
  }
  const nodes = await Promise.all(found.slice(0, parts).map((part) => ask('show', { name: `id:${part}`, at }, signal))) as Node[];
  const first = (n: Node) => Number(/#L(\d+)/.exec(n.sources[0] ?? '')?.[1] ?? 0);
  return { nodes: nodes.sort((a, b) => first(a) - first(b)), more };
}

/** Whole is a document made of its parts, which are asked for when it is opened. */
function Whole({ id, at }: { id: string; at: string }) {
  const [open, setOpen] = useState(false);
  const [got, setGot] = useState<{ text: string; more: boolean } | null>(null);
  const [failed, setFailed] = useState<Error | null>(null);
  useEffect(() => {
    if (!open) return;
    const abort = new AbortController();
    read(id, at, abort.signal).then(({ nodes, more }) => {
      const text = nodes.map((n, i) => {
        const said = n.content || n.summary || ''; // what stands before the first heading has the title as its summary
        return n.context && n.context !== nodes[i - 1]?.context ? `## ${n.context.split(' › ').pop()}\n\n${said}` : said;
      }).join('\n\n');
      setGot({ text, more });
    }, (err) => { if (!abort.signal.aborted) setFailed(err); });
    return () => abort.abort();
  }, [open, id, at]);
  return (
    <details onToggle={(e) => setOpen((e.target as HTMLDetailsElement).open)}>
      <summary>The whole document</summary>
      {failed ? <Failure of={failed} /> : !got ? <p class="dim" role="status">Reading…</p> : <>
        <Document of={got.text} />
        {got.more && <p class="dim">It has more parts, which are listed under Edges.</p>}
      </>}
    </details>
  );
}

/** Marks changes what the memory thinks of a node; undo takes each back. */
function Marks({ node, writes, onChange }: { node: Node; writes: boolean; onChange: () => void }) {
  const [failed, setFailed] = useState<Error | null>(null);
  const [reason, setReason] = useState('');
  const [busy, setBusy] = useState(false);
  if (!writes) return null;
  const run = (how: 'restore' | 'stale' | 'retired' | 'forget') => {
    setBusy(true);
    const done = how === 'stale' || how === 'retired' ? ask('mark', { kind: how, nodes: [node.id], reason })
      : ask(how, { nodes: [node.id], reason });
    done.then(() => { setFailed(null); setReason(''); onChange(); }, setFailed)
      .finally(() => setBusy(false));
  };
  return (
    <details class="marks">
      <summary>Mark</summary>
      <div class="line">
        <label>Reason <input value={reason} maxLength={500} dir="auto"
          onInput={(e) => setReason((e.target as HTMLInputElement).value)} /></label>
        {node.mark ? <button disabled={busy} onClick={() => run('restore')}>Restore</button> : <>
          <button disabled={busy} onClick={() => run('stale')}>Stale</button>
          <button disabled={busy} onClick={() => run('retired')}>Retire</button>
          <button disabled={busy} onClick={() => run('forget')}>Forget</button>
        </>}
        <a href={href('operations')}>Undo in Operations</a>
      </div>
      {failed && <Failure of={failed} />}
    </details>
  );
}

/** Properties are the fields of a node, each with the commit that it is from. */
function Properties({ node, at, tick }: { node: Node; at: string; tick: number }) {
  const blame = useAsk('blame', { node: node.id, at }, tick);
  const from = (field: string) => {
    const b = blame.data?.fields.find((f) => f.field === field);
    return b && <a class="dim small" href={href('commit', b.commit)}>
      <Text of={b.agent ?? b.author} />, <Time of={b.time} day /></a>;
  };
  const row = (name: string, v: ComponentChildren, field: string) =>
    <><dt><Text of={name} /></dt><dd><span>{v}</span> {from(field)}</dd></>;
  const time = (name: string, v: string | null, field: string) => v && row(name, <Time of={v} />, field);
  const terms = (list: string[]) => list.map((one) => <span class="term"><Text of={one} /></span>);
  return (
    <section>
      <h2>Properties</h2>
      <dl class="pairs props">
        {Object.entries(node.props).map(([name, v]) => row(name,
          Array.isArray(v) && v.every((one) => typeof one === 'string') ? terms(v) : <Text of={asText(v)} />, 'props.' + name))}
        {node.cues && node.cues.length > 0 && row('cues', terms(node.cues), 'cues')}
        {node.sources.length > 0 && row('sources', node.sources.map((s) => <div><Text of={s} /></div>), 'sources')}
        {time('created', node.created, 'summary')}
        {time('updated', node.updated, '')}
        {time('valid from', node.validFrom, 'validFrom')}
        {time('valid to', node.validTo, 'validTo')}
        <dt>id</dt><dd><span><code>{node.id}</code> <Copy text={() => node.id}>Copy</Copy></span></dd>
      </dl>
    </section>
  );
}

/** Edges are the neighbours of a node by type, with their names. */
function Edges({ id, at, tick }: { id: string; at: string; tick: number }) {
  const near = useAsk('explore', { topic: id, at, depth: 1, limit: most }, tick);
  return (
    <section>
      <h2>Edges</h2>
      <Waits of={near}>{(n) => n.nodes.length === 0
        ? <p class="empty">No edges. <Command>mnem add --link A TYPE B</Command> adds one.</p>
        : <>
          <Group of={n} forward at={at} />
          <Group of={n} forward={false} at={at} />
          {n.more + n.cut > 0 && <p class="dim">{n.more + n.cut} more are not shown.</p>}
        </>}</Waits>
    </section>
  );
}

function Group({ of, forward, at }: { of: Explored; forward: boolean; at: string }) {
  const list = of.nodes.flatMap((n) => n.reasons.flatMap(({ edge }) => edge?.forward === forward ? [{ n, edge }] : []));
  const types = [...new Set(list.map((e) => e.edge.type))].sort();
  return (
    <dl class="pairs edges">
      {types.map((t) => <>
        <dt>{forward ? '→' : '←'} <Text of={t} /></dt>
        <dd><ul>{list.filter((e) => e.edge.type === t).map(({ n, edge }) => (
          <li key={edge.edge}><Named id={n.id} name={n.key} summary={n.summary} at={at} />{' '}
            <span class="dim"><Text of={n.type} /></span></li>
        ))}</ul></dd>
      </>)}
    </dl>
  );
}

/** History is the commits that changed a node. */
function History({ id, at, tick }: { id: string; at: string; tick: number }) {
  const log = useAsk('log', { node: id, at, limit: 50 }, tick);
  return (
    <section>
      <h2>History</h2>
      <Waits of={log}>{(l) => <ul class="rows">{l.map((c) => <Past key={c.commit} commit={c} id={id} />)}</ul>}</Waits>
    </section>
  );
}

/** Past is one commit of a node's history; what it did to the node is asked when it is opened. */
function Past({ commit, id }: { commit: Commit; id: string }) {
  const [open, setOpen] = useState(false);
  const shown = useShow<Shown>(open ? { name: commit.commit } : null);
  return (
    <li class="past">
      <details onToggle={(e) => setOpen((e.target as HTMLDetailsElement).open)}>
        <summary><Time of={commit.time} /> · <Text of={commit.agent ?? commit.author} /> ·{' '}
          <Text of={headline(commit)} /></summary>
        {open && <Waits of={shown}>{(s) => {
          const n = s.diff.nodes.find((x) => x.id === id);
          const edges = s.diff.edges.filter((e) => e.src === id || e.dst === id);
          return <>
            {n && <p><b>{n.change}</b></p>}
            {n && n.change === 'changed' && <Fields of={n.fields} />}
            {edges.length > 0 && <p>{edges.length} edges {edges.map((e) => e.change)
              .filter((c, i, all) => all.indexOf(c) === i).join(', ')}</p>}
            <p><a href={href('commit', commit.commit)}>Whole commit</a>{' · '}
              <a href={href('node', id, { at: commit.commit })}>This memory at that commit</a></p>
          </>;
        }}</Waits>}
      </details>
      <Cid of={commit.commit} />
    </li>
  );
}

/** Raw is the block of a node as it is stored. */
function Raw({ cid }: { cid: string }) {
  const [open, setOpen] = useState(false);
  const block = useShow<Block>(open ? { name: cid, raw: true } : null);
  return (
    <details onToggle={(e) => setOpen((e.target as HTMLDetailsElement).open)}>
      <summary>Stored block</summary>
      <p><code>{cid}</code></p>
      {open && <Waits of={block}>{(b) => <pre tabIndex={0}><Text of={JSON.stringify(b.data, null, 2)} /></pre>}</Waits>}
    </details>
  );
}
