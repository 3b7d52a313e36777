import { h, Fragment } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { ask } from './api';
import { href } from './route';
import { Cid, Command, Failure, Id, Named, Text, Time, Waits, Words, asText, useAsk, useNodes } from './parts';
import { Page } from './search';
import { Arguments, Conflict, Pending, Proposal, Quarantined, Reviewed, ReviewItem, Verb } from './types';
import { brief } from './words';

/** The choices for one memory and their labels. */
const ways = [['keep', 'Keep'], ['pin', 'Pin'], ['edit', 'Edit'], ['drop', 'Forget']] as const;

type Way = typeof ways[number][0];

/** Decision is the choice for one memory; text is used by an edit alone. */
interface Decision { way: Way; text: string }

/** Doing runs verbs one at a time; run reports whether it succeeded. */
interface Doing { busy: boolean; run: <V extends Verb>(verb: V, args: Arguments[V], said: string) => Promise<boolean> }

/**
 * Review lists what waits for a decision: conflicts of a merge, erasures that remotes report, new memories, and
 * proposals of consolidate.
 */
export function Review({ tick, writes, erases }: Page) {
  const [done, setDone] = useState(0);
  const [said, setSaid] = useState('');
  const [failed, setFailed] = useState<Error | null>(null);
  const [busy, setBusy] = useState(false);
  const [pairs, setPairs] = useState<Reviewed['undecided']>([]);
  const run = async <V extends Verb>(verb: V, args: Arguments[V], words: string) => {
    setBusy(true);
    try {
      await ask(verb, args);
      setFailed(null);
      setSaid(words);
      return true;
    } catch (err) {
      setFailed(err as Error);
      setSaid('');
      return false;
    } finally {
      setBusy(false);
      setDone((d) => d + 1);
    }
  };
  const doing = { busy, run };
  return (
    <section>
      <h1>Review</h1>
      {!writes && <p class="note">This page is read only. To decide here, start it with{' '}
        <Command>mnem view --write</Command> or log in with a token of scope write.</p>}
      <p class="line"><span role="status">{said}</span>{said && <a href={href('operations')}>Undo in Operations</a>}</p>
      {failed && <Failure of={failed} />}
      <Merge tick={tick + done} writes={writes} doing={doing} />
      <Quarantine tick={tick + done} writes={writes} erases={erases} doing={doing} />
      <NewMemories tick={tick + done} writes={writes} doing={doing} setPairs={setPairs} />
      <Suggestions tick={tick + done} writes={writes} doing={doing} without={pairs} />
    </section>
  );
}

/** NewMemories lists what was added since the last review. All choices are applied in one commit. */
function NewMemories({ tick, writes, doing, setPairs }:
{ tick: number; writes: boolean; doing: Doing; setPairs: (p: Reviewed['undecided']) => void }) {
  const [limit, setLimit] = useState(50);
  const [made, setMade] = useState<Record<string, Decision>>({});
  const [rest, setRest] = useState(false);
  const asked = useAsk('review', { limit }, tick);
  useEffect(() => setPairs(asked.data?.undecided ?? []), [asked.data]);
  const set = (id: string, to: Decision | null) => setMade((m) => {
    const next = { ...m };
    if (to) next[id] = to;
    else delete next[id];
    return next;
  });
  const decide = async (r: Reviewed) => {
    const of = (way: Way) => Object.entries(made).filter(([, d]) => d.way === way);
    const ids = (way: Way) => of(way).map(([id]) => id);
    const ok = await doing.run('review', {
      keep: ids('keep'), pin: ids('pin'), drop: ids('drop'), set: of('edit').map(([id, d]) => `${id}=${d.text}`),
      rest_of: rest && r.head ? r.head : undefined,
    }, 'Applied in one commit.');
    if (ok) {
      setMade({});
      setRest(false);
    }
  };
  const count = Object.keys(made).length;
  return (<>
    {asked.data && <Pairs of={asked.data.undecided} writes={writes} doing={doing} />}
    <section aria-labelledby="new">
      <h2 id="new">New since the last review</h2>
      <Waits of={asked}>{(r) => r.left === 0
        ? <p class="empty">Everything is reviewed. Memories that are remembered or captured from now on appear here.</p>
        : <>
          <p class="dim">{r.left.toLocaleString('en')} to review, oldest first; turns of conversations come last.</p>
          <ul class="rows reviews">{r.items.map((item) => (
            <NewMemory key={item.id} item={item} writes={writes} made={made[item.id]} set={(to) => set(item.id, to)} />
          ))}</ul>
          {r.items.length < r.left && <button onClick={() => setLimit(limit * 2)}>
            Show more of {r.left.toLocaleString('en')}</button>}
          {writes && <p class="line decide">
            <label><input type="checkbox" checked={rest} onChange={() => setRest(!rest)} /> Keep all the others</label>
            <button class="main" disabled={doing.busy || count === 0 && !rest} onClick={() => decide(r)}>
              {rest ? `Apply to all ${r.left.toLocaleString('en')}` : `Apply ${count}`}</button>
            {count > 0 && <button onClick={() => setMade({})}>Clear choices</button>}
          </p>}
        </>}</Waits>
    </section>
  </>);
}

