import { h, Fragment } from 'preact';
import { useMemo } from 'preact/hooks';
import { isMarkdown } from './document';
import { Glance } from './glance';
import { flat } from './markdown';
import { titleOf } from './node';
import { Route, go, href } from './route';
import { Asked, Band, Command, Copy, Failure, Id, Named, Text, Time, Waits, useAsk, useNodes } from './parts';
import { Arguments, Found, Item, Listing, Node, Stats, Step, Summary, hidden } from './types';
import { brief, many } from './words';

/** Page holds the properties of every page. */
export interface Page { route: Route; at: string; tick: number; writes: boolean; erases: boolean }

const floors = ['answer', 'maybe', 'rest'] as const;
const altitudes = ['entity', 'scope', 'root', 'auto'] as const;
const fields = ['limit', 'budget', 'floor', 'altitude', 'since', 'until'] as const;

/** Search is the box of recall, and what it found. */
export function Search({ route, at, tick }: Page) {
  const q = route.query;
  const query = q.get('q') ?? '';
  const args: Arguments['recall'] = {
    query, at, explain: true, type: q.getAll('type'), include: hidden.filter((s) => q.getAll('include').includes(s)),
    limit: number(q.get('limit')) ?? 10, budget: number(q.get('budget')), floor: floors.find((f) => f === q.get('floor')),
    altitude: altitudes.find((a) => a === q.get('altitude')),
    since: q.get('since') ?? undefined, until: q.get('until') ?? undefined,
  };
  const found = useAsk(query ? 'recall' : '', args, tick);
  return (
    <div>
      <h1 class="sr">Search</h1>
      <Box route={route} at={at} tick={tick} />
      {query ? <Waits of={found}>{(f) => <Results found={f} at={at} />}</Waits> : <Begin at={at} tick={tick} />}
    </div>
  );
}

function number(s: string | null): number | undefined {
  return s && /^\d{1,9}$/.test(s) ? Number(s) : undefined;
}

/** Box is the question and its filters. */
function Box({ route, at, tick }: { route: Route; at: string; tick: number }) {
  const stats = useAsk('stats', { at }, tick);
  const q = route.query;
  const submit = (e: Event) => {
    e.preventDefault();
    const form = new FormData(e.target as HTMLFormElement);
    const all = (name: string) => form.getAll(name).map(String);
    const query: Record<string, string[]> = { at: [at], q: all('q').map((s) => s.trim()) };
    for (const name of ['type', 'include', ...fields]) query[name] = all(name);
    go(href('search', '', query));
  };
  const set = ['type', 'include', ...fields].reduce((n, name) => n + q.getAll(name).filter(Boolean).length, 0);
  return (
    <form role="search" class="search" onSubmit={submit} key={route.query.toString()}>
      <div class="line">
        <label class="sr" for="q">Question</label>
        <input id="q" name="q" type="search" dir="auto" autofocus autocomplete="off" maxLength={4000}
          placeholder="Ask the memory" defaultValue={q.get('q') ?? ''} />
        <button class="main">Ask</button>
      </div>
      <details open={set > 0}>
        <summary>Filters{set > 0 ? ` (${set})` : ''}</summary>
        <div class="filters">
          <fieldset>
            <legend>Types</legend>
            {(stats.data?.node_types ?? []).slice(0, 60).map((t) => (
              <label><input type="checkbox" name="type" value={t.type}
                defaultChecked={q.getAll('type').includes(t.type)} /> <Text of={t.type} />{' '}
                <span class="dim">{t.count}</span></label>
            ))}
          </fieldset>
          <fieldset>
            <legend>Include</legend>
            {hidden.map((m) => (
              <label><input type="checkbox" name="include" value={m}
                defaultChecked={q.getAll('include').includes(m)} /> {m}</label>
            ))}
          </fieldset>
          <fieldset>
            <legend>Amount</legend>
            <label>Results <input type="number" name="limit" min={1} max={100} defaultValue={q.get('limit') ?? ''}
              placeholder="10" /></label>
            <label>Tokens <input type="number" name="budget" min={1} max={1000000} defaultValue={q.get('budget') ?? ''}
              placeholder="2000" /></label>
            <label>Band <select name="floor" ref={(el) => {
              // Once: a reader's choice stays, whatever events arrive later.
              if (el && !el.dataset.set) el.value = el.dataset.set = q.get('floor') ?? '';
            }}>
              <option value="">default</option><option value="answer">answer only</option>
              <option value="maybe">maybe or better</option><option value="rest">all</option>
            </select></label>
            <label>Altitude <select ref={(el) => {
              if (el && !el.dataset.set) el.value = el.dataset.set = q.get('altitude') ?? '';
            }} name="altitude">
              <option value="">default</option><option value="entity">memories</option>
              <option value="scope">summaries where memories do not fit</option>
              <option value="root">the whole memory</option><option value="auto">by the question</option>
            </select></label>
          </fieldset>
          <fieldset>
            <legend>Created</legend>
            <label>from <input type="date" name="since" defaultValue={q.get('since') ?? ''} /></label>
            <label>to <input type="date" name="until" defaultValue={q.get('until') ?? ''} /></label>
          </fieldset>
        </div>
      </details>
    </form>
  );
}

