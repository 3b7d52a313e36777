import { h, render, Fragment } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Login, Refusal, logIn, logOut, loggedOut, takeCode, whoAmI } from './api';
import { CommitPage, DiffPage } from './diff';
import { GraphPage } from './graph';
import { HistoryPage } from './history';
import { Keys } from './keys';
import { follow } from './live';
import { NodePage } from './node';
import { Operations } from './operations';
import { MapPage } from './map';
import { Failure, Text } from './parts';
import { Review } from './review';
import { href, parseRoute } from './route';
import { Browse, Page, Search } from './search';
import { SessionPage, Sessions } from './sessions';
import { When } from './when';

/** enter logs in by the code in the address, which is removed from it first, and says who this is. */
async function enter(): Promise<Login> {
  const code = takeCode(location.hash);
  if (code) {
    history.replaceState(null, '', '/');
    return await logIn({ code });
  }
  return await whoAmI();
}

function App() {
  const [login, setLogin] = useState<Login | null>(null);
  const [failed, setFailed] = useState<Refusal | null>(null);
  useEffect(() => {
    enter().then(setLogin, setFailed);
  }, []);
  if (failed) return <main class="door"><h1>mnem</h1><Failure of={failed} /></main>;
  // As in index.html: something is there before any code runs.
  if (!login) return <header class="top" aria-busy="true"><span class="brand">mnem</span></header>;
  if (login.scope === 'none') return <Door onIn={setLogin} />;
  return <Inside login={login} onOut={() => { logOut().then(setLogin, setFailed); }} />;
}

/** Door asks for a token. */
function Door({ onIn }: { onIn: (l: Login) => void }) {
  const [failed, setFailed] = useState<Refusal | null>(null);
  const submit = (e: Event) => {
    e.preventDefault();
    const token = String(new FormData(e.target as HTMLFormElement).get('token') ?? '').trim();
    logIn({ token }).then(onIn, setFailed);
  };
  return (
    <main class="door">
      <h1>mnem</h1>
      <p>Login required. Open the address that <code>mnem view</code> prints, or enter a token made by{' '}
        <code>mnem serve token new NAME</code>.</p>
      <form onSubmit={submit}>
        <label>Token <input name="token" type="password" autocomplete="off" required maxLength={128} /></label>{' '}
        <button class="main">Log in</button>
      </form>
      {failed && <Failure of={failed} />}
    </main>
  );
}

const pages: Record<string, (p: Page) => h.JSX.Element> = {
  search: Search, browse: Browse, node: NodePage, history: HistoryPage, commit: CommitPage, diff: DiffPage,
  sessions: Sessions, session: SessionPage, operations: Operations, review: Review, graph: GraphPage, map: MapPage,
};

// The pages that show the memory at one point in time, which the slider moves.
const timed = ['search', 'browse', 'node', 'map', 'graph'];

const places: [string, string, string[]][] = [
  ['search', 'Search', ['search', 'browse', 'node']], ['map', 'Map', ['map']], ['graph', 'Graph', ['graph']],
  ['history', 'History', ['history', 'commit', 'diff']],
  ['review', 'Review', ['review']], ['sessions', 'Sessions', ['sessions', 'session']],
  ['operations', 'Operations', ['operations']],
];

function Inside({ login, onOut }: { login: Login; onOut: () => void }) {
  const [route, setRoute] = useState(parseRoute(location.hash));
  const [tick, setTick] = useState(0);
  const [gone, setGone] = useState(false);
  const [menu, setMenu] = useState(false);
  useEffect(() => {
    const move = () => {
      setRoute(parseRoute(location.hash));
      setMenu(false);
      document.getElementById('main')?.focus({ preventScroll: true });
    };
    addEventListener('hashchange', move);
    addEventListener(loggedOut, onOut);
    setRoute(parseRoute(location.hash)); // it may have changed since this was drawn first
    const end = new AbortController();
    follow((what) => {
      if (what === 'changed') setTick((t) => t + 1);
      else if (what === 'out') onOut();
      else setGone(what === 'gone');
    }, end.signal);
    return () => {
      removeEventListener('hashchange', move);
      removeEventListener(loggedOut, onOut);
      end.abort();
    };
  }, []);
  const at = timed.includes(route.page) ? route.query.get('at') ?? '' : '';
  const place = places.find(([, , list]) => list.includes(route.page));
  useEffect(() => {
    document.title = [route.query.get('q') || route.part.slice(0, 40), place?.[1], 'mnem'].filter(Boolean).join(' · ');
    scrollTo(0, 0);
  }, [route.page, route.part]);
  const Here = pages[route.page];
  return (
    <>
      <header class="top">
        <a class="skip" href={location.hash || '#/'} onClick={(e) => {
          e.preventDefault();
          document.getElementById('main')?.focus();
        }}>To the content</a>
        <a class="brand" href="#/">mnem</a>
        <button class="burger" aria-expanded={menu} aria-controls="menu" onClick={() => setMenu(!menu)}>
          ☰ {place?.[1] ?? 'Pages'}</button>
        <div id="menu" class={menu ? 'menu open' : 'menu'}>
          <nav aria-label="Pages" onClick={() => setMenu(false)}>{places.map(([page, name, list]) => (
            <a href={href(page, '', timed.includes(page) ? { at } : {})}
              aria-current={list.includes(route.page) ? 'page' : undefined}>{name}</a>
          ))}</nav>
          <span class="grow" />
          {login.by === 'token' && <span class="dim"><Text of={login.name} /></span>}
          <span class="dim" title="what this login may do">{login.scope === 'read' ? 'read only' : 'read and write'}</span>
          {login.by !== 'none' && <button class="link" onClick={onOut}>Log out</button>}
        </div>
        <Keys />
      </header>
      {gone && <div class="note bad gone" role="alert">The server does not respond. The page reconnects by
        itself.</div>}
      {timed.includes(route.page) && <When route={route} at={at} tick={tick} />}
      <main id="main" tabIndex={-1}>
        {Here ? <Here route={route} at={at} tick={at ? 0 : tick} writes={login.scope !== 'read'}
          erases={login.scope === 'admin'} />
          : <><h1>There is no page “<Text of={route.page} />”</h1><p><a href="#/">Search</a></p></>}
      </main>
    </>
  );
}

render(<App />, document.getElementById('app')!);