/** Pairs are new memories, each with an earlier one that it may replace. One click decides. */
function Pairs({ of, writes, doing }: { of: Reviewed['undecided']; writes: boolean; doing: Doing }) {
  if (of.length === 0) return null;
  return (
    <section aria-labelledby="pairs">
      <h2 id="pairs">Does the new one replace the old one?</h2>
      <ul class="rows reviews">{of.map(({ later, earlier, settle, differ }) => (
        <li key={later.id + earlier.id}>
          <span class="grow">
            <Pair later={later} earlier={earlier} />
            {!writes && <details><summary>Commands</summary>
              <p><Command>{settle}</Command></p><p><Command>{differ}</Command></p></details>}
          </span>
          {writes && <Choose later={later.id} earlier={earlier.id} about={later.text} doing={doing} />}
        </li>
      ))}</ul>
    </section>
  );
}

type Side = Pick<ReviewItem, 'id' | 'text' | 'created'>;

/** Pair shows what a later memory says differently from an earlier one. */
function Pair({ later, earlier }: { later: Side; earlier: Side }) {
  const side = (what: string, one: Side) => <span>{what} <a href={href('node', one.id)}><Id of={one.id} /></a>
    {one.created && <>, <Time of={one.created} day /></>}</span>;
  return <><Words old={earlier.text} now={later.text} />
    <div class="meta">{side('old', earlier)}{side('new', later)}</div></>;
}

/** Choose are the two answers to whether a memory replaces an earlier one. */
function Choose({ later, earlier, about, doing }: { later: string; earlier: string; about: string; doing: Doing }) {
  const mark = (kind: 'superseded' | 'different', said: string) =>
    void doing.run('mark', { kind, nodes: [earlier], by: later }, said);
  return (
    <span class="line" role="group" aria-label={`Decide: ${brief(about, 80)}`}>
      <button disabled={doing.busy} onClick={() => mark('superseded', 'The old one is marked superseded.')}>Replaces it</button>
      <button disabled={doing.busy} onClick={() => mark('different', 'Both stay, and are not asked about again.')}>Both are true</button>
    </span>
  );
}

/** NewMemory is one memory with its choices. */
function NewMemory({ item, writes, made, set }:
{ item: ReviewItem; writes: boolean; made?: Decision; set: (to: Decision | null) => void }) {
  const name = (item.text || item.key || item.id).slice(0, 80);
  return (
    <li>
      <span class="grow">
        <Named id={item.id} name={item.key} summary={item.text} whole />{' '}
        <span class="type"><Text of={item.type} /></span>{' '}
        {item.pinned && <span class="mark">pinned</span>}{' '}
        {item.state && <span class="mark"><Text of={item.state} /></span>}
        <div class="meta"><Id of={item.id} /><Time of={item.created} />{item.sources.map((s) => <Text of={s} />)}</div>
        {made?.way === 'edit' && <label class="edit">Text
          <textarea rows={3} dir="auto" maxLength={8000} value={made.text}
            onInput={(e) => set({ way: 'edit', text: (e.target as HTMLTextAreaElement).value })} /></label>}
      </span>
      {writes && <span class="line" role="group" aria-label={`Decide: ${name}`}>
        {ways.map(([way, title]) => <button aria-pressed={made?.way === way}
          onClick={() => set(made?.way === way ? null : { way, text: item.text })}>{title}</button>)}
      </span>}
    </li>
  );
}

const kinds: Record<string, string> = {
  expired: 'Its validity has ended: mark it expired.',
  duplicate: 'They say the same: keep the most important and supersede the others.',
  contradiction: 'They contradict each other: mark both, so that answers name the other one.',
  tag: 'One tag in several spellings: use the most common one.',
  low: 'Least important: retire it.',
  isolated: 'Old, said once and linked to nothing: mark it for review.',
};