function Results({ found, at }: { found: Found; at: string }) {
  const ids = useMemo(() => found.items.map((i) => i.id), [found]);
  const nodes = useNodes(ids, found.commit);
  const digests = found.digests ?? [];
  return (
    <section aria-label="Results">
      {found.verdict && <p class={'verdict ' + found.verdict}><b>{found.verdict}:</b> <Text of={found.because ?? ''} />
        {found.verdict === 'unknown' && found.items.length > 0 && '; the nearest, unverified:'}</p>}
      {found.warnings.filter((w) => w.code !== 'no_effect').map((w) => (
        <div class="note" key={w.code}><p><Text of={w.message} /></p>
          <p class="dim"><Text of={w.remedy} /></p></div>
      ))}
      {found.items.length === 0 && digests.length === 0
        ? <p class="empty">No results. Try other words or fewer filters.</p>
        : <p class="line dim">
            <span>{many(found.items.length, 'item')} of {many(found.candidates_seen, 'candidate')} · {found.tokens_used} of{' '}
              {found.tokens_budget} tokens{found.intent ? ` · asks for: ${found.intent}` : ''}</span>
            <a href={href('graph', '', { q: found.query, at })}>Show as graph</a>
            <Copy text={() => [...digests, ...found.items].map((i) => i.rendered).join('')}>Copy as prompt text</Copy>
          </p>}
      {digests.length > 0 && <ol class="cards" aria-label="Summaries">
        {digests.map((d) => <li key={d.digest}><SummaryCard of={d} at={at} /></li>)}
      </ol>}
      <ol class="cards">
        {found.items.map((i) => <li key={i.id}><Card item={i} node={nodes[i.id]} at={at} /></li>)}
      </ol>
      {found.trace && <How found={found} at={at} />}
    </section>
  );
}

/** SummaryCard is a digest in place of memories that did not fit. */
function SummaryCard({ of: d, at }: { of: Summary; at: string }) {
  return (
    <article class={'card ' + (d.band ?? '')}>
      <header>
        <span class="type">summary</span> {d.band && <Band of={d.band} />}
        <span class="dim">{d.facts.toLocaleString('en')} memories, {d.found.toLocaleString('en')} of them found</span>
      </header>
      <h2><a href={href('map', d.digest === 'root' ? '' : d.digest, { at })}><Text of={d.digest} /></a></h2>
      <pre tabIndex={0}><Text of={d.rendered} /></pre>
    </article>
  );
}

const preview = 280; // characters of a part of a document that a card shows

