import { h, Fragment } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { ask } from './api';
import { href } from './route';
import { order, place, Placed } from './lanes';
import { counts } from './diff';
import { Cid, Command, Failure, Text, Time, Waits, useAsk } from './parts';
import { Page } from './search';
import { Branch, Commit } from './types';
import { headline, short } from './words';

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
            <span class="dim">Choose two commits, A and B, to compare them.</span>
            {from && to && from !== to &&
              <a class="button" href={href('diff', '', { a: from, b: to })}>Compare the two</a>}
          </p>
          <ol class="log">{rows.map((r) => (
            <Line key={r.commit.commit} row={r} branches={list.filter((b) => b.commit === r.commit.commit)}
              from={from} to={to} setFrom={setFrom} setTo={setTo} />
          ))}</ol>
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
  const choice = (name: string, letter: string, chosen: string, set: (c: string) => void) => <label>
    <input type="radio" name={name} aria-label={`Compare ${name} ${short(c.commit)}`} checked={chosen === c.commit}
      onChange={() => set(c.commit)} />{letter}</label>;
  return (
    <li>
      <span class="lanes"><Lanes row={row} /></span>
      <span class="grow">
        <a href={href('commit', c.commit)}><Text of={headline(c) || short(c.commit)} /></a>
        {branches.map((b) => <span class={'branch' + (b.current ? ' current' : '')}><Text of={b.name} /></span>)}
        <div class="meta"><Cid of={c.commit} /> <Time of={c.time} /> <Text of={c.agent ?? c.author} />{' '}
          <span>{counts(c)}</span></div>
      </span>
      <span class="choose">{choice('from', 'A', from, setFrom)}{choice('to', 'B', to, setTo)}</span>
    </li>
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