/** Suggestions lists the proposals of consolidate with their reasons. */
function Suggestions({ tick, writes, doing, without }:
{ tick: number; writes: boolean; doing: Doing; without: Reviewed['undecided'] }) {
  const [limit, setLimit] = useState(30);
  const asked = useAsk('consolidate', { limit }, tick);
  const above = new Set(without.map((p) => [p.earlier.id, p.later.id].sort().join()));
  const shown = (asked.data?.proposals ?? []).filter((p) => !above.has([...p.nodes].sort().join()));
  return (
    <section aria-labelledby="suggested">
      <h2 id="suggested">Contradictions and suggestions</h2>
      <Waits of={asked}>{(p) => <>
        {shown.length === 0 && p.more === 0 && <p class="empty">No contradictions, duplicates or outdated memories.</p>}
        <ul class="rows reviews">{shown.map((one) => (
          <li key={one.id}>
            <Proposed of={one} />
            {writes && one.kind === 'update' && <Choose later={one.nodes[0]!} earlier={one.nodes[1]!}
              about={one.names[0] ?? ''} doing={doing} />}
            {writes && one.kind !== 'update' && <span class="line" role="group" aria-label={`Suggestion: ${one.names.join(', ').slice(0, 80)}`}>
              <button disabled={doing.busy} onClick={() => doing.run('consolidate', { picks: [one.id], accept: true },
                'Applied.')}>Apply</button>
              <button disabled={doing.busy} onClick={() => doing.run('consolidate', { picks: [one.id], reject: true },
                'Declined: it is not suggested again.')}>Decline</button>
            </span>}
          </li>
        ))}</ul>
        {p.more > 0 && <button onClick={() => setLimit(limit * 2)}>Show more of{' '}
          {(p.more + p.proposals.length).toLocaleString('en')}</button>}
      </>}</Waits>
    </section>
  );
}

function Proposed({ of }: { of: Proposal }) {
  const update = of.kind === 'update';
  const nodes = useNodes(update ? of.nodes : [], '');
  const side = (i: number) => {
    const n = nodes[of.nodes[i]!];
    return { id: of.nodes[i]!, text: n?.summary ?? of.names[i] ?? '', created: n?.created ?? '' };
  };
  if (update) return <span class="grow"><Pair later={side(0)} earlier={side(1)} /></span>;
  return (
    <span class="grow">
      <span class="type">{of.kind}</span> <span class="dim">{kinds[of.kind] ?? ''}</span>
      <ul>{of.nodes.slice(0, 20).map((id, i) => (
        <li key={id}><Named id={id} summary={of.names[i]} whole /></li>
      ))}
        {of.nodes.length > 20 && <li class="dim">and {of.nodes.length - 20} more</li>}</ul>
      {of.tag && <p>{(of.spellings ?? []).map((s) => <span class="term"><Text of={s} /></span>)} →{' '}
        <span class="term"><Text of={of.tag} /></span></p>}
      {(of.differs ?? []).map((d) => <p class="small"><span class="dim">{d.kind}:</span>{' '}
        <del><Text of={d.a} /></del> <ins><Text of={d.b} /></ins></p>)}
      <span class="small dim"><Text of={of.why} /></span>
    </span>
  );
}

/** Merge is the merge in progress, if there is one. */
function Merge({ tick, writes, doing }: { tick: number; writes: boolean; doing: Doing }) {
  const asked = useAsk('merge', { list: true }, tick);
  const [sure, setSure] = useState(false);
  const p = asked.data;
  if (asked.failed) return <Failure of={asked.failed} />;
  if (!p) return null;
  if (!p.verb) return <KeptCommits of={p.kept} writes={writes} doing={doing} />;
  const open = p.conflicts.filter((c) => !c.resolution).length;
  return (
    <section aria-labelledby="merge">
      <h2 id="merge">Conflicts of a {p.verb} on <Text of={p.branch ?? ''} /></h2>
      <p class="dim">Both sides changed the same item. {open === 0 ? 'All are resolved.' : `${open} to resolve.`}</p>
      <ul class="rows reviews">{p.conflicts.map((c) => <Clash key={c.item} of={c} writes={writes} doing={doing} />)}</ul>
      {writes && <p class="line">
        <button class="main" disabled={doing.busy || open > 0}
          onClick={() => doing.run('merge', { continue: true }, `The ${p.verb} is committed.`)}>Finish the {p.verb}</button>
        {sure ? <><button onClick={() => {
          setSure(false);
          void doing.run('merge', { abort: true }, `The ${p.verb} is aborted; both branches are unchanged.`);
        }}>Abort the {p.verb}</button> <button onClick={() => setSure(false)}>No</button></>
          : <button onClick={() => setSure(true)}>Abort…</button>}
      </p>}
    </section>
  );
}

