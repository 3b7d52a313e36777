import { h, Fragment } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { ask } from './api';
import { href } from './route';
import { order, place, Placed } from './lanes';
import { count } from './diff';
import { Command, Failure, Text, Time, Waits, useAsk } from './parts';
import { Page } from './search';
import { Branch, Commit } from './types';
import { headline } from './words';

const step = 200; // commits of a branch that are asked for

/** HistoryPage is the commits of all branches, with lanes. */
export function HistoryPage({ tick }: Page) {
  const branches = useAsk('branch', {}, tick);
  const [limit, setLimit] = useState(step);
  const [logs, setLogs] = useState<Commit[][] | null>(null);
  const [failed, setFailed] = useState<Error | null>(null);
  useEffect(() => {
    if (!branches.data) return;
    const abort = new AbortController();
    const heads = branches.data.filter((b) => b.commit).slice(0, 20);
    Promise.all(heads.map((b) => ask('log', { at: b.commit!, limit }, abort.signal)))
      .then((all) => { setLogs(all); setFailed(null); }, (err) => { if (!abort.signal.aborted) setFailed(err); });
    return () => abort.abort();
  }, [branches.data, limit]);
  const rows = useMemo(() => logs && place(order(logs)), [logs]);
  const [from, setFrom] = useState(''), [to, setTo] = useState('');
  if (failed) return <Failure of={failed} />;
  return (
    <section>
      <h1>History</h1>
      <Waits of={branches}>{(list) => !rows ? <p class="dim" role="status">Reading…</p> : rows.length === 0
        ? <p class="empty">No commits yet. <Command>mnem remember "Alice leads infra"</Command> makes
          the first commit.</p>
        : <>
          <p class="line">
            <span class="dim">Choose two commits to compare them.</span>
            {from && to && from !== to &&
              <a class="button" href={href('diff', '', { a: from, b: to })}>Compare the two</a>}
          </p>
          <div class="scroll"><table class="log">
            <thead><tr><th class="sr">Graph</th><th title="from">A</th><th title="to">B</th><th>When</th><th>What</th>
              <th>Who</th></tr></thead>
            <tbody>{rows.map((r) => (
              <Line key={r.commit.commit} row={r} branches={list.filter((b) => b.commit === r.commit.commit)}
                from={from} to={to} setFrom={setFrom} setTo={setTo} />
            ))}</tbody>
          </table></div>
          {logs!.some((l) => l.length >= limit) &&
            <button onClick={() => setLimit(limit + step)}>Earlier commits</button>}
        </>}</Waits>
    </section>
  );
}

interface LineProps {
  row: Placed; branches: Branch[]; from: string; to: string;
  setFrom: (c: string) => void; setTo: (c: string) => void;
}

function Line({ row, branches, from, to, setFrom, setTo }: LineProps) {
  const c = row.commit;
  return (
    <tr>
      <td class="lanes"><Lanes row={row} /></td>
      <td><input type="radio" name="from" aria-label={`Compare from ${c.time}`} checked={from === c.commit}
        onChange={() => setFrom(c.commit)} /></td>
      <td><input type="radio" name="to" aria-label={`Compare to ${c.time}`} checked={to === c.commit}
        onChange={() => setTo(c.commit)} /></td>
      <td class="dim nowrap"><Time of={c.time} /></td>
      <td>
        <a href={href('commit', c.commit)}><Text of={headline(c) || c.commit.slice(-8)} /></a>
        {branches.map((b) => <span class={'branch' + (b.current ? ' current' : '')}><Text of={b.name} /></span>)}
        <div class="dim small">{[count(c.nodes, 'memories'), count(c.edges, 'edges')].filter(Boolean).join(' · ')}</div>
      </td>
      <td><Text of={c.agent ?? c.author} /></td>
    </tr>
  );
}

const wide = 14, high = 48, most = 12; // of a lane and a row, in pixels; lanes that are drawn

function Lanes({ row }: { row: Placed }) {
  const x = (lane: number) => Math.min(lane, most) * wide + wide / 2;
  const width = Math.min(row.width, most + 1) * wide;
  return (
    <>
      <svg class="lines" width={width} viewBox={`0 0 ${width} ${high}`} preserveAspectRatio="none" aria-hidden="true">
        {row.lines.map(([a, b]) => <path class={'lane l' + (b % 6)}
          d={`M${x(a)} ${high / 2}C${x(a)} ${high} ${x(b)} ${high / 2} ${x(b)} ${high}`} />)}
        {row.lines.filter(([a]) => a !== row.lane).map(([a]) => <path class={'lane l' + (a % 6)}
          d={`M${x(a)} 0V${high / 2}`} />)}
        {row.above && <path class={'lane l' + (row.lane % 6)} d={`M${x(row.lane)} 0V${high / 2}`} />}
      </svg>
      <svg width={width} height={high} aria-hidden="true">
        <circle class={'dot l' + (row.lane % 6)} cx={x(row.lane)} cy={high / 2} r={4} />
      </svg>
    </>
  );
}
