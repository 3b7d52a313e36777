import { h, Fragment } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { ask } from './api';
import { href } from './route';
import { Cid, Command, Failure, Text, Time, Waits, useAsk } from './parts';
import { Page } from './search';
import { Arguments, Commit, Op } from './types';
import { counts } from './diff';
import { headline } from './words';

const reach = 500; // commits of the current branch that operations are named by

/** Operations is all that was done, newest first, each with what undo would do. */
export function Operations({ tick, writes }: Page) {
  const [done, setDone] = useState(0);
  const [limit, setLimit] = useState(50);
  const [failed, setFailed] = useState<Error | null>(null);
  const [said, setSaid] = useState('');
  const [sure, setSure] = useState('');
  const list = useAsk('op_log', { limit }, tick + done);
  const moved = (list.data ?? []).some((o) => o.refs?.some((r) => r.ref.startsWith('refs/heads/')));
  const log = useAsk(moved ? 'log' : '', { limit: reach }, tick + done);
  const commits = useMemo(() => new Map((log.data ?? []).map((c) => [c.commit, c])), [log.data]);
  const run = (args: Arguments['undo'], words: string) => {
    setSure('');
    ask('undo', args).then(() => { setFailed(null); setSaid(words); }, (err) => { setFailed(err); setSaid(''); })
      .finally(() => setDone((d) => d + 1));
  };
  return (
    <section>
      <h1>Operations</h1>
      {!writes && <p class="note">This page is read only. To undo here, start it with{' '}
        <Command>mnem view --write</Command> or log in with a token of scope write.</p>}
      <p class="line"><span role="status">{said}</span>
        {writes && list.data?.some((o) => o.undone) && <button onClick={() => run({ redo: true }, 'The last undo is reverted.')}>Redo</button>}</p>
      {failed && <Failure of={failed} />}
      <Waits of={list}>{(all) => <>
        {all.length === 0 && <p class="empty">No operations yet.</p>}
        <ul class="rows ops">{all.map((o) => {
          const undo = backs(o, all);
          return (
            <li key={o.op} class={o.undone ? 'undone' : ''}>
              <span class="grow">
                <What of={o} all={all} commits={commits} />
                {o.undone && <span class="mark">undone</span>}
                <div class="meta"><span>{o.seq}</span> <Time of={o.time} /> <Text of={o.actor} />
                  <code><Text of={o.command.join(' ')} /></code></div>
                {sure === o.op && <Back of={o} commits={commits} />}
              </span>
              {writes && !o.undone && (typeof undo === 'string' ? undo && <span class="dim small">{undo}</span>
                : sure === o.op
                  ? <span><button class="main" onClick={() => run({ op: o.op }, `Operation ${o.seq} is undone.`)}>
                    Undo {o.seq}</button> <button onClick={() => setSure('')}>No</button></span>
                  : <button aria-label={`Undo operation ${o.seq}…`} onClick={() => setSure(o.op)}>Undo…</button>)}
            </li>
          );
        })}</ul>
        {all.length >= limit && <button onClick={() => setLimit(limit * 2)}>Earlier</button>}
      </>}</Waits>
    </section>
  );
}

/** branch is the name of a branch, '' for another ref. */
function branch(ref: string): string {
  return ref.startsWith('refs/heads/') ? ref.slice('refs/heads/'.length) : '';
}

const never = /^refs\/(sessions|remotes)\//; // undo does not move these

/** backs returns true if an operation can be undone, or why not; '' if there is nothing to undo. */
export function backs(o: Op, all: Op[]): true | string {
  const moved = o.refs.filter((r) => !never.test(r.ref));
  if (moved.length === 0 || o.seq <= 1) return '';
  for (const r of moved) {
    // The newest are first. Captures do not stand in the way.
    const newest = all.find((x) => x === o || x.command[0] !== 'capture' && x.refs.some((other) => other.ref === r.ref))!;
    if (newest.refs.find((x) => x.ref === r.ref)!.to !== r.to) return `Undo ${newest.seq} first`;
  }
  return true;
}

/** What says in words what an operation did. */
function What({ of: o, all, commits }: { of: Op; all: Op[]; commits: ReadonlyMap<string, Commit> }) {
  const named = (op: string) => {
    const other = all.find((x) => x.op === op);
    return other ? `operation ${other.seq}` : <>operation <Cid of={op} /></>;
  };
  if (o.undoes) return <>Undid {named(o.undoes)}</>;
  if (o.redoes) return <>Redid {named(o.redoes)}</>;
  const moved = o.refs.find((r) => branch(r.ref)), session = o.refs.find((r) => r.ref.startsWith('refs/sessions/'));
  if (moved) {
    const c = moved.to ? commits.get(moved.to) : undefined, name = branch(moved.ref);
    if (!moved.to) return <>Deleted branch <Text of={name} /></>;
    const words = c ? <Text of={headline(c)} /> : <>Moved <Text of={name} /> to <Cid of={moved.to} /></>;
    return <>
      <a href={moved.from ? href('diff', '', { a: moved.from, b: moved.to }) : href('commit', moved.to)}>{words}</a>
      <span class="branch"><Text of={name} /></span>
      {c && <div class="small">{counts(c)}</div>}
    </>;
  }
  if (session) {
    const name = session.ref.slice('refs/sessions/'.length);
    return <>{!session.from ? 'Began' : !session.to ? 'Removed' : 'Recorded an answer in'} session{' '}
      {session.to ? <a href={href('session', name)}><Text of={name} /></a> : <Text of={name} />}</>;
  }
  if (o.seq === 1 || o.command[0] === 'init') return <>Created the memory</>;
  const stage = o.refs.some((r) => r.ref.startsWith('refs/stage/'));
  return stage ? <>Changed what is staged</> : o.refs[0]
    ? <>Moved <Text of={o.refs[0].ref} />{o.refs.length > 1 && ` and ${o.refs.length - 1} more`}</>
    : <>Ran <code><Text of={o.command[0] ?? ''} /></code></>;
}

/** Back says what undoing an operation does. */
function Back({ of: o, commits }: { of: Op; commits: ReadonlyMap<string, Commit> }) {
  return <div class="note">{o.refs.filter((r) => !never.test(r.ref)).map((r) => {
    const name = branch(r.ref), c = r.to ? commits.get(r.to) : undefined, before = r.from ? commits.get(r.from) : undefined;
    const what = name ? <>Branch <b><Text of={name} /></b></> : r.ref.startsWith('refs/stage/') ? 'What is staged'
      : <Text of={r.ref} />;
    if (!r.from) return <p>{what} is removed again.</p>;
    if (!r.to) return <p>{what} comes back{name && <> at <Cid of={r.from} /></>}.</p>;
    return <p>{what} goes back{name && <> to <Cid of={r.from} /></>}
      {before && <> “<Text of={headline(before)} />”</>}{c && counts(c) && <>. This takes back: {counts(c)}</>}.</p>;
  })}<p class="dim">The commits stay; Redo brings them back.</p></div>;
}
