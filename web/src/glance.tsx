import { h, Fragment } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { ask } from './api';
import { href } from './route';
import { Text, Time, useAsk } from './parts';
import { Commit, Stats } from './types';
import { many } from './words';

const reach = 500; // commits that the growth is of
const sessions = 12, records = 200; // that questions are counted of

export interface Growth { points: { time: number; total: number }[]; week: number }

/** growth is how many memories there were after each commit, and how many came within seven days before the last. */
export function growth(log: Commit[], total: number): Growth {
  const points: Growth['points'] = [];
  const last = log[0] ? Date.parse(log[0].time) : 0;
  let week = 0;
  for (const c of log) {
    const time = Date.parse(c.time), came = c.nodes.added - c.nodes.removed;
    points.push({ time, total });
    if (last - time < 7 * 86_400_000) week += came;
    total -= came;
  }
  const first = points[points.length - 1];
  if (first) points.push({ time: first.time, total: Math.max(total, 0) });
  return { points: points.reverse(), week };
}

const wide = 300, high = 48;

/** curve is the growth as steps from left to right, evenly by commit if all came at once. */
export function curve({ points }: Growth): string {
  const from = points[0]!.time, span = points[points.length - 1]!.time - from;
  const top = Math.max(...points.map((p) => p.total), 1);
  const x = (i: number) => Math.round(span > 0 ? (points[i]!.time - from) / span * wide : i / (points.length - 1) * wide);
  const y = (i: number) => Math.round(high - points[i]!.total / top * (high - 4));
  return points.map((_, i) => i === 0 ? `M0 ${y(0)}` : `H${x(i)}V${y(i)}`).join('') + `H${wide}`;
}

/** questions counts what was asked, the most frequent first; what differs in case alone is one. */
export function questions(all: (string | null)[]): [string, number][] {
  const count = new Map<string, [string, number]>();
  for (const q of all) {
    if (!q?.trim()) continue;
    const key = q.trim().toLowerCase(), known = count.get(key);
    count.set(key, [known?.[0] ?? q.trim(), (known?.[1] ?? 0) + 1]);
  }
  return [...count.values()].sort((a, b) => b[1] - a[1]);
}

/** useAsked reads the questions of the newest sessions. */
function useAsked(tick: number): [string, number][] {
  const list = useAsk('session_list', {}, tick);
  const [all, setAll] = useState<[string, number][]>([]);
  useEffect(() => {
    if (!list.data) return;
    const abort = new AbortController();
    const newest = [...list.data].sort((a, b) => b.time < a.time ? -1 : 1).slice(0, sessions);
    Promise.all(newest.map((s) => ask('session_log', { name: s.session, limit: records }, abort.signal)))
      .then((logs) => setAll(questions(logs.flat().map((r) => r.query))), () => undefined); // the rest stays
    return () => abort.abort();
  }, [list.data]);
  return all;
}

/** Glance says how the memory grows and what is asked most. */
export function Glance({ stats, at, tick }: { stats: Stats; at: string; tick: number }) {
  const log = useAsk('log', { at, limit: reach }, tick);
  const asked = useAsked(tick);
  const grown = useMemo(() => growth(log.data ?? [], stats.nodes.total), [log.data, stats]);
  const first = log.data?.[log.data.length - 1], last = log.data?.[0];
  return (
    <div class="glance">
      <section aria-labelledby="growth">
        <h2 id="growth">Growth</h2>
        {first && last && <>
          <svg class="growth" viewBox={`0 0 ${wide} ${high}`} preserveAspectRatio="none" aria-hidden="true">
            <path class="lane l0" d={curve(grown)} /></svg>
          <p class="dim">{many(log.data!.length, 'commit')} since <Time of={first.time} day />; in the last
            week {grown.week < 0 ? '−' : '+'}{many(Math.abs(grown.week), 'memory', 'memories')}</p>
        </>}
      </section>
      {asked.length > 0 && <section aria-labelledby="asked">
        <h2 id="asked">Asked most</h2>
        <ol class="asked">{asked.slice(0, 5).map(([q, n]) => (
          <li key={q}><a href={href('search', '', { q, at })}><Text of={q} /></a>{n > 1 && <span class="dim"> {n}×</span>}</li>
        ))}</ol>
      </section>}
    </div>
  );
}
