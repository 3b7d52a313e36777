import { h, Fragment } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { go } from './route';

const items = '.cards > li, .rows > li, .log > li, .diff > li, .records > li';
const offName = 'mnem-keys-off';

/** off is whether the reader switched keys without Ctrl or Alt off, as people do who dictate. */
function off(): boolean {
  try {
    return localStorage.getItem(offName) !== null;
  } catch {
    return false; // a browser that keeps nothing
  }
}

/** step moves the focus to the next item of the lists of the page, or to the one before. */
function step(by: 1 | -1): void {
  const all = [...document.querySelectorAll<HTMLElement>(items)].filter((e) => e.offsetParent);
  const at = all.findIndex((e) => e.contains(document.activeElement));
  const to = all[at < 0 ? (by > 0 ? 0 : all.length - 1) : Math.min(Math.max(at + by, 0), all.length - 1)];
  if (!to) return;
  to.tabIndex = -1;
  to.focus({ preventScroll: true });
  to.scrollIntoView({ block: 'nearest' });
}

/** ask puts the cursor into the box of the search page. */
function ask(): void {
  const find = (left: number) => {
    const box = document.querySelector<HTMLInputElement>('#q');
    if (box) box.select();
    else if (left > 0) requestAnimationFrame(() => find(left - 1));
  };
  if (!document.querySelector('#q')) go('#/');
  find(120);
}

const keys: [string, string][] = [
  ['/', 'Search'], ['j', 'Next in the list'], ['k', 'Previous in the list'], ['Enter', 'Open what is chosen'],
  ['?', 'Show these keys'], ['Esc', 'Close'],
];

/** Keys is the button and the dialog of the keys, and listens to them. */
export function Keys() {
  const dialog = useRef<HTMLDialogElement>(null);
  const [on, setOn] = useState(!off());
  useEffect(() => {
    const press = (e: KeyboardEvent) => {
      const at = e.target as HTMLElement;
      if (e.ctrlKey || e.metaKey || e.altKey || e.defaultPrevented || dialog.current?.open) return;
      if (e.key === 'Enter' && at.matches(items)) at.querySelector<HTMLElement>('a, summary, button')?.click();
      if (!on || at.matches('input, textarea, select')) return;
      if (e.key === '/') ask();
      else if (e.key === 'j' || e.key === 'k') step(e.key === 'j' ? 1 : -1);
      else if (e.key === '?') dialog.current?.showModal();
      else return;
      e.preventDefault();
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, [on]);
  const turn = () => {
    try {
      if (on) localStorage.setItem(offName, '1');
      else localStorage.removeItem(offName);
    } catch {
      // for this tab alone
    }
    setOn(!on);
  };
  return (
    <>
      <button class="link" aria-label="Keys of this page" onClick={() => dialog.current?.showModal()}>?</button>
      <dialog ref={dialog} aria-labelledby="keys">
        <h2 id="keys">Keys</h2>
        <dl class="pairs">{keys.map(([key, what]) => <><dt><kbd>{key}</kbd></dt><dd>{what}</dd></>)}</dl>
        <p><label><input type="checkbox" checked={on} onChange={turn} /> Use these keys</label></p>
        <button class="main" onClick={() => dialog.current?.close()}>Close</button>
      </dialog>
    </>
  );
}
