import { h } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { Route, go, href } from './route';
import { Cid, Time, Text, useAsk } from './parts';
import { headline } from './words';

const most = 500; // commits that the slider reaches

/** here is the route with another point in time. */
function here(route: Route, at: string): string {
  const query: Record<string, string[]> = {};
  for (const name of route.query.keys()) query[name] = route.query.getAll(name);
  query.at = [at];
  return href(route.page, route.part, query);
}

/** When is the slider of time: it shows the page as the memory was at any commit. */
export function When({ route, at, tick }: { route: Route; at: string; tick: number }) {
  const branches = useAsk('branch', {}, tick);
  const head = branches.data?.find((b) => b.current)?.commit ?? '';
  const log = useAsk(head ? 'log' : '', { at: head, limit: most });
  const commits = useMemo(() => [...log.data ?? []].reverse(), [log.data]);
  const last = commits.length - 1;
  const found = at ? commits.findIndex((c) => c.commit === at) : last;
  const [value, setValue] = useState(found);
  useEffect(() => setValue(found), [found]);
  if (last < 1) return null;
  const c = commits[value];
  const move = (to: number) => go(here(route, to === last ? '' : commits[to]!.commit));
  return (
    <section class={'when' + (at ? ' past' : '')} aria-label="Point in time">
      <label class="sr" for="when">Commit that is shown</label>
      <button aria-label="Earlier" disabled={value <= 0} onClick={() => move(value - 1)}>◀</button>
      <input id="when" type="range" min={0} max={last} value={value < 0 ? 0 : value}
        aria-valuetext={c ? `${c.time}: ${headline(c)}` : at}
        onInput={(e) => setValue(Number((e.target as HTMLInputElement).value))}
        onChange={(e) => move(Number((e.target as HTMLInputElement).value))} />
      <button aria-label="Later" disabled={value >= last} onClick={() => move(value + 1)}>▶</button>
      <span class="whentext">
        {c ? <span><Time of={c.time} /> · <Text of={headline(c)} /></span>
          : <span>commit <Cid of={at} /></span>}
      </span>
      {at ? <button class="link" onClick={() => move(last)}>Back to now</button>
        : <span class="dim now">now</span>}
    </section>
  );
}
