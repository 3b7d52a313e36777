import { h, Fragment } from 'preact';
import { useState } from 'preact/hooks';
import { ask } from './api';
import { href } from './route';
import { Cid, Command, Failure, Text, Time, Waits, useAsk } from './parts';
import { Page } from './search';
import { Op } from './types';

/** Operations is all that was done, newest first, each to be undone. */
export function Operations({ tick, writes }: Page) {
  const [done, setDone] = useState(0);
  const [limit, setLimit] = useState(50);
  const [failed, setFailed] = useState<Error | null>(null);
  const [said, setSaid] = useState('');
  const [sure, setSure] = useState('');
  const list = useAsk('op_log', { limit }, tick + done);
  const run = (verb: 'undo' | 'redo', args: { op?: string }, words: string) => {
    setSure('');
    ask(verb, args).then(() => { setFailed(null); setSaid(words); }, (err) => { setFailed(err); setSaid(''); })
      .finally(() => setDone((d) => d + 1));
  };
  return (
    <section>
      <h1>Operations</h1>
      {!writes && <p class="note">This page is read only. To undo here, start it with{' '}
        <Command>mnem view --write</Command> or log in with a token of scope write.</p>}
      <p class="line"><span role="status">{said}</span>
        {writes && <button onClick={() => run('redo', {}, 'The last undo is reverted.')}>Redo</button>}</p>
      {failed && <Failure of={failed} />}
      <Waits of={list}>{(all) => <>
        {all.length === 0 && <p class="empty">No operations yet.</p>}
        <ul class="rows ops">{all.map((o) => (
          <li key={o.op} class={o.undone ? 'undone' : ''}>
            <span class="seq">{o.seq}</span>
            <span class="grow">
              <code><Text of={o.command.join(' ')} /></code>
              {o.undoes && <span class="dim"> undoes <Cid of={o.undoes} /></span>}
              {o.redoes && <span class="dim"> redoes <Cid of={o.redoes} /></span>}
              {o.undone && <span class="mark">undone</span>}
              <Refs of={o} />
            </span>
            <span><Text of={o.actor} /></span>
            <span class="dim"><Time of={o.time} /></span>
            {writes && !o.undone && o.seq > 1 && (sure === o.op
              ? <span><button class="main" onClick={() => run('undo', { op: o.op }, `Operation ${o.seq} is undone.`)}>
                Undo {o.seq}</button> <button onClick={() => setSure('')}>No</button></span>
              : <button onClick={() => setSure(o.op)}>Undo…</button>)}
          </li>
        ))}</ul>
        {all.length >= limit && <button onClick={() => setLimit(limit * 2)}>Earlier</button>}
      </>}</Waits>
    </section>
  );
}

/** Refs are what an operation moved. */
function Refs({ of }: { of: Op }) {
  return (
    <div class="small">{of.refs.slice(0, 5).map((r) => {
      const branch = r.ref.startsWith('refs/heads/');
      const session = r.ref.startsWith('refs/sessions/') ? r.ref.slice('refs/sessions/'.length) : '';
      return (
        <div><span class="dim"><Text of={r.ref} /></span>{' '}
          {branch && r.from && r.to && <a href={href('diff', '', { a: r.from, b: r.to })}>what changed</a>}
          {branch && !r.from && r.to && <a href={href('commit', r.to)}>what began it</a>}
          {session && r.to && <a href={href('session', session)}>session</a>}
        </div>
      );
    })}{of.refs.length > 5 && <div class="dim">and {of.refs.length - 5} more</div>}</div>
  );
}
