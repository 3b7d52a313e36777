// A page as one file, which opens from disk: what is shown, without what asks the server.

const dropped = 'button, input, select, form, script, nav, [role=status]';

/** report is a part of the page as an HTML document. It has no code, and may load nothing. */
export function report(from: HTMLElement, title: string): string {
  const page = document.implementation.createHTMLDocument(title);
  const meta = (attributes: Record<string, string>) => {
    const m = page.createElement('meta');
    for (const [name, value] of Object.entries(attributes)) m.setAttribute(name, value);
    page.head.prepend(m);
  };
  meta({ 'http-equiv': 'Content-Security-Policy', content: "default-src 'none'; style-src 'unsafe-inline'" });
  meta({ charset: 'utf-8' });
  const copy = page.importNode(from, true);
  for (const e of copy.querySelectorAll(dropped)) e.remove();
  for (const a of copy.querySelectorAll('a')) a.removeAttribute('href'); // they lead to a server that is gone
  for (const d of copy.querySelectorAll('details')) d.setAttribute('open', '');
  page.body.append(copy);
  // The style is put in as text: this page's policy lets no element have any.
  const style = [...document.styleSheets].flatMap((s) => [...s.cssRules]).map((r) => r.cssText).join('\n');
  const [head, ...rest] = new XMLSerializer().serializeToString(page.documentElement).split('</head>');
  return `<!doctype html>\n${head}<style>${style}</style></head>${rest.join('</head>')}\n`;
}
