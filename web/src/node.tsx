import { h, Fragment } from 'preact';
import { useState } from 'preact/hooks';
import { ask } from './api';
import { href } from './route';
import { Cid, Command, Copy, Failure, Named, Text, Time, Waits, asText, useAsk } from './parts';
import { Page } from './search';
import { Commit, Json, Neighbor, Node, hidden } from './types';
import { Fields } from './diff';
import { headline } from './words';

const most = 200; // neighbours of each direction

/** NodePage is all that the memory says of one node. */
export function NodePage({ route, at, tick, writes }: Page) {
  const [changes, setChanges] = useState(0);
  const again = tick + changes;
  const node = useAsk('get', { node: route.part, at, include: hidden }, again);
  return (
    <Waits of={node}>{(n) => (
      <article class="node">
        <header class="line">
          <span class="type"><Text of={n.type} /></span>
          {n.key && <code><Text of={n.key} /></code>}
          <a href={href('graph', n.id, { at })}>Graph</a>
        </header>
        <h1><Text of={n.summary || n.key || n.id} /></h1>
        {n.mark && (
          <div class="note">
            <p>This was marked <b><Text of={n.mark.state} /></b> by <Text of={n.mark.actor} />,{' '}
              <Time of={n.mark.time} />{n.mark.by && <>: see <Named id={n.mark.by} at={at} /></>}</p>
            {n.mark.reason && <p><Text of={n.mark.reason} /></p>}
          </div>
        )}
        {n.context && <p><Text of={n.context} /></p>}
        {n.content && <Text of={n.content} block />}
        {!at && <Marks node={n} writes={writes} onChange={() => setChanges((c) => c + 1)} />}
        <Properties node={n} at={at} tick={again} />
        <Edges id={n.id} at={at} tick={again} />
        <History id={n.id} at={at} tick={again} />
        <Raw cid={n.cid} />
      </article>
    )}</Waits>
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
  const rows: [string, Json, string][] = [
    ...Object.entries(node.props).map(([k, v]): [string, Json, string] => [k, v, 'props.' + k]),
  ];
  const fixed: [string, string | null | undefined][] = [
    ['created', node.created], ['updated', node.updated], ['valid from', node.validFrom], ['valid to', node.validTo],
  ];
  const from = (field: string) => {
    const b = blame.data?.fields.find((f) => f.field === field);
    return b && <a class="dim" href={href('commit', b.commit)}>
      <Text of={b.agent ?? b.author} />, <Time of={b.time} day /></a>;
  };
  return (
    <section>
      <h2>Properties</h2>
      <div class="scroll"><table class="props"><tbody>
        {rows.map(([name, v, field]) => <tr><th scope="row"><Text of={name} /></th>
          <td><Text of={asText(v)} /></td><td>{from(field)}</td></tr>)}
        {node.cues && node.cues.length > 0 && <tr><th scope="row">cues</th>
          <td>{node.cues.map((c) => <span class="term"><Text of={c} /></span>)}</td><td>{from('cues')}</td></tr>}
        {node.sources.length > 0 && <tr><th scope="row">sources</th>
          <td>{node.sources.map((s) => <div><Text of={s} /></div>)}</td><td>{from('sources')}</td></tr>}
        {fixed.map(([name, v]) => v && <tr><th scope="row">{name}</th><td><Time of={v} /></td>
          <td>{name === 'created' && from('summary')}</td></tr>)}
        <tr><th scope="row">id</th><td><code>{node.id}</code> <Copy text={() => node.id}>Copy</Copy></td><td /></tr>
      </tbody></table></div>
    </section>
  );
}

/** Edges are the neighbours of a node by type, with their names. */
function Edges({ id, at, tick }: { id: string; at: string; tick: number }) {
  const near = useAsk('neighbors', { node: id, at, both: true, limit: most }, tick);
  return (
    <section>
      <h2>Edges</h2>
      <Waits of={near}>{(n) => n.out.length + n.in.length === 0
        ? <p class="empty">No edges. <Command>mnem link A TYPE B</Command> adds one.</p>
        : <>
          <Group list={n.out} arrow="→" at={at} />
          <Group list={n.in} arrow="←" at={at} />
          {n.more_out + n.more_in > 0 && <p class="dim">{n.more_out + n.more_in} more are not shown.</p>}
        </>}</Waits>
    </section>
  );
}

function Group({ list, arrow, at }: { list: Neighbor[]; arrow: string; at: string }) {
  const types = [...new Set(list.map((e) => e.type))].sort();
  return (
    <dl class="edges">
      {types.map((t) => <>
        <dt>{arrow} <Text of={t} /></dt>
        <dd><ul>{list.filter((e) => e.type === t).map((e) => (
          <li key={e.edge}><Named id={e.id} name={e.key ?? e.summary} summary={e.summary} at={at} />{' '}
            {e.node_type && <span class="dim"><Text of={e.node_type} /></span>}</li>
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
  const shown = useAsk(open ? 'show' : '', { name: commit.commit });
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
  const block = useAsk(open ? 'cat_file' : '', { cid });
  return (
    <details onToggle={(e) => setOpen((e.target as HTMLDetailsElement).open)}>
      <summary>Stored block</summary>
      <p><code>{cid}</code></p>
      {open && <Waits of={block}>{(b) => <pre tabIndex={0}><Text of={JSON.stringify(b.data, null, 2)} /></pre>}</Waits>}
    </details>
  );
}
