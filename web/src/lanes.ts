// Where commits and the lines between them are drawn, as 'git log --graph' has them.

import { Commit } from './types';

export interface Placed {
  commit: Commit;
  lane: number;
  /** lines to the row below: from a lane of this row to one of the next */
  lines: [number, number][];
  width: number;
  above: boolean; // whether a line comes from the row above
}

/** order joins the logs of branches, newest first, no commit before one that came after it. */
export function order(logs: Commit[][]): Commit[] {
  const all = new Map<string, Commit>();
  for (const log of logs) for (const c of log) all.set(c.commit, c);
  const children = new Map<string, number>();
  for (const c of all.values()) for (const p of c.parents) children.set(p, (children.get(p) ?? 0) + 1);
  const free = [...all.values()].filter((c) => !children.get(c.commit));
  const out: Commit[] = [];
  while (free.length > 0) {
    // Times of equal commits are told apart by their names, so that the order is the same everywhere.
    let best = 0;
    for (let i = 1; i < free.length; i++) if (later(free[i]!, free[best]!)) best = i;
    const c = free.splice(best, 1)[0]!;
    out.push(c);
    for (const p of c.parents) {
      const left = children.get(p)! - 1;
      children.set(p, left);
      const parent = all.get(p);
      if (left === 0 && parent) free.push(parent);
    }
  }
  return out;
}

function later(a: Commit, b: Commit): boolean {
  return a.time !== b.time ? a.time > b.time : a.commit > b.commit;
}

/** place gives each commit its lane. */
export function place(commits: Commit[]): Placed[] {
  let lanes: (string | null)[] = []; // the commit that each lane leads to
  const out: Placed[] = [];
  for (const commit of commits) {
    let lane = lanes.indexOf(commit.commit);
    const above = lane >= 0;
    if (lane < 0) {
      lane = lanes.indexOf(null);
      if (lane < 0) lane = lanes.length;
      lanes[lane] = commit.commit;
    }
    const next = lanes.map((c) => c === commit.commit ? null : c);
    const lines: [number, number][] = [];
    commit.parents.forEach((p, i) => {
      let to = next.indexOf(p);
      if (to < 0 && i === 0) to = lane;
      if (to < 0) {
        to = next.findIndex((c, at) => c === null && at !== lane);
        if (to < 0) to = next.length;
      }
      next[to] = p;
      lines.push([lane, to]);
    });
    lanes.forEach((c, from) => {
      if (c && c !== commit.commit) lines.push([from, next.indexOf(c)]);
    });
    while (next.length > 0 && next[next.length - 1] === null) next.pop();
    out.push({ commit, lane, lines, width: Math.max(lanes.length, next.length), above });
    lanes = next;
  }
  return out;
}
