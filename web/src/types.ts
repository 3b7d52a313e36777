// The answers of the operations that the page asks, as /openapi.json has them; members that the page
// does not use are left out.

export interface Mark { state: string; by: string | null; reason: string | null; actor: string; time: string }

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

export interface Node {
  id: string; key: string | null; type: string; summary: string | null; context: string | null;
  props: Record<string, Json>; cues?: string[]; content?: string | null; created: string;
  updated: string | null; validFrom: string | null; validTo: string | null; sources: string[];
  mark: Mark | null; cid: string; commit?: string | null;
}

export interface Step { id: string; edge: string | null; forward: boolean }

export interface Item {
  id: string; key: string | null; type: string; band?: 'answer' | 'maybe' | 'rest'; rank: number;
  score: number; tokens: number; rendered: string;
  lanes: { lane: string; rank: number; score: number; share?: number; weight?: number }[];
  signals?: { keyword: number; entity: number; similarity: number; graph: number };
  terms?: { term: string; read_as?: string; added?: boolean; score: number }[];
  seed?: string | null; path?: Step[]; entities?: string[];
  beam?: { seed: string; hops: number; path: Step[] }; contradicts?: string;
}

export interface Found {
  commit: string; query: string; intent?: string; items: Item[]; tokens_used: number; tokens_budget: number;
  dropped: number; dropped_by: { budget: number; duplicate: number }; candidates_seen: number;
  warnings: { code: string; message: string; remedy: string }[];
  dropped_items?: { id: string; reason: string; tokens: number; repeats: string | null }[];
  trace?: {
    fusion: string;
    lanes: {
      lane: string; weight: number; passed: number; found: number; best: number; worst: number;
      left_out: Record<string, number>;
    }[];
    stages: { stage: string; micros: number }[];
  };
}

export interface Neighbor {
  type: string; edge: string; id: string; key: string | null; node_type: string | null;
  summary: string | null; weight: number;
}

export interface Neighbors {
  commit: string | null; id: string; key: string | null; out: Neighbor[]; in: Neighbor[];
  more_out: number; more_in: number;
}

export interface Counts { added: number; changed: number; removed: number }

export interface Commit {
  commit: string; parents: string[]; author: string; agent: string | null; task: string | null;
  time: string; title?: string; message: string; nodes: Counts; edges: Counts;
}

export interface Field { field: string; old: Json; new: Json }

export interface Diff {
  from: string | null; to: string | null;
  nodes: { id: string; key: string | null; type: string; change: Change; fields: Field[] }[];
  edges: {
    id: string; type: string; src: string; dst: string; change: Change; fields: Field[];
    src_key: string | null; dst_key: string | null;
  }[];
  counts: { nodes: Counts; edges: Counts };
  title?: string;
}

export type Change = 'added' | 'changed' | 'removed';

export interface Blame {
  fields: { field: string; commit: string; author: string; agent: string | null; time: string }[];
}

export interface Session {
  session: string; commit: string | null; follow: boolean; agent: string | null; task: string | null;
  actor: string; time: string; records: number; ended: boolean;
}

export interface SessionRecord {
  record: string; event: string; time: string; actor: string; commit: string | null;
  receipt: string | null; query: string | null; items: number | null; tokens: number | null;
}

export interface Replay {
  session: string | null; receipts: number; identical: boolean | null;
  first_difference: {
    number: number; receipt: string; item: number | null; field: string; old: string; new: string;
  } | null;
}

export interface Op {
  op: string; seq: number; time: string; actor: string; command: string[];
  refs: { ref: string; from: string | null; to: string | null }[];
  undoes: string | null; redoes: string | null; undone?: boolean;
}

export interface Stats {
  commit: string | null; nodes: { total: number }; edges: { total: number };
  node_types: { type: string; count: number }[];
}

export interface Branch { name: string; commit: string | null; current: boolean }

export interface Listed { commit: string | null; nodes: Node[]; next: string | null }

export interface Block { cid: string; kind: string; size: number; data: Json }

export interface ReviewItem {
  id: string; key: string | null; type: string; created: string; text: string; pinned: boolean;
  state: string | null; sources: string[];
}

export interface Reviewed { head: string | null; items: ReviewItem[]; left: number; commit: string | null }

export interface Proposal {
  id: string; kind: string; why: string; nodes: string[]; names: string[]; tag?: string; spellings?: string[];
  differs?: { kind: string; a: string; b: string }[];
}

export interface Proposals { commit: string | null; proposals: Proposal[]; more: number; declined: number }

export interface Conflict {
  item: string; kind: string; label: string; base: string | null; ours: string | null; theirs: string | null;
  fields: { field: string; base: Json; ours: Json; theirs: Json }[]; resolution: string | null;
}

export interface Pending {
  branch: string | null; verb: string | null; conflicts: Conflict[];
  kept: { ref: string; commit: string; branch: string }[];
}
