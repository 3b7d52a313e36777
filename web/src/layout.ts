// Where the nodes of a graph are drawn. The same graph has the same picture: nodes begin at places that
// their order decides, and every step is done in the same order. There is no randomness.

export interface Point { x: number; y: number }

export interface Layout {
  points: Point[];
  /** steps moves everything some steps on, and reports whether there are more. */
  steps(n: number): boolean;
}

const total = 300; // steps until all is at rest
const apart = 60; // how far linked nodes want to be from each other
const reach = 3 * apart; // nodes further from each other do not push

/** layout places nodes, of which edges link pairs by their numbers. Nodes that are placed already stay near. */
export function layout(count: number, edges: [number, number][], known: (Point | undefined)[] = []): Layout {
  const points: Point[] = [];
  for (let i = 0; i < count; i++) {
    // A spiral by the golden angle: nodes of a low number are in the middle, and none is at another's place.
    const angle = i * 2.399963229728653, far = apart * 0.6 * Math.sqrt(i);
    points.push(known[i] ? { ...known[i]! } : { x: far * Math.cos(angle), y: far * Math.sin(angle) });
  }
  const degree = new Array<number>(count).fill(0);
  for (const [a, b] of edges) {
    degree[a]!++;
    degree[b]!++;
  }
  let done = 0;
  const step = () => {
    const heat = 1 - done / total;
    const dx = new Float64Array(count), dy = new Float64Array(count);
    push(points, dx, dy);
    for (const [a, b] of edges) {
      if (a === b) continue;
      const p = points[a]!, q = points[b]!;
      const x = q.x - p.x, y = q.y - p.y, d = Math.sqrt(x * x + y * y) || 1;
      const pull = (d - apart) / d * 0.5 / Math.sqrt(Math.max(degree[a]!, degree[b]!));
      dx[a]! += x * pull;
      dy[a]! += y * pull;
      dx[b]! -= x * pull;
      dy[b]! -= y * pull;
    }
    for (let i = 0; i < count; i++) {
      const p = points[i]!;
      dx[i]! -= p.x * 0.01; // towards the middle, or parts that nothing links would leave
      dy[i]! -= p.y * 0.01;
      const far = Math.sqrt(dx[i]! ** 2 + dy[i]! ** 2), most = 1 + apart * heat;
      const by = far > most ? most / far : 1;
      p.x += dx[i]! * by;
      p.y += dy[i]! * by;
    }
  };
  return {
    points,
    steps(n) {
      for (; n > 0 && done < total; n--, done++) step();
      return done < total;
    },
  };
}

// A cell and those that are after it: each pair of cells is looked at once.
const ahead = [[0, 0], [1, 0], [-1, 1], [0, 1], [1, 1]] as const;
const wide = 1 << 20; // cells of a row of cells

/** push moves nodes that are near each other apart, by cells, so that the cost grows with the nodes alone. */
function push(points: Point[], dx: Float64Array, dy: Float64Array): void {
  const cells = new Map<number, number[]>();
  points.forEach((p, i) => {
    const key = Math.floor(p.y / reach) * wide + Math.floor(p.x / reach);
    const cell = cells.get(key);
    if (cell) cell.push(i);
    else cells.set(key, [i]);
  });
  const pair = (i: number, j: number) => {
    let x = points[i]!.x - points[j]!.x, y = points[i]!.y - points[j]!.y;
    let d = x * x + y * y;
    if (d > reach * reach) return;
    if (d < 1) { // at one place: by their numbers
      x = i < j ? -1 : 1;
      y = 0.5;
      d = 1.25;
    }
    const by = apart * apart * 0.35 / d;
    dx[i]! += x * by;
    dy[i]! += y * by;
    dx[j]! -= x * by;
    dy[j]! -= y * by;
  };
  for (const [key, cell] of cells) {
    for (const [x, y] of ahead) {
      if (x === 0 && y === 0) {
        for (let a = 0; a < cell.length; a++) for (let b = a + 1; b < cell.length; b++) pair(cell[a]!, cell[b]!);
        continue;
      }
      const other = cells.get(key + y * wide + x);
      if (other) for (const i of cell) for (const j of other) pair(i, j);
    }
  }
}