/** Quarantine lists the erasures that remotes report, which have no effect until they are accepted. */
function Quarantine({ tick, writes, erases, doing }:
{ tick: number; writes: boolean; erases: boolean; doing: Doing }) {
  const asked = useAsk('remote_redactions', {}, tick);
  const [sure, setSure] = useState('');
  if (asked.failed) return <Failure of={asked.failed} />;
  const waiting = (asked.data?.redactions ?? []).filter((r) => r.decision === 'waiting');
  if (waiting.length === 0) return null;
  const decide = (r: Quarantined, how: 'accept' | 'reject', said: string) => {
    setSure('');
    void doing.run('remote_redactions', { name: r.remote ?? '', cid: [r.cid], [how]: true }, said);
  };
  return (
    <section aria-labelledby="erased">
      <h2 id="erased">Erased elsewhere</h2>
      <p class="dim">These were purged in a remote and are still here. Accepting erases them here for good: undo does not
        bring them back.{!erases && <> It takes a token of scope admin, or <Command>mnem remote redactions NAME CID
        --accept</Command>.</>}</p>
      <ul class="rows reviews">{waiting.slice(0, 200).map((r) => (
        <li key={`${r.remote}/${r.cid}`}>
          <span class="grow">
            <span class="type">{r.what}</span> <Cid of={r.cid} /> <span class="dim">at <Text of={r.remote ?? ''} /></span>
            <div>{r.reason ? <Text of={r.reason} /> : <span class="dim">no reason given</span>}</div>
            <span class="small dim"><Text of={r.actor ?? ''} /> · <Time of={r.time} /> ·{' '}
              {r.key ? <>signed by <Text of={r.key} /></> : 'unsigned'}</span>
          </span>
          {writes && <span class="line" role="group" aria-label={`Decide: ${r.what} ${r.cid.slice(-8)}`}>
            {erases && (sure === r.cid
              ? <><button class="main" disabled={doing.busy} onClick={() => decide(r, 'accept', 'Erased for good.')}>
                Erase for good</button><button onClick={() => setSure('')}>No</button></>
              : <button disabled={doing.busy} onClick={() => setSure(r.cid)}>Accept…</button>)}
            <button disabled={doing.busy} onClick={() => decide(r, 'reject', 'Rejected: it stays here.')}>Reject</button>
          </span>}
        </li>
      ))}</ul>
      {waiting.length > 200 && <p class="dim">and {(waiting.length - 200).toLocaleString('en')} more</p>}
    </section>
  );
}

/** KeptCommits lists commits that were kept aside because they conflicted with newer ones. */
function KeptCommits({ of, writes, doing }: { of: Pending['kept']; writes: boolean; doing: Doing }) {
  if (of.length === 0) return null;
  return (
    <section aria-labelledby="kept">
      <h2 id="kept">Kept aside</h2>
      <p class="dim">These commits were based on an older one and conflict with what came since.</p>
      <ul class="rows reviews">{of.map((k) => (
        <li key={k.ref}>
          <span class="grow"><a href={href('commit', k.commit)}><Text of={k.ref} /></a>{' '}
            <span class="dim">for <Text of={k.branch} /></span></span>
          {writes && <span class="line" role="group" aria-label={`Decide: ${k.ref}`}>
            <button disabled={doing.busy} onClick={() => doing.run('merge', { rev: k.ref }, 'Merged.')}>Merge</button>
            <button disabled={doing.busy} onClick={() => doing.run('merge', { drop: k.ref }, 'Dropped.')}>Drop</button>
          </span>}
        </li>
      ))}</ul>
    </section>
  );
}

/** Clash is one conflict with the three values of each field. */
function Clash({ of, writes, doing }: { of: Conflict; writes: boolean; doing: Doing }) {
  const take = (side: 'ours' | 'theirs' | 'base') =>
    doing.run('merge', { resolve: of.item, take: side }, 'Resolved; finish the merge when no conflict is open.');
  const side = (s: 'base' | 'ours' | 'theirs') => of.fields.length > 0
    ? of.fields.map((f) => <div><span class="dim"><Text of={f.field} /></span> <Text of={asText(f[s])} /></div>)
    : <span class="dim">{of[s] ? 'present' : 'absent'}</span>;
  return (
    <li>
      <span class="grow">
        <span class="type">{of.kind.replace('_', ' and ')}</span> <Text of={of.label || of.item} />
        {of.resolution && <span class="mark">{of.resolution}</span>}
        <dl class="pairs"><dt>before</dt><dd>{side('base')}</dd><dt>this branch</dt><dd>{side('ours')}</dd>
          <dt>the other</dt><dd>{side('theirs')}</dd></dl>
      </span>
      {writes && <span class="line" role="group" aria-label={`Resolve ${of.label || of.item}`}>
        <button disabled={doing.busy} aria-pressed={of.resolution === 'ours'} onClick={() => take('ours')}>This branch</button>
        <button disabled={doing.busy} aria-pressed={of.resolution === 'theirs'} onClick={() => take('theirs')}>The other</button>
        <button disabled={doing.busy} aria-pressed={of.resolution === 'base'} onClick={() => take('base')}>As before</button>
      </span>}
    </li>
  );
}
