// Where the page is, in the fragment of the address: #/PAGE/PART?name=value. The point in time that is
// looked at is the parameter "at" of every page, none for now.

export interface Route { page: string; part: string; query: URLSearchParams }

export function parseRoute(fragment: string): Route {
  const [path = '', query = ''] = fragment.replace(/^#\/?/, '').split(/\?(.*)/s, 2);
  const [page = '', part = ''] = path.split(/\/(.*)/s, 2);
  return { page: page || 'search', part: decode(part), query: new URLSearchParams(query) };
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part; // somebody typed it
  }
}

export type Query = Record<string, string | string[] | undefined>;

/** href returns the fragment of a page; what is empty is left out. */
export function href(page: string, part = '', query: Query = {}): string {
  const q = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const v of Array.isArray(value) ? value : [value]) if (v) q.append(name, v);
  }
  const tail = q.toString();
  return `#/${page}${part ? '/' + encodeURIComponent(part) : ''}${tail ? '?' + tail : ''}`;
}

/** go goes to a page. */
export function go(to: string): void {
  location.hash = to;
}
