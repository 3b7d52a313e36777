import { h, Fragment } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { ask } from './api';
import { href } from './route';
import { Cid, Command, Failure, Keep, Named, Text, Time, Waits, asText, useAsk, useNodes, useShow } from './parts';
import { Page } from './search';
import { Block, Json, Replay, SessionRecord } from './types';
import { many, uuid } from './words';

/** Sessions lists what was recorded. */
export function Sessions({ tick }: Page) {
  const list = useAsk('session_list', {}, tick);
  return (
    <section>
      <h1>Sessions</h1>
      <Waits of={list}>{(all) => all.length === 0
        ? <p class="empty">No sessions yet. Agents that use <Command>mnem mcp</Command> record theirs;{' '}
          <Command>mnem retrieve --session NAME "question"</Command> records one by hand. Every recorded answer can be
          inspected and replayed.</p>
        : <ul class="rows">{all.map((s) => (
          <li key={s.session}>
            <span class="grow"><a href={href('session', s.session)}><Text of={s.session} /></a>{' '}
              {s.task && <Text of={s.task} />}</span>
            <span class="meta">{s.agent && <Text of={s.agent} />} <span>{many(s.records, 'record')}{s.ended
              ? ', ended' : ''}</span> <Time of={s.time} /></span>
          </li>
        ))}</ul>}</Waits>
    </section>
  );
}

/** SessionPage is one session: what was asked, and what was given, in order. */
export function SessionPage({ route, tick }: Page) {
  const name = route.part;
  const log = useAsk('session_log', { name, limit: 1000 }, tick);
  const [all, setAll] = useState(false);
  const records = useMemo(() => [...log.data ?? []].reverse(), [log.data]);
  return (
    <section>
      <h1>Session <Text of={name} /></h1>
      <Waits of={log}>{() => <>
        <div class="line"><Replays of={name} label="Replay all" />
          {!all && <button onClick={() => setAll(true)}>Show all results</button>}
          <Keep name={'session ' + name} /></div>
        <ol class="records">{records.map((r) => <Record key={r.record + all} record={r} all={all} />)}</ol>
      </>}</Waits>
    </section>
  );
}

function Record({ record: r, all }: { record: SessionRecord; all: boolean }) {
  const [open, setOpen] = useState(all);
  if (!r.receipt) {
    return <li><p class="meta"><b><Text of={r.event} /></b> <Time of={r.time} />
      {r.commit && <a href={href('search', '', { at: r.commit })}>at <Cid of={r.commit} /></a>}</p></li>;
  }
  return (
    <li class="card">
      <h2><Text of={r.query ?? 'no question text'} /></h2>
      <p class="meta"><Text of={r.event} /> <Time of={r.time} />
        {r.commit && <a href={href('search', '', { q: r.query ?? '', at: r.commit })}>Ask again at that commit</a>}</p>
      <details open={open} onToggle={(e) => setOpen((e.target as HTMLDetailsElement).open)}>
        <summary>{many(r.items ?? 0, 'memory', 'memories')} returned, {r.tokens} tokens</summary>
        {open && <Given receipt={r.receipt} />}
      </details>
      <Replays of={r.receipt} label="Replay" />
    </li>
  );
}

type Fields = Record<string, Json>;

function fieldsOf(v: Json | undefined): Fields {
  return v && typeof v === 'object' && !Array.isArray(v) ? v : {};
}

function listOf(v: Json | undefined): Json[] {
  return Array.isArray(v) ? v : [];
}

/** Given shows the memories in a receipt, as they were then, with their scores. */
function Given({ receipt }: { receipt: string }) {
  const block = useShow<Block>({ name: receipt, raw: true });
  return <Waits of={block}>{(b) => <Items data={fieldsOf(b.data)} />}</Waits>;
}

function Items({ data }: { data: Fields }) {
  const items = listOf(data.items).map(fieldsOf);
  const ids = items.map((i) => uuid(String(fieldsOf(fieldsOf(i.id)['/']).bytes ?? '')));
  const commits = listOf(data.commits).map((c) => String(fieldsOf(c)['/'] ?? ''));
  const at = commits[0] ?? '';
  const nodes = useNodes(ids.filter(Boolean), at);
  const asked = fieldsOf(data.request);
  return (
    <div>
      <ol>{ids.map((id, n) => (
        <li key={id}>{id ? <Named id={id} name={nodes[id]?.key} summary={nodes[id]?.summary} at={at} /> : 'a memory'}
          <span class="dim"> {asText(items[n]!.tokens ?? null)} tokens</span></li>
      ))}</ol>
      <p class="dim">{Object.entries(asked).filter(([, v]) => typeof v !== 'object')
        .map(([k, v]) => `${k} ${asText(v)}`).join(' · ')}</p>
    </div>
  );
}

/** Replays asks everything again as it was asked, and shows the first difference. */
function Replays({ of, label }: { of: string; label: string }) {
  const [said, setSaid] = useState<Replay | null>(null);
  const [failed, setFailed] = useState<Error | null>(null);
  const [busy, setBusy] = useState(false);
  const run = () => {
    setBusy(true);
    setSaid(null);
    ask('session_replay', { record: of }).then((r) => { setSaid(r); setFailed(null); }, setFailed)
      .finally(() => setBusy(false));
  };
  const d = said?.first_difference;
  return (
    <div>
      <button disabled={busy} onClick={run}>{busy ? 'Replaying…' : label}</button>{' '}
      <span role="status">{said && ((said.redacted?.length ?? 0) > 0 ? `Not replayed: ${said.redacted!.length} of what it needs was purged since.`
        : said.identical === null ? 'Nothing to replay.'
        : !said.identical ? 'It differs.'
          : said.receipts === 1 ? 'Identical to what was returned then.'
            : `Identical: all ${said.receipts} answers are as they were.`)}</span>
      {failed && <Failure of={failed} />}
      {d && <dl class="pairs note bad">
        <dt>Answer {d.number}{d.item !== null && `, item ${d.item}`}: <Text of={d.field} /></dt>
        <dd><del><Text of={d.old} /></del> <ins><Text of={d.new} /></ins></dd>
      </dl>}
    </div>
  );
}