/** Card is one item: what it says, and why it is here. */
function Card({ item, node, at }: { item: Item; node?: Node; at: string }) {
  const date = node?.validFrom ?? node?.updated ?? node?.created;
  const said = (node?.type === 'Chunk' && node.content) || node?.summary || '';
  const part = node && (isMarkdown(node) || said.length > preview * 2);
  return (
    <article class={'card ' + (item.band ?? '')}>
      <h2><a href={href('node', item.id, { at })}>
        <Text of={part ? titleOf(node) : said || item.key || item.id} /></a></h2>
      {part && said !== titleOf(node) && <p><Text of={brief(isMarkdown(node) ? flat(said, preview) : said, preview)} /></p>}
      {node?.context && !part && <p><Text of={node.context} /></p>}
      {item.contradicts && <p class="note">Contradicts <Named id={item.contradicts} at={at} /></p>}
      <header class="meta">
        <Id of={item.id} />
        <span class="type"><Text of={item.type} /></span>
        {item.band && <Band of={item.band} />}
        {node?.mark && <span class="mark"><Text of={node.mark.state} /></span>}
        {date && <Time of={date} day />}
        {node?.sources.slice(0, 2).map((s) => <span class="source" title={s}><Text of={place(s)} /></span>)}
      </header>
      <footer>
        <details>
          <summary>Why</summary>
          <Why item={item} cues={node?.cues ?? []} at={at} />
        </details>
        <details>
          <summary>As prompt text</summary>
          <pre tabIndex={0}><Text of={item.rendered} /></pre>
        </details>
      </footer>
    </article>
  );
}

/** place is a source without the hash of its file. */
function place(source: string): string {
  return source.replace(/\?sha256=[0-9a-f]{64}/, '');
}

/** share is a number from 0 to 1 of one in units of 2^-16. */
function share(v: number): string {
  return (v / 65536).toFixed(2);
}

function Way({ steps, from, at }: { steps: Step[]; from: string; at: string }) {
  return (
    <span>
      <Named id={from} at={at} />
      {steps.map((s) => <> {s.forward ? '→' : '←'} <i><Text of={s.edge ?? 'mentions'} /></i>{' '}
        <Named id={s.id} at={at} /></>)}
    </span>
  );
}

/** Why says by which ways an item was found. */
function Why({ item, cues, at }: { item: Item; cues: string[]; at: string }) {
  return (
    <dl class="pairs">
      {item.why && <><dt>Reasons</dt><dd><Text of={item.why} /></dd></>}
      {item.key && <><dt>Key</dt><dd><code><Text of={item.key} /></code></dd></>}
      <dt>Score</dt><dd>{share(item.score)}, rank {item.rank}, {item.tokens} tokens</dd>
      <dt>Lanes</dt>
      <dd>{item.lanes.map((l) => <div>{l.lane}: rank {l.rank}, score {share(l.score)}
        {l.share !== undefined && `, share ${share(l.share)}`}</div>)}</dd>
      {item.signals && <><dt>Signals</dt><dd>{Object.entries(item.signals).filter(([, v]) => v > 0)
        .map(([name, v]) => `${name} ${share(v)}`).join(', ') || 'none'}</dd></>}
      {item.terms && item.terms.length > 0 && <><dt>Terms</dt><dd>{item.terms.map((t) => (
        <span class="term" title={t.added ? 'added by expansion' : 'of the question'}>
          <Text of={t.read_as ?? t.term} />{t.added ? '*' : ''} <span class="dim">{share(t.score)}</span></span>
      ))}{item.terms.some((t) => t.added) && <span class="dim"> * added by expansion</span>}</dd></>}
      {cues.length > 0 && <><dt>Cues</dt><dd>{cues.map((c) => <span class="term"><Text of={c} /></span>)}</dd></>}
      {item.seed && item.path && item.path.length > 0 &&
        <><dt>Path</dt><dd><Way from={item.seed} steps={item.path} at={at} /></dd></>}
      {item.beam && <><dt>Expansion</dt><dd><Way from={item.beam.seed} steps={item.beam.path} at={at} /></dd></>}
    </dl>
  );
}

/** How says what the whole search did. */
function How({ found, at }: { found: Found; at: string }) {
  const t = found.trace!;
  return (
    <details class="how">
      <summary>How it was found, and what was dropped</summary>
      <p>Lanes were fused by <code>{t.fusion}</code>.</p>
      <dl class="pairs">{t.lanes.map((l) => <>
        <dt>{l.lane}</dt>
        <dd>weight {share(l.weight)}, {l.found} found, {l.passed} passed, best {share(l.best)}
          {Object.entries(l.left_out).filter(([, n]) => n > 0).map(([by, n]) => `, ${n} left out by ${by}`)}</dd>
      </>)}</dl>
      <p>Time: {t.stages.map((s) => `${s.stage} ${(s.micros / 1000).toFixed(1)} ms`).join(', ')}</p>
      {(found.dropped_items ?? []).length > 0 && <>
        <h3>Dropped</h3>
        <ul>{found.dropped_items!.map((d) => <li><Named id={d.id} at={at} />: {d.reason}, {d.tokens} tokens
          {d.repeats && <>, repeats <Named id={d.repeats} at={at} /></>}</li>)}</ul>
      </>}
    </details>
  );
}

/** Begin is shown before a question: the contents of the memory, or how to add some. */
function Begin({ at, tick }: { at: string; tick: number }) {
  const stats: Asked<Stats> = useAsk('stats', { at }, tick);
  const newest = useAsk('ls', { at, limit: 6, sort: '-updated' }, tick);
  return (
    <Waits of={stats}>{(s) => s.nodes.total === 0 ? <EmptyMemory /> : (
      <section>
        <p class="big">{many(s.nodes.total, 'memory', 'memories')}, {many(s.edges.total, 'edge')}</p>
        <ul class="types">
          {s.node_types.map((t) => (
            <li><a href={href('browse', '', { type: t.type, at })}><Text of={t.type} /> <b>{t.count}</b></a></li>
          ))}
        </ul>
        <Glance stats={s} at={at} tick={tick} />
        {newest.failed ? <Failure of={newest.failed} /> : newest.data && <>
          <h2>Last changed</h2>
          <ul class="rows titles">{newest.data.nodes.map((n) => <Row key={n.id} node={n} at={at} />)}</ul>
        </>}
      </section>
    )}</Waits>
  );
}

function EmptyMemory() {
  return (
    <section class="empty">
      <h1>This memory is empty</h1>
      <p>Put a first sentence in, then ask here:</p>
      <p><Command>mnem remember "Alice leads infra"</Command></p>
      <p>Read documents or conversations: <Command>mnem ingest docs</Command>. Let an agent use it:{' '}
        <Command>mnem integrate</Command>. See an example: <Command>mnem demo --keep harbour</Command>.</p>
    </section>
  );
}

/** Row is a node in a list. */
export function Row({ node, at }: { node: Listing; at: string }) {
  return (
    <li>
      <span class="grow"><Named id={node.id} name={node.key} summary={node.summary} at={at} /></span>
      <span class="meta"><Id of={node.id} /> <span class="type"><Text of={node.type} /></span>
        {node.mark && <span class="mark"><Text of={node.mark.state} /></span>} <Time of={node.updated ?? node.created} day /></span>
    </li>
  );
}

/** Browse lists the nodes of a type, a part at a time. */
export function Browse({ route, at, tick }: Page) {
  const type = route.query.getAll('type'), after = route.query.get('after') ?? '';
  const list = useAsk('ls', { at, type, after, limit: 50 }, tick);
  return (
    <section>
      <h1>{type.length ? <Text of={type.join(', ')} /> : 'All memories'}</h1>
      <Waits of={list}>{(l) => <>
        {l.nodes.length === 0 && <p class="empty">None.</p>}
        <ul class="rows titles">{l.nodes.map((n) => <Row key={n.id} node={n} at={at} />)}</ul>
        <p class="line">
          {after && <a href={href('browse', '', { type, at })}>From the beginning</a>}
          {l.next && <a href={href('browse', '', { type, at, after: l.next })}>More</a>}
        </p>
      </>}</Waits>
    </section>
  );
}
