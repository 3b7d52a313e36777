// Written by clients/generate.py from the OpenAPI document of mnem. Changes are made there.
//
// The verbs of mnem, their parameters and answers. Times are RFC 3339 texts; scores are integers.

type Names<T> = T extends unknown ? keyof T : never;
type Open<T, All extends PropertyKey> = T & { [K in Exclude<All, keyof T>]?: undefined };
type Each<T, All extends PropertyKey> = T extends unknown ? Open<T, All> : never;

/** One of several forms of an answer: the members of the other forms are undefined. */
export type OneOf<A, B = never, C = never, D = never, E = never> = Each<A | B | C | D | E, Names<A | B | C | D | E>>;

export interface Counts {
  added: number;
  changed: number;
  removed: number;
}

export interface SecretWarning {
  code: "secret" | "secrets_not_listed" | "not_searched";
  field: string;
  file: string | null;
  item: string | null;
  line: number | null;
  message: string;
  remedy: string;
  rule: string;
}

export interface AddAnswer {
  duplicates: number;
  edges: Counts;
  nodes: Counts;
  stage: string;
  unchanged: number;
  warnings?: SecretWarning[];
}

export interface BlameField {
  agent: string | null;
  author: string;
  commit: string;
  field: string;
  time: string;
  git?: string | null;
}

export interface BlameAnswer {
  fields: BlameField[];
  id: string;
  key: string | null;
}

export interface BranchRemote {
  ahead: number;
  behind: number;
  commit: string;
  remote: string;
}

export interface BranchAnswer {
  commit: string | null;
  current: boolean;
  name: string;
  remotes?: BranchRemote[];
}

export interface BranchRemoved {
  commit: string;
  removed: string;
}

export interface Field {
  base: unknown;
  field: string;
  ours: unknown;
  theirs: unknown;
}

export interface CherryPickConflict {
  base: string | null;
  fields: Field[];
  item: string;
  kind: "edit_edit" | "add_add" | "delete_modify" | "end_removed" | "circle";
  label: string;
  ours: string | null;
  resolution: "ours" | "theirs" | "base" | "lines" | null;
  theirs: string | null;
}

export interface CherryPickAnswer {
  branch: string;
  commit: string | null;
  conflicts: CherryPickConflict[];
  dry_run: boolean;
  edges: Counts;
  fast_forward: boolean;
  graph: string | null;
  no_change: boolean;
  nodes: Counts;
  parents: string[];
  vectors_dropped: number;
  warnings?: SecretWarning[];
}

export interface ChangeField {
  field: string;
  new: unknown;
  old: unknown;
}

export interface Change {
  change: "added" | "changed" | "removed";
  fields: ChangeField[];
  id: string;
  item: "node" | "edge";
  type: string;
  dst?: string;
  key?: string | null;
  src?: string;
}

export interface CommitAnswer {
  branch: string;
  commit: string | null;
  dry_run: boolean;
  duplicates: number;
  edges: Counts;
  graph: string | null;
  no_change: boolean;
  nodes: Counts;
  parents: string[];
  unchanged: number;
  changes?: Change[];
  rebased?: boolean;
  unembedded?: number;
  warnings?: SecretWarning[];
}

export interface ConfigHalfLifeAnswer {
  commit: string | null;
  dry_run: boolean;
  half_lives: Record<string, unknown>;
  no_change: boolean;
  other: number;
  own: string[];
}

export interface ConfigProfileAnswer {
  builtin: boolean;
  default: boolean;
  name: string;
  params: Record<string, unknown>;
  types: string[];
}

export interface Changed {
  fields: ChangeField[];
  kind: "added" | "changed" | "removed";
  name: string;
}

export interface Profile {
  changed: Changed[];
  default: ChangeField | null;
  fields?: ChangeField[];
}

export interface ProfilesChange {
  branch: string;
  commit: string | null;
  no_change: boolean;
  parents: string[];
  profiles?: Profile;
}

export interface ConsolidateProposalDiffer {
  a: string;
  b: string;
  kind: string;
}

export interface Importance {
  age_seconds: number;
  base: number;
  decay: number;
  half_life_days: number;
  importance: number;
  linked: number;
  links: number;
  use: number;
  uses: number;
  value: number;
}

export interface ConsolidateProposal {
  id: string;
  kind: "expired" | "duplicate" | "contradiction" | "update" | "tag" | "low" | "isolated";
  names: string[];
  nodes: string[];
  why: string;
  differ?: string;
  differs?: ConsolidateProposalDiffer[];
  importance?: Importance;
  settle?: string;
  similarity?: number;
  spellings?: string[];
  tag?: string;
}

export interface ConsolidateAnswer {
  commit: string | null;
  declined: number;
  memories: number;
  more: number;
  now: string;
  proposals: ConsolidateProposal[];
}

export interface ConsolidateDone {
  branch: string;
  commit: string | null;
  dry_run: boolean;
  graph: string | null;
  marked: string[];
  no_change: boolean;
  picked: ConsolidateProposal[];
  retagged: string[];
  unmarked: string[];
}

export interface Count {
  edges: Counts;
  nodes: Counts;
}

export interface Edge {
  change: "added" | "changed" | "removed";
  dst: string;
  dst_key: string | null;
  fields: ChangeField[];
  id: string;
  key: string | null;
  src: string;
  src_key: string | null;
  type: string;
}

export interface Node {
  change: "added" | "changed" | "removed";
  fields: ChangeField[];
  id: string;
  key: string | null;
  type: string;
}

export interface DiffAnswer {
  counts: Count;
  edges: Edge[];
  from: string | null;
  nodes: Node[];
  to: string | null;
  profiles?: Profile;
  stage?: string;
  title?: string;
}

export interface EdgeType {
  added: number;
  changed: number;
  removed: number;
  type: string;
}

export interface DiffStat {
  counts: Count;
  edge_types: EdgeType[];
  from: string | null;
  node_types: EdgeType[];
  to: string | null;
  stage?: string;
}

export interface EmbedStatus {
  by_itself: boolean;
  missing: number;
  nodes: number;
  resumes: boolean;
  running: boolean;
  vectors: number;
}

export interface EmbedAnswer {
  branch: string;
  commit: string;
  commits: number;
  dim: number | null;
  dry_run: boolean;
  embedded: number;
  model: string;
  remaining: number;
  skipped: number;
  stale: number;
  too_long: number;
  unchanged: number;
  status?: EmbedStatus;
}

export interface EmbedCuesNode {
  cues: string[];
  id: string;
  key: string | null;
  summary: string | null;
  type: string;
}

export interface EmbedCuesAnswer {
  commit: string | null;
  next: string | null;
  nodes: EmbedCuesNode[];
}

export interface CuesWritten {
  branch: string;
  commit: string;
  commits: number;
  cues: number;
  memories: number;
  remaining: number;
  skipped: number;
}

export interface ExploreNode {
  id: string;
  key: string | null;
  summary: string | null;
  type: string;
}

export interface ExploreNodeDetailReasonEdge {
  edge: string;
  forward: boolean;
  from: string;
  to: string;
  type: string;
}

export interface ExploreNodeDetailReason {
  kind: string;
  score: number;
  edge?: ExploreNodeDetailReasonEdge;
  names?: string[];
}

export interface In {
  edge: string;
  id: string;
  key: string | null;
  node_type: string | null;
  summary: string | null;
  type: string;
  weight: number;
}

export interface ExploreNodeDetailEdge {
  in: In[];
  more_in: number;
  more_out: number;
  out: In[];
}

export interface ExploreNodeDetail {
  hops: number;
  id: string;
  key: string | null;
  reasons: ExploreNodeDetailReason[];
  score: number;
  summary: string | null;
  type: string;
  why: string | null;
  edges?: ExploreNodeDetailEdge;
}

export interface ExploreCommunityMember {
  id: string;
  key: string | null;
  node_type: string | null;
  summary: string | null;
  weight: number;
}

export interface ExploreCommunity {
  members: ExploreCommunityMember[];
  number: number;
  size: number;
  title: string;
}

export interface ExploreTag {
  from: string[];
  in_text: boolean;
  score: number;
  tag: string;
}

export interface ExploreAnswer {
  commit: string | null;
  cut: number;
  more: number;
  node: ExploreNode | null;
  nodes: ExploreNodeDetail[];
  communities?: ExploreCommunity[];
  tags?: ExploreTag[];
}

export interface ForgetAnswer {
  already: string[];
  branch: string;
  commit: string | null;
  dry_run: boolean;
  graph: string | null;
  marked: string[];
  no_change: boolean;
  state: string | null;
  unmarked: string[];
  warnings?: SecretWarning[];
}

export interface FsckError {
  cid: string | null;
  kind: string;
  message: string;
}

export interface FsckAnswer {
  blocks: number;
  errors: FsckError[];
  ok: boolean;
  repaired?: string[];
}

export interface GcAnswer {
  blocks: number;
  bytes: number;
  dry_run: boolean;
  horizon: number;
  kept: number;
  must_free?: number;
}

export interface KeyVerifyAnswer {
  commit: string;
  key: string | null;
  name: string | null;
  reason: string | null;
  signature: "signed" | "untrusted" | "unsigned" | "revoked" | "bad";
  trust: "trusted" | "untrusted" | "revoked" | null;
}

export interface Signature {
  key: string | null;
  name: string | null;
  reason: string | null;
  signature: "signed" | "untrusted" | "unsigned" | "revoked" | "bad";
  trust: "trusted" | "untrusted" | "revoked" | null;
}

export interface Stat {
  edge_types: EdgeType[];
  node_types: EdgeType[];
}

export interface LogAnswer {
  agent: string | null;
  author: string;
  commit: string;
  edges: Counts;
  graph: string;
  message: string;
  nodes: Counts;
  parents: string[];
  task: string | null;
  time: string;
  git?: string | null;
  profiles?: string[];
  signature?: Signature;
  stat?: Stat;
  title?: string;
}

export interface Mark {
  actor: string;
  by: string | null;
  reason: string | null;
  state: string;
  time: string;
}

export interface LsNode {
  cid: string;
  context: string | null;
  created: string;
  id: string;
  key: string | null;
  mark: Mark | null;
  props: Record<string, unknown>;
  sources: string[];
  summary: string | null;
  type: string;
  updated: string | null;
  validFrom: string | null;
  validTo: string | null;
  cues?: string[];
}

export interface LsAnswer {
  commit: string | null;
  next: string | null;
  nodes: LsNode[];
  others: boolean;
}

export interface LsEdgesEdge {
  cid: string;
  created: string;
  dst: string;
  dst_key: string | null;
  id: string;
  key: string | null;
  mark: Mark | null;
  props: Record<string, unknown>;
  sources: string[];
  src: string;
  src_key: string | null;
  type: string;
  validFrom: string | null;
  validTo: string | null;
  weight: number;
}

export interface LsEdges {
  commit: string | null;
  edges: LsEdgesEdge[];
  next: string | null;
}

export interface MapEntryChanged {
  id: string;
  state: string;
  title: string | null;
}

export interface MapEntry {
  changed: MapEntryChanged[];
  created: string | null;
  depth: number;
  facts: number;
  id: string | null;
  kind: string;
  name: string | null;
  scopes: number;
  source: string;
  title: string | null;
  tokens: number;
  type: string;
}

export interface MapSince {
  added: number;
  changed: number;
  commit: string | null;
  more: boolean;
  read: number;
  removed: number;
}

export interface MapDigestText {
  fact: string;
  text: string | null;
}

export interface MapDigestWritten {
  model: string;
  text: string | null;
}

export interface MapDigest {
  above: (string | null)[];
  expired: string[];
  facts: number;
  id: string | null;
  kind: string;
  level: number;
  name: string | null;
  refused: number;
  sem: string;
  source: string;
  text: MapDigestText[];
  title: string | null;
  tokens: number;
  written: MapDigestWritten | null;
}

export interface MapFound {
  distance: number;
  id: string | null;
  kind: string;
  name: string | null;
  sem: string;
  title: string | null;
}

export interface MapRebuiltWrittenFailed {
  error: string;
  id: string | null;
}

export interface MapRebuiltWritten {
  calls: number;
  commit: string | null;
  dropped: number;
  dry_run: boolean;
  failed: MapRebuiltWrittenFailed[];
  left: number;
  model: string;
  most: number;
  tokens: number;
  written: number;
}

export interface MapRebuilt {
  facts: number;
  found: boolean;
  made: number;
  read: number;
  root: string | null;
  scopes: number;
  source: string;
  texts: number;
  written?: MapRebuiltWritten;
}

export interface MapWritten {
  branch: string;
  dropped: number;
  dry_run: boolean;
  id: string | null;
  model: string;
  name: string | null;
  no_change: boolean;
  source: string;
  tokens: number;
  warnings?: SecretWarning[];
}

export interface MapAnswer {
  commit: string | null;
  entries: MapEntry[];
  more: number;
  printed: string | null;
  since: MapSince | null;
  tokens: number;
  digest?: MapDigest;
  found?: MapFound[];
  rebuilt?: MapRebuilt;
  written?: MapWritten;
}

export interface MarkAnswer {
  already: string[];
  branch: string;
  commit: string | null;
  dry_run: boolean;
  graph: string | null;
  marked: string[];
  no_change: boolean;
  state: string | null;
  unmarked: string[];
  warnings?: SecretWarning[];
}

export interface MergeAnswer {
  branch: string;
  commit: string | null;
  conflicts: CherryPickConflict[];
  dry_run: boolean;
  edges: Counts;
  fast_forward: boolean;
  graph: string | null;
  no_change: boolean;
  nodes: Counts;
  parents: string[];
  vectors_dropped: number;
  warnings?: SecretWarning[];
}

export interface Kept {
  branch: string;
  commit: string;
  ref: string;
}

export interface MergeState {
  branch: string | null;
  conflicts: CherryPickConflict[];
  kept: Kept[];
  ours: string | null;
  theirs: string | null;
  vectors_dropped: number;
  verb: "merge" | "revert" | "cherry-pick" | null;
}

export interface RefMove {
  from: string | null;
  ref: string;
  to: string | null;
}

export interface OperationName {
  op: string;
  seq: number;
}

export interface OpLogAnswer {
  actor: string;
  command: string[];
  op: string;
  redoes: string | null;
  refs: RefMove[];
  seq: number;
  time: string;
  undoes: string | null;
  oldest?: boolean;
  since?: OperationName;
  undone?: boolean;
}

export interface Pushed {
  branch: string;
  commits: string;
  remote: string;
}

export interface Skipped {
  command: string[];
  op: string;
  seq: number;
}

export interface OpRestoreAnswer {
  command: string[];
  did: "undone" | "redone" | "restored";
  of: OperationName;
  op: string | null;
  pushed: Pushed[];
  refs: RefMove[];
  skipped: Skipped[];
  skipped_all: number;
}

export interface OpShowAnswer {
  actor: string;
  command: string[];
  op: string;
  redoes: string | null;
  refs: RefMove[];
  seq: number;
  time: string;
  undoes: string | null;
  oldest?: boolean;
  since?: OperationName;
  undone?: boolean;
}

export interface PackRedactAnswer {
  closed: string[];
  dry_run: boolean;
  erased: string[];
  erasure_pending: boolean;
  left: string[];
  erasure_denied?: string | null;
}

export interface PackRedactionsRedaction {
  actor: string | null;
  cid: string;
  reason: string | null;
  record: string;
  time: string;
  what: "node" | "content" | "embedding" | "digest" | "query" | "message" | "edge" | "mark";
}

export interface PackRedactionsAnswer {
  more: boolean;
  redactions: PackRedactionsRedaction[];
}

export interface Ref {
  ref: string;
  target: string;
}

export interface PackRefsAnswer {
  head: string | null;
  known: string[];
  redactions: string;
  refs: Ref[];
}

export interface PinAnswer {
  already: string[];
  branch: string;
  changed: string[];
  commit: string | null;
  dry_run: boolean;
  graph: string | null;
  no_change: boolean;
  pinned: boolean;
  warnings?: SecretWarning[];
}

export interface PurgeFile {
  done: "removed" | "changed" | "left";
  path: string | null;
  what: string;
}

export interface PurgeHit {
  cid: string | null;
  name: string | null;
  what: string;
}

export interface PurgeRedacted {
  cid: string;
  name: string | null;
  what: "node" | "content" | "embedding" | "digest" | "query" | "message" | "edge" | "mark";
}

export interface PurgeShared {
  cid: string;
  name: string | null;
  what: "content" | "embedding";
}

export interface PurgeAnswer {
  branches: Ref[];
  derived: string[];
  dry_run: boolean;
  elsewhere: string[];
  erasure_pending: boolean;
  files: PurgeFile[];
  hits: PurgeHit[];
  more_hits: number;
  node: string | null;
  operation: string | null;
  redacted: PurgeRedacted[];
  shared: PurgeShared[];
  stages: string[];
  erasure_denied?: string | null;
  must_free?: number;
}

export interface DroppedBy {
  budget: number;
  duplicate: number;
}

export interface Lane {
  lane: string;
  rank: number;
  score: number;
  share?: number;
  weight?: number;
}

export interface Path {
  edge: string | null;
  forward: boolean;
  id: string;
}

export interface Beam {
  hops: number;
  path: Path[];
  seed: string;
}

export interface Community {
  number: number;
  seed: string;
  size: number;
}

export interface Replaced {
  actor: string;
  by: string;
  time: string;
}

export interface Signal {
  entity: number;
  graph: number;
  keyword: number;
  similarity: number;
}

export interface Term {
  score: number;
  term: string;
  added?: boolean;
  read_as?: string;
}

export interface Item {
  id: string;
  key: string | null;
  lanes: Lane[];
  rank: number;
  rendered: string;
  score: number;
  tokens: number;
  type: string;
  band?: "answer" | "maybe" | "rest";
  beam?: Beam;
  community?: Community;
  contradicts?: string;
  hops?: number | null;
  path?: Path[];
  replaced?: Replaced;
  repository?: "project" | "global";
  seed?: string | null;
  signals?: Signal;
  terms?: Term[];
  tier?: number;
  why?: string | null;
}

export interface Warning {
  code: string;
  message: string;
  remedy: string;
  repository?: "project" | "global";
}

export interface RecallDate {
  from: string | null;
  to: string | null;
}

export interface Digest {
  covers: string[];
  digest: string;
  facts: number;
  found: number;
  rendered: string;
  score: number;
  source: string;
  tokens: number;
  band?: "answer" | "maybe" | "rest";
}

export interface DroppedItem {
  id: string;
  reason: string;
  repeats: string | null;
  tokens: number;
}

export interface Missing {
  kind: number;
  text: string;
}

export interface Recall {
  depth: number;
  visited: number;
  visited_limit: number;
  weights: Signal;
  width: number;
}

export interface Repository {
  commit: string | null;
  items: number;
  repository: "project" | "global";
  share: number;
}

export interface LeftOut {
  exclude: number;
  marks: number;
  time: number;
  type: number;
  where: number;
}

export interface TraceLane {
  best: number;
  found: number;
  lane: string;
  left_out: LeftOut;
  passed: number;
  weight: number;
  worst: number;
}

export interface Stage {
  micros: number;
  stage: string;
}

export interface Trace {
  fusion: string;
  lanes: TraceLane[];
  stages: Stage[];
}

export interface RecallAnswer {
  candidates_seen: number;
  commit: string;
  dropped: number;
  dropped_by: DroppedBy;
  items: Item[];
  query: string;
  receipt: string | null;
  tokens_budget: number;
  tokens_used: number;
  warnings: Warning[];
  because?: string;
  covered?: number;
  dates?: RecallDate[];
  digests?: Digest[];
  dropped_items?: DroppedItem[];
  intent?: "why" | "when" | "entity" | "general";
  missing?: Missing[];
  profile?: string;
  qid?: string;
  recall?: Recall;
  repositories?: Repository[];
  trace?: Trace;
  verdict?: "known" | "unsure" | "unknown";
}

export interface RecallBatchAnswer {
  candidates_seen: number;
  commit: string;
  dropped: number;
  dropped_by: DroppedBy;
  items: Item[];
  query: string;
  receipt: string | null;
  tokens_budget: number;
  tokens_used: number;
  warnings: Warning[];
  because?: string;
  covered?: number;
  dates?: RecallDate[];
  digests?: Digest[];
  dropped_items?: DroppedItem[];
  intent?: "why" | "when" | "entity" | "general";
  missing?: Missing[];
  profile?: string;
  qid?: string;
  recall?: Recall;
  repositories?: Repository[];
  trace?: Trace;
  verdict?: "known" | "unsure" | "unknown";
}

export interface RememberCandidate {
  id: string;
  kind: string;
  score: number;
}

export interface RememberSimilarDiffer {
  kind: string;
  new: string;
  old: string;
}

export interface RememberSimilar {
  cosine: number | null;
  differs: RememberSimilarDiffer[];
  id: string;
  similarity: number;
  suggest: string;
  summary: string;
}

export interface RememberWarning {
  code: string;
  detail: string;
  message: string;
}

export interface RememberLink {
  dst: string;
  src: string;
  type: string;
  weight: number;
  why: string;
}

export interface RememberNearest {
  date: string;
  id: string;
  text: string;
}

export interface RememberAnswer {
  action: "added" | "superseded" | "conflict" | "updated" | "duplicate";
  candidates: RememberCandidate[];
  commit: string | null;
  dry_run: boolean;
  edges: Record<string, unknown>;
  effective: number;
  id: string;
  importance: number;
  no_change: boolean;
  similar: RememberSimilar[];
  superseded: string[];
  type: string;
  warnings: RememberWarning[];
  links?: RememberLink[];
  nearest?: RememberNearest[];
  repository?: "global";
  settle?: string;
}

export interface RememberBatchAnswer {
  action: "added" | "superseded" | "conflict" | "updated" | "duplicate";
  candidates: RememberCandidate[];
  commit: string | null;
  dry_run: boolean;
  edges: Record<string, unknown>;
  effective: number;
  id: string;
  importance: number;
  no_change: boolean;
  similar: RememberSimilar[];
  superseded: string[];
  type: string;
  warnings: RememberWarning[];
  links?: RememberLink[];
  nearest?: RememberNearest[];
  repository?: "global";
  settle?: string;
}

export interface RemoteRedactionsRedaction {
  actor: string | null;
  cid: string;
  decision: "waiting" | "rejected" | "accepted";
  key: string | null;
  reason: string | null;
  record: string;
  remote: string | null;
  time: string;
  what: "node" | "content" | "embedding" | "digest" | "query" | "message" | "edge" | "mark";
}

export interface RemoteRedactionsAnswer {
  redactions: RemoteRedactionsRedaction[];
  remote: string | null;
}

export interface RedactionsClosed {
  closed: string[];
  erased: string[];
  erasure_pending: boolean;
  remote: string;
  waiting: number;
  erasure_denied?: string | null;
}

export interface ResetAnswer {
  edges: Counts;
  nodes: Counts;
  stage: string;
  staged: boolean;
}

export interface RestoreAnswer {
  branch: string;
  commit: string | null;
  dry_run: boolean;
  duplicates: number;
  edges: Counts;
  graph: string | null;
  no_change: boolean;
  nodes: Counts;
  parents: string[];
  unchanged: number;
  changes?: Change[];
  rebased?: boolean;
  unembedded?: number;
  warnings?: SecretWarning[];
}

export interface RestoreMarks {
  already: string[];
  branch: string;
  commit: string | null;
  dry_run: boolean;
  graph: string | null;
  marked: string[];
  no_change: boolean;
  state: string | null;
  unmarked: string[];
  warnings?: SecretWarning[];
}

export interface RetrieveAnswer {
  candidates_seen: number;
  commit: string;
  dropped: number;
  dropped_by: DroppedBy;
  items: Item[];
  query: string;
  receipt: string | null;
  tokens_budget: number;
  tokens_used: number;
  warnings: Warning[];
  because?: string;
  covered?: number;
  dates?: RecallDate[];
  digests?: Digest[];
  dropped_items?: DroppedItem[];
  intent?: "why" | "when" | "entity" | "general";
  missing?: Missing[];
  profile?: string;
  qid?: string;
  recall?: Recall;
  repositories?: Repository[];
  trace?: Trace;
  verdict?: "known" | "unsure" | "unknown";
}

export interface RetrieveBatchAnswer {
  candidates_seen: number;
  commit: string;
  dropped: number;
  dropped_by: DroppedBy;
  items: Item[];
  query: string;
  receipt: string | null;
  tokens_budget: number;
  tokens_used: number;
  warnings: Warning[];
  because?: string;
  covered?: number;
  dates?: RecallDate[];
  digests?: Digest[];
  dropped_items?: DroppedItem[];
  intent?: "why" | "when" | "entity" | "general";
  missing?: Missing[];
  profile?: string;
  qid?: string;
  recall?: Recall;
  repositories?: Repository[];
  trace?: Trace;
  verdict?: "known" | "unsure" | "unknown";
}

export interface RevertAnswer {
  branch: string;
  commit: string | null;
  conflicts: CherryPickConflict[];
  dry_run: boolean;
  edges: Counts;
  fast_forward: boolean;
  graph: string | null;
  no_change: boolean;
  nodes: Counts;
  parents: string[];
  vectors_dropped: number;
  warnings?: SecretWarning[];
}

export interface ReviewItem {
  created: string;
  id: string;
  key: string | null;
  pinned: boolean;
  sources: string[];
  state: string | null;
  text: string;
  type: string;
}

export interface ReviewUndecided {
  differ: string;
  earlier: ReviewItem;
  later: ReviewItem;
  settle: string;
}

export interface ReviewAnswer {
  already: string[];
  branch: string;
  commit: string | null;
  dropped: string[];
  dry_run: boolean;
  edited: string[];
  head: string | null;
  items: ReviewItem[];
  kept: string[];
  left: number;
  pinned: string[];
  since: string | null;
  undecided: ReviewUndecided[];
  warnings?: SecretWarning[];
}

export interface RmAnswer {
  duplicates: number;
  edges: Counts;
  nodes: Counts;
  stage: string;
  unchanged: number;
  warnings?: SecretWarning[];
}

export interface SessionAdvanceAnswer {
  actor: string;
  agent: string | null;
  commit: string | null;
  ended: boolean;
  follow: boolean;
  of: string;
  records: number;
  session: string;
  task: string | null;
  time: string;
}

export interface SessionEndAnswer {
  actor: string;
  agent: string | null;
  commit: string | null;
  ended: boolean;
  follow: boolean;
  of: string;
  records: number;
  session: string;
  task: string | null;
  time: string;
}

export interface SessionListAnswer {
  actor: string;
  agent: string | null;
  commit: string | null;
  ended: boolean;
  follow: boolean;
  of: string;
  records: number;
  session: string;
  task: string | null;
  time: string;
}

export interface SessionLogAnswer {
  actor: string;
  commit: string | null;
  event: string;
  items: number | null;
  query: string | null;
  receipt: string | null;
  record: string;
  time: string;
  title: string | null;
  tokens: number | null;
}

export interface SessionReplayFirstDifference {
  field: string;
  item: number | null;
  new: string;
  number: number;
  old: string;
  receipt: string;
}

export interface SessionReplayRedacted {
  actor: string;
  cid: string;
  node: string | null;
  reason: string | null;
  time: string;
  what: "node" | "content" | "embedding" | "digest" | "query" | "message" | "edge" | "mark";
}

export interface SessionReplayAnswer {
  first_difference: SessionReplayFirstDifference | null;
  identical: boolean | null;
  receipts: number;
  session: string | null;
  redacted?: SessionReplayRedacted[];
}

export interface SessionRmAnswer {
  removed: string;
}

export interface SessionStartAnswer {
  actor: string;
  agent: string | null;
  commit: string | null;
  ended: boolean;
  follow: boolean;
  of: string;
  records: number;
  session: string;
  task: string | null;
  time: string;
}

export interface ShowAnswer {
  cid: string;
  commit: string | null;
  content: string | null;
  context: string | null;
  created: string;
  id: string;
  in: In[];
  key: string | null;
  mark: Mark | null;
  media: string | null;
  more_in: number;
  more_out: number;
  out: In[];
  props: Record<string, unknown>;
  sources: string[];
  summary: string | null;
  type: string;
  updated: string | null;
  validFrom: string | null;
  validTo: string | null;
  cues?: string[];
  importance?: Importance;
  now?: string | null;
}

export interface Diff {
  counts: Count;
  edges: Edge[];
  from: string | null;
  nodes: Node[];
  to: string | null;
  profiles?: Profile;
  stage?: string;
  title?: string;
}

export interface ShowCommit {
  agent: string | null;
  author: string;
  commit: string;
  diff: Diff;
  edges: Counts;
  graph: string;
  message: string;
  nodes: Counts;
  parents: string[];
  task: string | null;
  time: string;
  git?: string | null;
  profiles?: string[];
  signature?: Signature;
  stat?: Stat;
  title?: string;
}

export interface ShowEdge {
  cid: string;
  created: string;
  dst: string;
  dst_key: string | null;
  id: string;
  key: string | null;
  mark: Mark | null;
  props: Record<string, unknown>;
  sources: string[];
  src: string;
  src_key: string | null;
  type: string;
  validFrom: string | null;
  validTo: string | null;
  weight: number;
}

export interface ShowOperation {
  actor: string;
  command: string[];
  op: string;
  redoes: string | null;
  refs: RefMove[];
  seq: number;
  time: string;
  undoes: string | null;
  oldest?: boolean;
  since?: OperationName;
  undone?: boolean;
}

export interface ShowBlock {
  cid: string;
  data: unknown;
  kind: string | null;
  size: number;
}

export interface StatsEdgeType {
  count: number;
  type: string;
}

export interface StatsEdge {
  by_type: Record<string, unknown>;
  total: number;
}

export interface StatsIndexField {
  field: string;
  nodes: number;
  terms: number;
}

export interface StatsIndex {
  fields: StatsIndexField[];
  manifest: string | null;
  nodes: number;
  segments: number;
  terms: number;
}

export interface StatsMark {
  by_state: Record<string, unknown>;
  total: number;
}

export interface StatsStore {
  block_bytes: number;
  blocks: number;
  branches: number;
  bytes: number;
  derived_blocks: number;
  derived_bytes: number;
  disk_bytes: number;
  operations: number;
  tags: number;
}

export interface StatsAnswer {
  agents: Record<string, unknown>;
  commit: string | null;
  edge_types: StatsEdgeType[];
  edges: StatsEdge;
  embeddings: number;
  graph: string | null;
  index: StatsIndex;
  marks: StatsMark;
  node_types: StatsEdgeType[];
  nodes: StatsEdge;
  store: StatsStore;
}

export interface StatsSchemaEdgeType {
  count: number;
  from: StatsEdgeType[];
  more_from: number;
  more_to: number;
  to: StatsEdgeType[];
  type: string;
}

export interface StatsSchemaProperty {
  count: number;
  examples: unknown[];
  kinds: string[];
  more_types: number;
  name: string;
  types: StatsEdgeType[];
}

export interface StatsSchema {
  commit: string | null;
  edge_types: StatsSchemaEdgeType[];
  edges: number;
  more_edge_types: number;
  more_node_types: number;
  more_properties: number;
  node_types: StatsEdgeType[];
  nodes: number;
  properties: StatsSchemaProperty[];
  untold: number;
}

export interface StatusFollowing {
  branch: string | null;
  doing: "rebase" | "bisect" | null;
  exists: boolean;
  from: string | null;
  git: string | null;
  read_only: string | null;
  work: string;
}

export interface StatusMerge {
  conflicts: number;
  open: number;
  theirs: string | null;
  verb: string;
}

export interface StatusSynced {
  failed: string | null;
  remote: string;
  tried: string | null;
  worked: string | null;
}

export interface StatusAnswer {
  base: string | null;
  branch: string | null;
  changes: Change[];
  edges: Counts;
  head: string | null;
  kept: Kept[];
  nodes: Counts;
  stage: string;
  staged: boolean;
  client?: string;
  following?: StatusFollowing;
  merge?: StatusMerge;
  synced?: StatusSynced[];
}

export interface SwitchAnswer {
  branch: string | null;
  commit: string | null;
}

export interface TagAnswer {
  commit: string;
  current: boolean;
  message: string | null;
  name: string;
  tag: string | null;
  tagger: string | null;
  time: string | null;
}

export interface TagRemoved {
  commit: string;
  removed: string;
}

export interface UndoAnswer {
  command: string[];
  did: "undone" | "redone" | "restored";
  of: OperationName;
  op: string | null;
  pushed: Pushed[];
  refs: RefMove[];
  skipped: Skipped[];
  skipped_all: number;
}

export interface VersionAnswer {
  analyser: number;
  format: number;
  go: string;
  platform: string;
  ranking: number;
  version: string;
  revision?: string;
}

/** Parameters of add. */
export interface AddOptions {
  /** change lines, in order: objects with one member node, edge, embedding or remove */
  lines: readonly Readonly<Record<string, unknown>>[];
  /** write what RULE of 'mnem config secrets' takes for a credential */
  allow_secret?: readonly (string)[] | undefined;
  /** the branch that an empty stage builds on */
  branch?: string | undefined;
  /** the CID of the commit that HEAD must be at, or "none" before the first; else exit code 5 */
  expect?: string | undefined;
  /** the stage to use */
  stage?: string | undefined;
  /** refuse credentials in more than 1000 changes too, where they are only reported */
  strict?: boolean | undefined;
  /** time of the change, RFC 3339 */
  time?: string | undefined;
}

/** Parameters of blame. */
export interface BlameOptions {
  /** the REVision to read; see 'mnem help revisions' */
  at?: string | undefined;
  /** print this FIELD alone, as summary or props.NAME */
  field?: readonly (string)[] | undefined;
}

/** Parameters of branch. */
export interface BranchOptions {
  /** remove a branch */
  delete?: boolean | undefined;
  /** the CID of the commit that the name must be at, or "none" where it must not exist; else exit code 5 */
  expect?: string | undefined;
  /** move a branch that exists, remove one that is not merged */
  force?: boolean | undefined;
  /** rename a branch */
  move?: boolean | undefined;
  /** time of the change, RFC 3339 */
  time?: string | undefined;
}

/** Parameters of cherryPick. */
export interface CherryPickOptions {
  /** write what RULE of 'mnem config secrets' takes for a credential */
  allow_secret?: readonly (string)[] | undefined;
  /** the branch to write to */
  branch?: string | undefined;
  /** what to do if both sides changed one thing: RULE is stop, newest, ours, theirs */
  conflicts?: "stop" | "newest" | "ours" | "theirs" | undefined;
  /** say what would happen and write nothing */
  dry_run?: boolean | undefined;
  /** the CID of the commit that the branch must be at; else exit code 5 */
  expect?: string | undefined;
  /** what the commit is about; default: what was done */
  message?: string | undefined;
  /** time of the change, RFC 3339 */
  time?: string | undefined;
}

/** Parameters of commit. */
export interface CommitOptions {
  /** write what RULE of 'mnem config secrets' takes for a credential */
  allow_secret?: readonly (string)[] | undefined;
  /** replace the newest commit; without -m its message stays */
  amend?: boolean | undefined;
  /** the branch to write to */
  branch?: string | undefined;
  /** print what would change and write nothing */
  dry_run?: boolean | undefined;
  /** the CID of the commit that the branch must be at, or "none" for a branch without one; else exit code 5 */
  expect?: string | undefined;
  /** the version that a node must have, NODE=CID, as 'mnem show' prints it, or NODE=none; else exit code 5 */
  expect_node?: readonly (string)[] | undefined;
  /** the REV that the changes were made against */
  from?: string | undefined;
  /** change lines, in order: objects with one member node, edge, embedding or remove */
  lines?: readonly Readonly<Record<string, unknown>>[] | undefined;
  /** what the commit is about; required */
  message?: string | undefined;
  /** the stage to use */
  stage?: string | undefined;
  /** refuse credentials in more than 1000 changes too, where they are only reported */
  strict?: boolean | undefined;
  /** time of the change, RFC 3339 */
  time?: string | undefined;
}

/** Parameters of configHalfLife. */
export interface ConfigHalfLifeOptions {
  /** the REVision to read; see 'mnem help revisions' */
  at?: string | undefined;
  /** the branch to write to */
  branch?: string | undefined;
  /** print what would be and write nothing */
  dry_run?: boolean | undefined;
  /** the CID of the commit that the branch must be at, or "none" for a branch without one; else exit code 5 */
  expect?: string | undefined;
  /** what the commit is about; default: what was done */
  message?: string | undefined;
  /** go back to the built-in half-lives of all types */
  remove?: boolean | undefined;
  /** time of the change, RFC 3339 */
  time?: string | undefined;
}

/** Parameters of configProfile. */
export interface ConfigProfileOptions {
  /** print N edges of each item in each direction */
  adjacency?: number | undefined;
  /**
   * print digests of scopes in place of items that do not fit: HOW is entity (never), scope, root (that of the
   * whole first) or auto (as scope where the query asks broadly)
   */
  altitude?: "entity" | "scope" | "root" | "auto" | undefined;
  /** the REVision to read; see 'mnem help revisions' */
  at?: string | undefined;
  /** the branch to write to */
  branch?: string | undefined;
  /** at most N tokens; 0 for no budget */
  budget?: number | undefined;
  /** raise and add members of the communities that the best nodes are in */
  community?: boolean | undefined;
  /** with expansion=ppr: the SHARE that moves on, between 0 and 1 */
  damping?: number | undefined;
  /** with expansion=decay: the SHARE that each hop keeps, above 0 to 1 */
  decay?: number | undefined;
  /** leave out what repeats an item before it */
  dedup?: boolean | undefined;
  /** make it the profile of requests that name none and whose types match none */
  default?: boolean | undefined;
  /** expand along edges out, in or both */
  direction?: "out" | "in" | "both" | undefined;
  /** lend so much over edges of a type: TYPE=W, W 0 to 16, 1 for others */
  edge_weight?: readonly (string)[] | undefined;
  /** expand in N rounds, 0 for none, at most 4; with ppr 20 rounds, at most 64 */
  expand?: number | undefined;
  /** expand along edges of this TYPE only */
  expand_type?: readonly (string)[] | undefined;
  /** how nodes raise those linked to them: WAY is lend, decay or ppr */
  expansion?: "lend" | "decay" | "ppr" | undefined;
  /** the CID of the commit that the branch must be at, or "none" for a branch without one; else exit code 5 */
  expect?: string | undefined;
  /** print items down to this BAND: answer, maybe or rest */
  floor?: "answer" | "maybe" | "rest" | undefined;
  /** put the profile, or all and the default, back as at REV */
  from?: string | undefined;
  /** how text and vectors become one list: WAY is convex, rrf, weighted-rrf or score-norm */
  fusion?: "convex" | "rrf" | "weighted-rrf" | "score-norm" | undefined;
  /** at most N items; 0 for no limit */
  limit?: number | undefined;
  /** at most N nodes join that only expansion finds */
  max_expand?: number | undefined;
  /** what the change is about */
  message?: string | undefined;
  /** print items by rank or by time (oldest first) */
  order?: "rank" | "time" | undefined;
  /**
   * print TEXTS whole, or the passages of summary and content that fit the query best; auto: whole while the
   * budget lasts, passages of chunks that do not fit
   */
  pack?: "auto" | "whole" | "passages" | undefined;
  /** with pack=passages or auto: at most N tokens of each text */
  passage_tokens?: number | undefined;
  /** remove the profile of the repository; a built-in one of the same name holds again */
  remove?: boolean | undefined;
  /** print these LINES too: times, key, content */
  show?: readonly ("times" | "key" | "content")[] | undefined;
  /** read words that no node has as the closest that some have: on or off */
  spelling?: "on" | "off" | undefined;
  /** cut each text at N characters; 0 for whole */
  summary_cap?: number | undefined;
  /** time of the change, RFC 3339 */
  time?: string | undefined;
  /** count tokens by NAME: estimate, or a counter of the program that has the repository open */
  tokenizer?: "estimate" | undefined;
  /** choose the profile for requests of this TYPE */
  type?: readonly (string)[] | undefined;
  /** take the PARAMETER out, or type for its types */
  unset?: readonly (string)[] | undefined;
  /** count a lane so much: LANE=W, LANE text, text:N, time, dense:MODEL or sparse:MODEL, W 0 to 16 */
  weight?: readonly (string)[] | undefined;
}

/** Parameters of consolidate. */
export interface ConsolidateOptions {
  /** do what is proposed, all or these ids */
  accept?: boolean | undefined;
  /** write what RULE of 'mnem config secrets' takes for a credential */
  allow_secret?: readonly (string)[] | undefined;
  /** the REVision to read; see 'mnem help revisions' */
  at?: string | undefined;
  /** the branch to write to */
  branch?: string | undefined;
  /** print what would change and write nothing */
  dry_run?: boolean | undefined;
  /** the CID of the commit that the branch must be at; else exit code 5 */
  expect?: string | undefined;
  /** from more than N memories, retire the least important; 0 for no limit */
  keep?: number | undefined;
  /** only these KINDS */
  kind?: readonly (string)[] | undefined;
  /** print at most N proposals; 0 for all */
  limit?: number | undefined;
  /** what the commit is about; default: what was done */
  message?: string | undefined;
  /** TIME that counts as now, RFC 3339 or YYYY-MM-DD (default: the time of the change) */
  now?: string | undefined;
  /** why, TEXT: it is kept with the mark */
  reason?: string | undefined;
  /** do not propose these ids again */
  reject?: boolean | undefined;
  /** time of the change, RFC 3339 */
  time?: string | undefined;
}

/** Parameters of diff. */
export interface DiffOptions {
  /** the stage to use */
  stage?: string | undefined;
  /** show what is staged */
  staged?: boolean | undefined;
  /** numbers for each type instead of items */
  stat?: boolean | undefined;
  /** only nodes and edges of this TYPE */
  type?: readonly (string)[] | undefined;
}

/** Parameters of embed. */
export interface EmbedOptions {
  /** embed all nodes again */
  all?: boolean | undefined;
  /** the branch to write to */
  branch?: string | undefined;
  /**
   * print how many nodes have embeddings, how many would be embedded, and whether a process makes these; make
   * none
   */
  dry_run?: boolean | undefined;
  /** the CID of the commit that the branch must be at; else exit code 5 */
  expect?: string | undefined;
  /** make at most N embeddings; 0 for no limit */
  limit?: number | undefined;
  /** what the commit is about (default: "embed with MODEL") */
  message?: string | undefined;
  /** embed nodes too whose text has changed since */
  stale?: boolean | undefined;
  /** time of the change, RFC 3339 */
  time?: string | undefined;
  /** only nodes of this TYPE */
  type?: readonly (string)[] | undefined;
}

/** Parameters of embedCues. */
export interface EmbedCuesOptions {
  /** go on after this CURSOR or id */
  after?: string | undefined;
  /** the REVision to read; see 'mnem help revisions' */
  at?: string | undefined;
  /** at most N memories; 0 for all */
  limit?: number | undefined;
  /** list the memories that have none */
  missing?: boolean | undefined;
  /** only memories of this TYPE */
  type?: readonly (string)[] | undefined;
}

/** Parameters of explore. */
export interface ExploreOptions {
  /** list N edges of each node in each direction too */
  adjacency?: number | undefined;
  /** the REVision to read; see 'mnem help revisions' */
  at?: string | undefined;
  /** list groups of densely connected nodes, or the members of the one of a node */
  communities?: boolean | undefined;
  /** follow up to N edges in a row (default: 3 from words, 32 with --to) */
  depth?: number | undefined;
  /** follow only edges of this TYPE */
  edge?: readonly (string)[] | undefined;
  /** follow edges against their direction only */
  in?: boolean | undefined;
  /** show nodes and edges in these hidden STATES too: forgotten, superseded, expired, retired */
  include?: readonly ("forgotten" | "superseded" | "expired" | "retired")[] | undefined;
  /** at most N nodes, or communities; 0 for all */
  limit?: number | undefined;
  /** follow edges in their direction only */
  out?: boolean | undefined;
  /** suggest tags for the text */
  tags?: boolean | undefined;
  /** find a shortest path to this NODE */
  to?: string | undefined;
  /** only nodes of this TYPE, on the way too */
  type?: readonly (string)[] | undefined;
}

/** Parameters of forget. */
export interface ForgetOptions {
  /** write what RULE of 'mnem config secrets' takes for a credential */
  allow_secret?: readonly (string)[] | undefined;
  /** the branch to write to */
  branch?: string | undefined;
  /** forget only if exactly N nodes match the filters */
  confirm?: number | undefined;
  /** print what would change and write nothing */
  dry_run?: boolean | undefined;
  /** the CID of the commit that the branch must be at; else exit code 5 */
  expect?: string | undefined;
  /** what the commit is about; default: what was done */
  message?: string | undefined;
  /** why, TEXT: it is kept with the mark */
  reason?: string | undefined;
  /** time of the change, RFC 3339 */
  time?: string | undefined;
  /** only this TYPE */
  type?: readonly (string)[] | undefined;
  /** only what was created before this TIME, RFC 3339 or YYYY-MM-DD */
  until?: string | undefined;
  /** only where this PREDICATE holds */
  where?: readonly (string)[] | undefined;
}

/** Parameters of fsck. */
export interface FsckOptions {
  /** check the trees and indexes of every commit from end to end, not only of those that refs name */
  full?: boolean | undefined;
  /** first rebuild the index of the newest commit from its facts alone: answers do not change */
  rebuild?: boolean | undefined;
}

/** Parameters of gc. */
export interface GcOptions {
  /** count what would be removed and remove nothing */
  dry_run?: boolean | undefined;
  /** keep operations that are not older than this */
  grace?: string | undefined;
  /** how many of the newest operations to keep */
  keep?: number | undefined;
  /** time of the change, RFC 3339 */
  time?: string | undefined;
}

/** Parameters of keyVerify. */
export interface KeyVerifyOptions {
  /** every branch and tag */
  all?: boolean | undefined;
  /** at most N commits; 0 for all */
  limit?: number | undefined;
  /** exit code 4 unless every commit is signed */
  strict?: boolean | undefined;
}

/** Parameters of log. */
export interface LogOptions {
  /** commits by this agent */
  agent?: readonly (string)[] | undefined;
  /** the REVision to read; see 'mnem help revisions' */
  at?: string | undefined;
  /** commits by this author */
  author?: readonly (string)[] | undefined;
  /** commits whose message matches this regular EXPRESSION */
  grep?: string | undefined;
  /** at most N commits; 0 for all */
  limit?: number | undefined;
  /** one line a commit */
  oneline?: boolean | undefined;
  /** print what signatures are worth, as 'mnem key verify' does */
  signatures?: boolean | undefined;
  /** commits at or after this TIME: RFC 3339 or YYYY-MM-DD */
  since?: string | undefined;
  /** count what each commit changed by type */
  stat?: boolean | undefined;
  /** commits that changed a node or edge of this TYPE (repeatable: any of them) */
  type?: readonly (string)[] | undefined;
  /** commits before this TIME, likewise */
  until?: string | undefined;
}

/** Parameters of ls. */
export interface LsOptions {
  /** go on after this CURSOR or id */
  after?: string | undefined;
  /** list nodes of every type, also documents, their parts, conversations and names */
  all?: boolean | undefined;
  /** the REVision to read; see 'mnem help revisions' */
  at?: string | undefined;
  /** list edges */
  edges?: boolean | undefined;
  /** show nodes and edges in these hidden STATES too: forgotten, superseded, expired, retired */
  include?: readonly ("forgotten" | "superseded" | "expired" | "retired")[] | undefined;
  /** at most N rows; 0 for all */
  limit?: number | undefined;
  /** TIME that importance is of, RFC 3339 or YYYY-MM-DD (default: now) */
  now?: string | undefined;
  /** ORDER: id, key, created, updated, importance or props.NAME (default: -created; of edges id) */
  sort?: string | undefined;
  /** list nodes that have a source, with their sources */
  sources?: boolean | undefined;
  /** only this TYPE */
  type?: readonly (string)[] | undefined;
  /** only where this PREDICATE holds */
  where?: readonly (string)[] | undefined;
}

/** Parameters of map. */
export interface MapOptions {
  /** write what RULE of 'mnem config secrets' takes for a credential */
  allow_secret?: readonly (string)[] | undefined;
  /** the REVision to read; see 'mnem help revisions' */
  at?: string | undefined;
  /** the branch to write to */
  branch?: string | undefined;
  /** print at most N tokens; 0 for the highest limit */
  budget?: number | undefined;
  /** what makes a scope: edge:TYPE, prop:NAME, type or community */
  by?: readonly (string)[] | undefined;
  /** show N levels below, 1 to 8 */
  depth?: number | undefined;
  /** print what would change and write nothing */
  dry_run?: boolean | undefined;
  /** the CID of the commit that the branch must be at; else exit code 5 */
  expect?: string | undefined;
  /** what the commit is about; default: what was done */
  message?: string | undefined;
  /** make the digests, and keep them */
  rebuild?: boolean | undefined;
  /** find what has this HASH: a source of 64 hex digits, or nearly this sem of 16 */
  resolve?: string | undefined;
  /** show only what differs from REV */
  since?: string | undefined;
  /** with write: the text */
  text?: string | undefined;
  /** time of the change, RFC 3339 */
  time?: string | undefined;
  /** replace the sentences of a digest, named by its source HASH or as in the map, with a text */
  write?: string | undefined;
}

/** Parameters of mark. */
export interface MarkOptions {
  /** write what RULE of 'mnem config secrets' takes for a credential */
  allow_secret?: readonly (string)[] | undefined;
  /** the branch to write to */
  branch?: string | undefined;
  /** the NODE that supersedes, contradicts or differs from them */
  by?: string | undefined;
  /** print what would change and write nothing */
  dry_run?: boolean | undefined;
  /** the CID of the commit that the branch must be at; else exit code 5 */
  expect?: string | undefined;
  /** stale, contradicted, superseded, different, retired, expired or forgotten; none with remove */
  kind?: string | undefined;
  /** what the commit is about; default: what was done */
  message?: string | undefined;
  /**
   * nodes, each by key, id, at least 4 digits of an id, or exact title; of expired without any, those whose time
   * has passed
   */
  nodes?: readonly (string)[] | undefined;
  /** TIME that counts as now for expired, RFC 3339 or YYYY-MM-DD (default: the time of the change) */
  now?: string | undefined;
  /** why, TEXT: it is kept with the mark */
  reason?: string | undefined;
  /** take the marks of nodes off, whatever they say */
  remove?: boolean | undefined;
  /** time of the change, RFC 3339 */
  time?: string | undefined;
}

/** Parameters of merge. */
export interface MergeOptions {
  /** forget the merge in progress */
  abort?: boolean | undefined;
  /** write what RULE of 'mnem config secrets' takes for a credential */
  allow_secret?: readonly (string)[] | undefined;
  /** the branch to write to */
  branch?: string | undefined;
  /** what to do if both sides changed one thing: RULE is stop, newest, ours, theirs */
  conflicts?: "stop" | "newest" | "ours" | "theirs" | undefined;
  /** make the commit, all conflicts being resolved */
  continue?: boolean | undefined;
  /** forget what was kept under a REF */
  drop?: string | undefined;
  /** say what would happen and write nothing */
  dry_run?: boolean | undefined;
  /** the CID of the commit that the branch must be at; else exit code 5 */
  expect?: string | undefined;
  /** with resolve: change lines that decide it, in place of take */
  lines?: readonly Readonly<Record<string, unknown>>[] | undefined;
  /** show the merge in progress, and what was kept */
  list?: boolean | undefined;
  /** what the commit is about; default: what was done */
  message?: string | undefined;
  /** make a merge commit also where the branch could simply move */
  no_ff?: boolean | undefined;
  /** refuse commits that no key you trust has signed */
  require_signed?: boolean | undefined;
  /** decide about one ITEM, with --take */
  resolve?: string | undefined;
  /** with resolve: ours, theirs or base */
  take?: "ours" | "theirs" | "base" | undefined;
  /** time of the change, RFC 3339 */
  time?: string | undefined;
}

/** Parameters of opLog. */
export interface OpLogOptions {
  /** at most N operations; 0 for all */
  limit?: number | undefined;
}

/** Parameters of opRestore. */
export interface OpRestoreOptions {
  /** the CID of the commit that HEAD must be at, or "none" before the first; else exit code 5 */
  expect?: string | undefined;
  /** time of the change, RFC 3339 */
  time?: string | undefined;
}

/** Parameters of opShow. */
export interface OpShowOptions {
  /** list the refs that differ from how this OP left them */
  since?: string | undefined;
}

/** Parameters of packRedact. */
export interface PackRedactOptions {
  /** say what would be erased and erase nothing */
  dry_run?: boolean | undefined;
  /** erase the block of CID=RECORD, as 'mnem pack redactions' lists them */
  redactions?: readonly (string)[] | undefined;
  /** time of the change, RFC 3339 */
  time?: string | undefined;
  /** really erase: there is no way back */
  yes?: boolean | undefined;
}

/** Parameters of packRedactions. */
export interface PackRedactionsOptions {
  /** list only blocks whose CID comes after CID */
  after?: string | undefined;
}

/** Parameters of packRefs. */
export interface PackRefsOptions {
  /** tell which of these commits and records of sessions the repository has: each a CID, at most 256 */
  have?: readonly (string)[] | undefined;
  /** tell of sessions too */
  sessions?: boolean | undefined;
  /** tell of the refs under refs/remotes too */
  tracking?: boolean | undefined;
}

/** Parameters of pin. */
export interface PinOptions {
  /** write what RULE of 'mnem config secrets' takes for a credential */
  allow_secret?: readonly (string)[] | undefined;
  /** the branch to write to */
  branch?: string | undefined;
  /** print what would change and write nothing */
  dry_run?: boolean | undefined;
  /** the CID of the commit that the branch must be at; else exit code 5 */
  expect?: string | undefined;
  /** what the commit is about; default: what was done */
  message?: string | undefined;
  /** unpin them */
  remove?: boolean | undefined;
  /** time of the change, RFC 3339 */
  time?: string | undefined;
}

/** Parameters of purge. */
export interface PurgeOptions {
  /** say what would be done and do nothing */
  dry_run?: boolean | undefined;
  /** the CID of the commit that HEAD must be at, or "none" before the first; else exit code 5 */
  expect?: string | undefined;
  /** why; shown with the redaction */
  reason?: string | undefined;
  /** time of the change, RFC 3339 */
  time?: string | undefined;
  /** really erase: there is no way back */
  yes?: boolean | undefined;
}

/** Parameters of recall. */
export interface RecallOptions {
  /** print N edges of each item in each direction */
  adjacency?: number | undefined;
  /** search for this TEXT too: the query in other words (repeatable, at most 8) */
  also?: readonly (string)[] | undefined;
  /**
   * print digests of scopes in place of items that do not fit: HOW is entity (never), scope, root (that of the
   * whole first) or auto (as scope where the query asks broadly)
   */
  altitude?: "entity" | "scope" | "root" | "auto" | undefined;
  /** the REVision to read; see 'mnem help revisions' */
  at?: string | undefined;
  /** at most N tokens; 0 for no budget */
  budget?: number | undefined;
  /** raise and add members of the communities that the best nodes are in */
  community?: boolean | undefined;
  /** leave out replaced memories */
  current?: boolean | undefined;
  /** with expansion=ppr: the SHARE that moves on, between 0 and 1 */
  damping?: number | undefined;
  /** with expansion=decay: the SHARE that each hop keeps, above 0 to 1 */
  decay?: number | undefined;
  /** leave out what repeats an item before it */
  dedup?: boolean | undefined;
  /** expand along edges out, in or both */
  direction?: "out" | "in" | "both" | undefined;
  /** lend so much over edges of a type: TYPE=W, W 0 to 16, 1 for others */
  edge_weight?: readonly (string)[] | undefined;
  /** use the embedding model of the configuration too */
  embed?: boolean | undefined;
  /** leave out this NODE, by key or id */
  exclude?: readonly (string)[] | undefined;
  /** expand in N rounds, 0 for none, at most 4; with ppr 20 rounds, at most 64 */
  expand?: number | undefined;
  /** expand along edges of this TYPE only */
  expand_type?: readonly (string)[] | undefined;
  /** how nodes raise those linked to them: WAY is lend, decay or ppr */
  expansion?: "lend" | "decay" | "ppr" | undefined;
  /** tell how each item was found, and what did not fit */
  explain?: boolean | undefined;
  /** print items down to this BAND: answer, maybe or rest */
  floor?: "answer" | "maybe" | "rest" | undefined;
  /** with a session: answer from HEAD, not from its commit */
  follow?: boolean | undefined;
  /** print items in this FORM: brief or yaml, which has full ids */
  format?: "yaml" | "brief" | undefined;
  /** how text and vectors become one list: WAY is convex, rrf, weighted-rrf or score-norm */
  fusion?: "convex" | "rrf" | "weighted-rrf" | "score-norm" | undefined;
  /** show nodes and edges in these hidden STATES too: forgotten, superseded, expired, retired */
  include?: readonly ("forgotten" | "superseded" | "expired" | "retired")[] | undefined;
  /** what the query asks for: INTENT is auto, why, when, entity or general */
  intent?: "auto" | "why" | "when" | "entity" | "general" | undefined;
  /** at most N items; 0 for no limit */
  limit?: number | undefined;
  /** at most N nodes join that only expansion finds */
  max_expand?: number | undefined;
  /** count dates like 'last week' in the query from the day of this TIME; default today */
  now?: string | undefined;
  /** print items by rank or by time (oldest first) */
  order?: "rank" | "time" | undefined;
  /**
   * print TEXTS whole, or the passages of summary and content that fit the query best; auto: whole while the
   * budget lasts, passages of chunks that do not fit
   */
  pack?: "auto" | "whole" | "passages" | undefined;
  /** with pack=passages or auto: at most N tokens of each text */
  passage_tokens?: number | undefined;
  /** take what no flag says from this NAME; see 'mnem config profile --help' */
  profile?: string | undefined;
  /** record the answer, without a session too */
  receipt?: boolean | undefined;
  /** judge the best items again by the model of the configuration */
  rerank?: boolean | undefined;
  /** judge N items; 1 to 200 */
  rerank_top?: number | undefined;
  /**
   * let the model of the configuration put the query into other words: multi, or true, or hyde for a made-up
   * answer
   */
  rewrite?: boolean | "multi" | "hyde" | undefined;
  /** with rewrite=multi: N texts, 1 to 8 */
  rewrites?: number | undefined;
  /** answer in this session and record it */
  session?: string | undefined;
  /** print these LINES too: times, key, content */
  show?: readonly ("times" | "key" | "content")[] | undefined;
  /** created at this TIME or later */
  since?: string | undefined;
  /** read words that no node has as the closest that some have: on or off */
  spelling?: "on" | "off" | undefined;
  /** cut each text at N characters; 0 for whole */
  summary_cap?: number | undefined;
  /** time of the change, RFC 3339 */
  time?: string | undefined;
  /** count tokens by NAME: estimate, or a counter of the program that has the repository open */
  tokenizer?: "estimate" | undefined;
  /** only nodes of this TYPE */
  type?: readonly (string)[] | undefined;
  /** leave out what the session was shown before */
  unseen?: boolean | undefined;
  /** created before this TIME */
  until?: string | undefined;
  /** updated (or else created) at this TIME or later */
  updated_from?: string | undefined;
  /** updated (or else created) before this TIME */
  updated_to?: string | undefined;
  /** valid at this TIME */
  valid_at?: string | undefined;
  /** count a lane so much: LANE=W, LANE text, text:N, time, dense:MODEL or sparse:MODEL, W 0 to 16 */
  weight?: readonly (string)[] | undefined;
  /** only where this PREDICATE holds */
  where?: readonly (string)[] | undefined;
  /** read dates in the query as days of this ZONE: a name like Europe/Berlin, or an offset like +02:00 */
  zone?: string | undefined;
}

/** Parameters of recallBatch. */
export interface RecallBatchOptions {
  /** requests: objects with text and any parameter of retrieve */
  lines: readonly Readonly<Record<string, unknown>>[];
  /** print N edges of each item in each direction */
  adjacency?: number | undefined;
  /** search for this TEXT too: the query in other words (repeatable, at most 8) */
  also?: readonly (string)[] | undefined;
  /**
   * print digests of scopes in place of items that do not fit: HOW is entity (never), scope, root (that of the
   * whole first) or auto (as scope where the query asks broadly)
   */
  altitude?: "entity" | "scope" | "root" | "auto" | undefined;
  /** the REVision to read; see 'mnem help revisions' */
  at?: string | undefined;
  /** at most N tokens; 0 for no budget */
  budget?: number | undefined;
  /** raise and add members of the communities that the best nodes are in */
  community?: boolean | undefined;
  /** leave out replaced memories */
  current?: boolean | undefined;
  /** with expansion=ppr: the SHARE that moves on, between 0 and 1 */
  damping?: number | undefined;
  /** with expansion=decay: the SHARE that each hop keeps, above 0 to 1 */
  decay?: number | undefined;
  /** leave out what repeats an item before it */
  dedup?: boolean | undefined;
  /** expand along edges out, in or both */
  direction?: "out" | "in" | "both" | undefined;
  /** lend so much over edges of a type: TYPE=W, W 0 to 16, 1 for others */
  edge_weight?: readonly (string)[] | undefined;
  /** use the embedding model of the configuration too */
  embed?: boolean | undefined;
  /** leave out this NODE, by key or id */
  exclude?: readonly (string)[] | undefined;
  /** expand in N rounds, 0 for none, at most 4; with ppr 20 rounds, at most 64 */
  expand?: number | undefined;
  /** expand along edges of this TYPE only */
  expand_type?: readonly (string)[] | undefined;
  /** how nodes raise those linked to them: WAY is lend, decay or ppr */
  expansion?: "lend" | "decay" | "ppr" | undefined;
  /** tell how each item was found, and what did not fit */
  explain?: boolean | undefined;
  /** print items down to this BAND: answer, maybe or rest */
  floor?: "answer" | "maybe" | "rest" | undefined;
  /** with a session: answer from HEAD, not from its commit */
  follow?: boolean | undefined;
  /** print items in this FORM: brief or yaml, which has full ids */
  format?: "yaml" | "brief" | undefined;
  /** how text and vectors become one list: WAY is convex, rrf, weighted-rrf or score-norm */
  fusion?: "convex" | "rrf" | "weighted-rrf" | "score-norm" | undefined;
  /** show nodes and edges in these hidden STATES too: forgotten, superseded, expired, retired */
  include?: readonly ("forgotten" | "superseded" | "expired" | "retired")[] | undefined;
  /** what the query asks for: INTENT is auto, why, when, entity or general */
  intent?: "auto" | "why" | "when" | "entity" | "general" | undefined;
  /** at most N items; 0 for no limit */
  limit?: number | undefined;
  /** at most N nodes join that only expansion finds */
  max_expand?: number | undefined;
  /** count dates like 'last week' in the query from the day of this TIME; default today */
  now?: string | undefined;
  /** print items by rank or by time (oldest first) */
  order?: "rank" | "time" | undefined;
  /**
   * print TEXTS whole, or the passages of summary and content that fit the query best; auto: whole while the
   * budget lasts, passages of chunks that do not fit
   */
  pack?: "auto" | "whole" | "passages" | undefined;
  /** with pack=passages or auto: at most N tokens of each text */
  passage_tokens?: number | undefined;
  /** take what no flag says from this NAME; see 'mnem config profile --help' */
  profile?: string | undefined;
  /** record the answer, without a session too */
  receipt?: boolean | undefined;
  /** judge the best items again by the model of the configuration */
  rerank?: boolean | undefined;
  /** judge N items; 1 to 200 */
  rerank_top?: number | undefined;
  /**
   * let the model of the configuration put the query into other words: multi, or true, or hyde for a made-up
   * answer
   */
  rewrite?: boolean | "multi" | "hyde" | undefined;
  /** with rewrite=multi: N texts, 1 to 8 */
  rewrites?: number | undefined;
  /** answer in this session and record it */
  session?: string | undefined;
  /** print these LINES too: times, key, content */
  show?: readonly ("times" | "key" | "content")[] | undefined;
  /** created at this TIME or later */
  since?: string | undefined;
  /** read words that no node has as the closest that some have: on or off */
  spelling?: "on" | "off" | undefined;
  /** cut each text at N characters; 0 for whole */
  summary_cap?: number | undefined;
  /** time of the change, RFC 3339 */
  time?: string | undefined;
  /** count tokens by NAME: estimate, or a counter of the program that has the repository open */
  tokenizer?: "estimate" | undefined;
  /** only nodes of this TYPE */
  type?: readonly (string)[] | undefined;
  /** leave out what the session was shown before */
  unseen?: boolean | undefined;
  /** created before this TIME */
  until?: string | undefined;
  /** updated (or else created) at this TIME or later */
  updated_from?: string | undefined;
  /** updated (or else created) before this TIME */
  updated_to?: string | undefined;
  /** valid at this TIME */
  valid_at?: string | undefined;
  /** count a lane so much: LANE=W, LANE text, text:N, time, dense:MODEL or sparse:MODEL, W 0 to 16 */
  weight?: readonly (string)[] | undefined;
  /** only where this PREDICATE holds */
  where?: readonly (string)[] | undefined;
  /** read dates in the query as days of this ZONE: a name like Europe/Berlin, or an offset like +02:00 */
  zone?: string | undefined;
}

/** Parameters of remember. */
export interface RememberOptions {
  /** KEY or id of the subject, or the name of an entity; where there is none a node of the key is made */
  about?: string | undefined;
  /** write what RULE of 'mnem config secrets' takes for a credential */
  allow_secret?: readonly (string)[] | undefined;
  /** the branch to write to */
  branch?: string | undefined;
  /** WORDS under which somebody may look for it, and which it does not have (repeatable, at most 12) */
  cue?: readonly (string)[] | undefined;
  /** print what would change and write nothing */
  dry_run?: boolean | undefined;
  /** use the embedding model of the configuration too */
  embed?: boolean | undefined;
  /** NAME that it is about (repeatable, at most 50) */
  entity?: readonly (string)[] | undefined;
  /** the CID of the commit that the branch must be at, or "none" for a branch without one; else exit code 5 */
  expect?: string | undefined;
  /** TIME from which it may be marked expired */
  expires?: string | undefined;
  /** print what each edge is for */
  explain?: boolean | undefined;
  /** N from 1 to 5 (default 3) */
  importance?: number | undefined;
  /** what the commit is about; default: what was done */
  message?: string | undefined;
  /** NAME of the subject's property that it says, which has one value: an old one is superseded */
  property?: string | undefined;
  /** where it comes from: file:PATH, url:URL, conversation:ID, manual:WHO or any other TEXT */
  source?: readonly (string)[] | undefined;
  /** refuse credentials in more than 1000 changes too, where they are only reported */
  strict?: boolean | undefined;
  /** NODE that it takes the place of */
  supersedes?: readonly (string)[] | undefined;
  /** TAG (repeatable, at most 20) */
  tag?: readonly (string)[] | undefined;
  /** time of the change, RFC 3339 */
  time?: string | undefined;
  /** TYPE: fact, decision, preference, insight, context, event, task or any other (default fact) */
  type?: string | undefined;
  /** TIME from which it holds */
  valid_from?: string | undefined;
  /** TIME until which it holds */
  valid_to?: string | undefined;
  /**
   * leave out these PARTS: diff, which looks for memories that resemble it, or the edges of a rule: temporal,
   * entity, keyword, causal, semantic
   */
  without?: readonly ("diff" | "temporal" | "entity" | "keyword" | "causal" | "semantic")[] | undefined;
}

/** Parameters of rememberBatch. */
export interface RememberBatchOptions {
  /** memories: objects with text and any parameter of remember */
  lines: readonly Readonly<Record<string, unknown>>[];
  /** KEY or id of the subject, or the name of an entity; where there is none a node of the key is made */
  about?: string | undefined;
  /** write what RULE of 'mnem config secrets' takes for a credential */
  allow_secret?: readonly (string)[] | undefined;
  /** the branch to write to */
  branch?: string | undefined;
  /** WORDS under which somebody may look for it, and which it does not have (repeatable, at most 12) */
  cue?: readonly (string)[] | undefined;
  /** print what would change and write nothing */
  dry_run?: boolean | undefined;
  /** use the embedding model of the configuration too */
  embed?: boolean | undefined;
  /** NAME that it is about (repeatable, at most 50) */
  entity?: readonly (string)[] | undefined;
  /** the CID of the commit that the branch must be at, or "none" for a branch without one; else exit code 5 */
  expect?: string | undefined;
  /** TIME from which it may be marked expired */
  expires?: string | undefined;
  /** print what each edge is for */
  explain?: boolean | undefined;
  /** N from 1 to 5 (default 3) */
  importance?: number | undefined;
  /** what the commit is about; default: what was done */
  message?: string | undefined;
  /** NAME of the subject's property that it says, which has one value: an old one is superseded */
  property?: string | undefined;
  /** where it comes from: file:PATH, url:URL, conversation:ID, manual:WHO or any other TEXT */
  source?: readonly (string)[] | undefined;
  /** refuse credentials in more than 1000 changes too, where they are only reported */
  strict?: boolean | undefined;
  /** NODE that it takes the place of */
  supersedes?: readonly (string)[] | undefined;
  /** TAG (repeatable, at most 20) */
  tag?: readonly (string)[] | undefined;
  /** time of the change, RFC 3339 */
  time?: string | undefined;
  /** TYPE: fact, decision, preference, insight, context, event, task or any other (default fact) */
  type?: string | undefined;
  /** TIME from which it holds */
  valid_from?: string | undefined;
  /** TIME until which it holds */
  valid_to?: string | undefined;
  /**
   * leave out these PARTS: diff, which looks for memories that resemble it, or the edges of a rule: temporal,
   * entity, keyword, causal, semantic
   */
  without?: readonly ("diff" | "temporal" | "entity" | "keyword" | "causal" | "semantic")[] | undefined;
}

/** Parameters of remoteRedactions. */
export interface RemoteRedactionsOptions {
  /** erase the blocks here for good */
  accept?: boolean | undefined;
  /** leave the blocks here */
  reject?: boolean | undefined;
  /** time of the change, RFC 3339 */
  time?: string | undefined;
}

/** Parameters of reset. */
export interface ResetOptions {
  /** the CID of the commit that HEAD must be at, or "none" before the first; else exit code 5 */
  expect?: string | undefined;
  /** the stage to use */
  stage?: string | undefined;
  /** time of the change, RFC 3339 */
  time?: string | undefined;
}

/** Parameters of restore. */
export interface RestoreOptions {
  /** write what RULE of 'mnem config secrets' takes for a credential */
  allow_secret?: readonly (string)[] | undefined;
  /** the branch to write to */
  branch?: string | undefined;
  /** print what would change and write nothing */
  dry_run?: boolean | undefined;
  /** the CID of the commit that the branch must be at; else exit code 5 */
  expect?: string | undefined;
  /** what the commit is about; default: what was done */
  message?: string | undefined;
  /** why, TEXT: it is kept with the mark */
  reason?: string | undefined;
  /** time of the change, RFC 3339 */
  time?: string | undefined;
}

/** Parameters of retrieve. */
export interface RetrieveOptions {
  /** print N edges of each item in each direction */
  adjacency?: number | undefined;
  /** search for this TEXT too: the query in other words (repeatable, at most 8) */
  also?: readonly (string)[] | undefined;
  /**
   * print digests of scopes in place of items that do not fit: HOW is entity (never), scope, root (that of the
   * whole first) or auto (as scope where the query asks broadly)
   */
  altitude?: "entity" | "scope" | "root" | "auto" | undefined;
  /** the REVision to read; see 'mnem help revisions' */
  at?: string | undefined;
  /** at most N tokens; 0 for no budget */
  budget?: number | undefined;
  /** raise and add members of the communities that the best nodes are in */
  community?: boolean | undefined;
  /** leave out replaced memories */
  current?: boolean | undefined;
  /** with expansion=ppr: the SHARE that moves on, between 0 and 1 */
  damping?: number | undefined;
  /** with expansion=decay: the SHARE that each hop keeps, above 0 to 1 */
  decay?: number | undefined;
  /** leave out what repeats an item before it */
  dedup?: boolean | undefined;
  /** expand along edges out, in or both */
  direction?: "out" | "in" | "both" | undefined;
  /** lend so much over edges of a type: TYPE=W, W 0 to 16, 1 for others */
  edge_weight?: readonly (string)[] | undefined;
  /** use the embedding model of the configuration too */
  embed?: boolean | undefined;
  /** leave out this NODE, by key or id */
  exclude?: readonly (string)[] | undefined;
  /** expand in N rounds, 0 for none, at most 4; with ppr 20 rounds, at most 64 */
  expand?: number | undefined;
  /** expand along edges of this TYPE only */
  expand_type?: readonly (string)[] | undefined;
  /** how nodes raise those linked to them: WAY is lend, decay or ppr */
  expansion?: "lend" | "decay" | "ppr" | undefined;
  /** tell how each item was found, and what did not fit */
  explain?: boolean | undefined;
  /** print items down to this BAND: answer, maybe or rest */
  floor?: "answer" | "maybe" | "rest" | undefined;
  /** with a session: answer from HEAD, not from its commit */
  follow?: boolean | undefined;
  /** print items in this FORM: brief or yaml, which has full ids */
  format?: "yaml" | "brief" | undefined;
  /** how text and vectors become one list: WAY is convex, rrf, weighted-rrf or score-norm */
  fusion?: "convex" | "rrf" | "weighted-rrf" | "score-norm" | undefined;
  /** show nodes and edges in these hidden STATES too: forgotten, superseded, expired, retired */
  include?: readonly ("forgotten" | "superseded" | "expired" | "retired")[] | undefined;
  /** rank as 'mnem recall' does: INTENT is auto, why, when, entity or general */
  intent?: "auto" | "why" | "when" | "entity" | "general" | undefined;
  /** at most N items; 0 for no limit */
  limit?: number | undefined;
  /** at most N nodes join that only expansion finds */
  max_expand?: number | undefined;
  /** count dates like 'last week' in the query from the day of this TIME; default today */
  now?: string | undefined;
  /** print items by rank or by time (oldest first) */
  order?: "rank" | "time" | undefined;
  /**
   * print TEXTS whole, or the passages of summary and content that fit the query best; auto: whole while the
   * budget lasts, passages of chunks that do not fit
   */
  pack?: "auto" | "whole" | "passages" | undefined;
  /** with pack=passages or auto: at most N tokens of each text */
  passage_tokens?: number | undefined;
  /** take what no flag says from this NAME; see 'mnem config profile --help' */
  profile?: string | undefined;
  /** record the answer, without a session too */
  receipt?: boolean | undefined;
  /** judge the best items again by the model of the configuration */
  rerank?: boolean | undefined;
  /** judge N items; 1 to 200 */
  rerank_top?: number | undefined;
  /**
   * let the model of the configuration put the query into other words: multi, or true, or hyde for a made-up
   * answer
   */
  rewrite?: boolean | "multi" | "hyde" | undefined;
  /** with rewrite=multi: N texts, 1 to 8 */
  rewrites?: number | undefined;
  /** answer in this session and record it */
  session?: string | undefined;
  /** print these LINES too: times, key, content */
  show?: readonly ("times" | "key" | "content")[] | undefined;
  /** created at this TIME or later */
  since?: string | undefined;
  /** read words that no node has as the closest that some have: on or off */
  spelling?: "on" | "off" | undefined;
  /** cut each text at N characters; 0 for whole */
  summary_cap?: number | undefined;
  /** time of the change, RFC 3339 */
  time?: string | undefined;
  /** count tokens by NAME: estimate, or a counter of the program that has the repository open */
  tokenizer?: "estimate" | undefined;
  /** only nodes of this TYPE */
  type?: readonly (string)[] | undefined;
  /** leave out what the session was shown before */
  unseen?: boolean | undefined;
  /** created before this TIME */
  until?: string | undefined;
  /** updated (or else created) at this TIME or later */
  updated_from?: string | undefined;
  /** updated (or else created) before this TIME */
  updated_to?: string | undefined;
  /** valid at this TIME */
  valid_at?: string | undefined;
  /** count a lane so much: LANE=W, LANE text, text:N, time, dense:MODEL or sparse:MODEL, W 0 to 16 */
  weight?: readonly (string)[] | undefined;
  /** only where this PREDICATE holds */
  where?: readonly (string)[] | undefined;
  /** read dates in the query as days of this ZONE: a name like Europe/Berlin, or an offset like +02:00 */
  zone?: string | undefined;
}

/** Parameters of retrieveBatch. */
export interface RetrieveBatchOptions {
  /** requests: objects with text and any parameter of retrieve */
  lines: readonly Readonly<Record<string, unknown>>[];
  /** print N edges of each item in each direction */
  adjacency?: number | undefined;
  /** search for this TEXT too: the query in other words (repeatable, at most 8) */
  also?: readonly (string)[] | undefined;
  /**
   * print digests of scopes in place of items that do not fit: HOW is entity (never), scope, root (that of the
   * whole first) or auto (as scope where the query asks broadly)
   */
  altitude?: "entity" | "scope" | "root" | "auto" | undefined;
  /** the REVision to read; see 'mnem help revisions' */
  at?: string | undefined;
  /** at most N tokens; 0 for no budget */
  budget?: number | undefined;
  /** raise and add members of the communities that the best nodes are in */
  community?: boolean | undefined;
  /** leave out replaced memories */
  current?: boolean | undefined;
  /** with expansion=ppr: the SHARE that moves on, between 0 and 1 */
  damping?: number | undefined;
  /** with expansion=decay: the SHARE that each hop keeps, above 0 to 1 */
  decay?: number | undefined;
  /** leave out what repeats an item before it */
  dedup?: boolean | undefined;
  /** expand along edges out, in or both */
  direction?: "out" | "in" | "both" | undefined;
  /** lend so much over edges of a type: TYPE=W, W 0 to 16, 1 for others */
  edge_weight?: readonly (string)[] | undefined;
  /** use the embedding model of the configuration too */
  embed?: boolean | undefined;
  /** leave out this NODE, by key or id */
  exclude?: readonly (string)[] | undefined;
  /** expand in N rounds, 0 for none, at most 4; with ppr 20 rounds, at most 64 */
  expand?: number | undefined;
  /** expand along edges of this TYPE only */
  expand_type?: readonly (string)[] | undefined;
  /** how nodes raise those linked to them: WAY is lend, decay or ppr */
  expansion?: "lend" | "decay" | "ppr" | undefined;
  /** tell how each item was found, and what did not fit */
  explain?: boolean | undefined;
  /** print items down to this BAND: answer, maybe or rest */
  floor?: "answer" | "maybe" | "rest" | undefined;
  /** with a session: answer from HEAD, not from its commit */
  follow?: boolean | undefined;
  /** print items in this FORM: brief or yaml, which has full ids */
  format?: "yaml" | "brief" | undefined;
  /** how text and vectors become one list: WAY is convex, rrf, weighted-rrf or score-norm */
  fusion?: "convex" | "rrf" | "weighted-rrf" | "score-norm" | undefined;
  /** show nodes and edges in these hidden STATES too: forgotten, superseded, expired, retired */
  include?: readonly ("forgotten" | "superseded" | "expired" | "retired")[] | undefined;
  /** rank as 'mnem recall' does: INTENT is auto, why, when, entity or general */
  intent?: "auto" | "why" | "when" | "entity" | "general" | undefined;
  /** at most N items; 0 for no limit */
  limit?: number | undefined;
  /** at most N nodes join that only expansion finds */
  max_expand?: number | undefined;
  /** count dates like 'last week' in the query from the day of this TIME; default today */
  now?: string | undefined;
  /** print items by rank or by time (oldest first) */
  order?: "rank" | "time" | undefined;
  /**
   * print TEXTS whole, or the passages of summary and content that fit the query best; auto: whole while the
   * budget lasts, passages of chunks that do not fit
   */
  pack?: "auto" | "whole" | "passages" | undefined;
  /** with pack=passages or auto: at most N tokens of each text */
  passage_tokens?: number | undefined;
  /** take what no flag says from this NAME; see 'mnem config profile --help' */
  profile?: string | undefined;
  /** record the answer, without a session too */
  receipt?: boolean | undefined;
  /** judge the best items again by the model of the configuration */
  rerank?: boolean | undefined;
  /** judge N items; 1 to 200 */
  rerank_top?: number | undefined;
  /**
   * let the model of the configuration put the query into other words: multi, or true, or hyde for a made-up
   * answer
   */
  rewrite?: boolean | "multi" | "hyde" | undefined;
  /** with rewrite=multi: N texts, 1 to 8 */
  rewrites?: number | undefined;
  /** answer in this session and record it */
  session?: string | undefined;
  /** print these LINES too: times, key, content */
  show?: readonly ("times" | "key" | "content")[] | undefined;
  /** created at this TIME or later */
  since?: string | undefined;
  /** read words that no node has as the closest that some have: on or off */
  spelling?: "on" | "off" | undefined;
  /** cut each text at N characters; 0 for whole */
  summary_cap?: number | undefined;
  /** time of the change, RFC 3339 */
  time?: string | undefined;
  /** count tokens by NAME: estimate, or a counter of the program that has the repository open */
  tokenizer?: "estimate" | undefined;
  /** only nodes of this TYPE */
  type?: readonly (string)[] | undefined;
  /** leave out what the session was shown before */
  unseen?: boolean | undefined;
  /** created before this TIME */
  until?: string | undefined;
  /** updated (or else created) at this TIME or later */
  updated_from?: string | undefined;
  /** updated (or else created) before this TIME */
  updated_to?: string | undefined;
  /** valid at this TIME */
  valid_at?: string | undefined;
  /** count a lane so much: LANE=W, LANE text, text:N, time, dense:MODEL or sparse:MODEL, W 0 to 16 */
  weight?: readonly (string)[] | undefined;
  /** only where this PREDICATE holds */
  where?: readonly (string)[] | undefined;
  /** read dates in the query as days of this ZONE: a name like Europe/Berlin, or an offset like +02:00 */
  zone?: string | undefined;
}

/** Parameters of revert. */
export interface RevertOptions {
  /** write what RULE of 'mnem config secrets' takes for a credential */
  allow_secret?: readonly (string)[] | undefined;
  /** the branch to write to */
  branch?: string | undefined;
  /** what to do if both sides changed one thing: RULE is stop, newest, ours, theirs */
  conflicts?: "stop" | "newest" | "ours" | "theirs" | undefined;
  /** say what would happen and write nothing */
  dry_run?: boolean | undefined;
  /** the CID of the commit that the branch must be at; else exit code 5 */
  expect?: string | undefined;
  /** what the commit is about; default: what was done */
  message?: string | undefined;
  /** time of the change, RFC 3339 */
  time?: string | undefined;
}

/** Parameters of review. */
export interface ReviewOptions {
  /** write what RULE of 'mnem config secrets' takes for a credential */
  allow_secret?: readonly (string)[] | undefined;
  /** the branch to write to */
  branch?: string | undefined;
  /** forget these NODES */
  drop?: readonly (string)[] | undefined;
  /** print what would change and write nothing */
  dry_run?: boolean | undefined;
  /** keep these NODES: they were reviewed */
  keep?: readonly (string)[] | undefined;
  /** list at most N memories */
  limit?: number | undefined;
  /** keep and pin these NODES */
  pin?: readonly (string)[] | undefined;
  /** keep all else that was there at CID, the head of a listing */
  rest_of?: string | undefined;
  /** give a node another text: NODE=TEXT */
  set?: readonly (string)[] | undefined;
  /** time of the change, RFC 3339 */
  time?: string | undefined;
}

/** Parameters of rm. */
export interface RmOptions {
  /** with link: remove all edges of the type between the two nodes */
  all?: boolean | undefined;
  /** the branch that an empty stage builds on */
  branch?: string | undefined;
  /** the ID of an edge to remove */
  edge?: readonly (string)[] | undefined;
  /** the CID of the commit that HEAD must be at, or "none" before the first; else exit code 5 */
  expect?: string | undefined;
  /** the key of the edge that link removes */
  key?: string | undefined;
  /** remove the edge of TYPE from SRC to DST */
  link?: boolean | undefined;
  /** the stage to use */
  stage?: string | undefined;
  /** time of the change, RFC 3339 */
  time?: string | undefined;
}

/** Parameters of sessionAdvance. */
export interface SessionAdvanceOptions {
  /** time of the change, RFC 3339 */
  time?: string | undefined;
  /** the REVision to pin */
  to?: string | undefined;
}

/** Parameters of sessionEnd. */
export interface SessionEndOptions {
  /** time of the change, RFC 3339 */
  time?: string | undefined;
}

/** Parameters of sessionLog. */
export interface SessionLogOptions {
  /** at most N records; 0 for all */
  limit?: number | undefined;
}

/** Parameters of sessionRm. */
export interface SessionRmOptions {
  /** time of the change, RFC 3339 */
  time?: string | undefined;
}

/** Parameters of sessionStart. */
export interface SessionStartOptions {
  /** the REVision to read; see 'mnem help revisions' */
  at?: string | undefined;
  /** answer from HEAD at each retrieval */
  follow?: boolean | undefined;
  /** time of the change, RFC 3339 */
  time?: string | undefined;
}

/** Parameters of show. */
export interface ShowOptions {
  /** the REVision to read; see 'mnem help revisions' */
  at?: string | undefined;
  /**
   * the value of this field of a node alone; with raw, what is at this path of the block, as a/0/b, over links
   */
  field?: string | undefined;
  /** print the effective importance of a node too */
  importance?: boolean | undefined;
  /** show nodes and edges in these hidden STATES too: forgotten, superseded, expired, retired */
  include?: readonly ("forgotten" | "superseded" | "expired" | "retired")[] | undefined;
  /** TIME that the importance is of, RFC 3339 or YYYY-MM-DD (default: now) */
  now?: string | undefined;
  /** the stored block as DAG-JSON */
  raw?: boolean | undefined;
  /** print what signatures are worth, as 'mnem key verify' does */
  signatures?: boolean | undefined;
}

/** Parameters of stats. */
export interface StatsOptions {
  /** the REVision to read; see 'mnem help revisions' */
  at?: string | undefined;
  /** with --schema: at most N names in each list */
  limit?: number | undefined;
  /** list the types, properties and edge types that queries can refer to */
  schema?: boolean | undefined;
}

/** Parameters of status. */
export interface StatusOptions {
  /** the stage to use */
  stage?: string | undefined;
}

/** Parameters of switch. */
export interface SwitchOptions {
  /** make the branch */
  create?: boolean | undefined;
  /** be at a commit and on no branch */
  detach?: boolean | undefined;
  /** the CID of the commit that HEAD must be at, or "none" before the first; else exit code 5 */
  expect?: string | undefined;
  /** with -c: move the branch if there is one already */
  force?: boolean | undefined;
  /** time of the change, RFC 3339 */
  time?: string | undefined;
}

/** Parameters of tag. */
export interface TagOptions {
  /** write what RULE of 'mnem config secrets' takes for a credential */
  allow_secret?: readonly (string)[] | undefined;
  /** remove a tag */
  delete?: boolean | undefined;
  /** the CID of the commit that the name must be at, or "none" where it must not exist; else exit code 5 */
  expect?: string | undefined;
  /** move a tag that exists */
  force?: boolean | undefined;
  /** what the tag is about; it then also records who made it and when */
  message?: string | undefined;
  /** time of the change, RFC 3339 */
  time?: string | undefined;
}

/** Parameters of undo. */
export interface UndoOptions {
  /** the CID of the commit that HEAD must be at, or "none" before the first; else exit code 5 */
  expect?: string | undefined;
  /** only what this author and agent committed */
  own?: boolean | undefined;
  /** take back the caller's last undo instead; again, the one before */
  redo?: boolean | undefined;
  /** time of the change, RFC 3339 */
  time?: string | undefined;
}

/** Verbs that answer with a list. */
export const LISTS: ReadonlySet<string> = new Set([
  "branch",
  "config_profile",
  "key_verify",
  "log",
  "op_log",
  "recall_batch",
  "remember_batch",
  "retrieve_batch",
  "session_list",
  "session_log",
  "tag",
]);

/** A method for each verb. Trailing parameters may be omitted; options come after the arguments. */
export abstract class Verbs {
  protected abstract verb(name: string, positional: readonly string[], given: readonly unknown[]): Promise<unknown>;

  /**
   * Apply change lines to a stage, to be committed later. Several files are one batch, "-" is standard input,
   * and all is staged or nothing. A stage may hold edges whose ends do not exist yet. See 'mnem help changes'
   * for the form of change lines.
   */
  add(options: AddOptions): Promise<AddAnswer>;
  add(...given: unknown[]): Promise<unknown> {
    return this.verb("add", [], given);
  }

  /**
   * For each field and property of a node at --at, and for its mark, print the commit that last set it, with
   * author, agent and time. A merge counts as setting a value only if none of its parents has it. 'mnem log
   * NODE' lists every commit that touched the node.
   *
   * @param node a node by key, id, at least 4 digits of an id, or exact title
   */
  blame(node: string, options?: BlameOptions): Promise<BlameAnswer>;
  blame(...given: unknown[]): Promise<unknown> {
    return this.verb("blame", ["node"], given);
  }

  /**
   * Without a name, list the branches; * marks the one HEAD is on. With a name, create a branch at a revision,
   * by default at HEAD; HEAD does not move (see 'mnem switch'). -m renames a branch, by default the current one,
   * together with what is staged for it. -d removes a branch whose commits another branch or a tag also reaches.
   * --force moves an existing branch, and removes one whose commits nothing else reaches; 'mnem undo' brings it
   * back.
   *
   * @param name the branch; none to list them
   *
   * @param rev where a new branch begins; with move the new name
   */
  branch(options?: BranchOptions): Promise<OneOf<BranchAnswer, BranchRemoved>[]>;
  branch(name: string, options?: BranchOptions): Promise<OneOf<BranchAnswer, BranchRemoved>[]>;
  branch(name: string, rev: string, options?: BranchOptions): Promise<OneOf<BranchAnswer, BranchRemoved>[]>;
  branch(...given: unknown[]): Promise<unknown> {
    return this.verb("branch", ["name", "rev"], given);
  }

  /**
   * Apply what a commit changed against its first parent, or all commits after FROM up to TO, to the branch, as
   * one new commit with the message of the last one. If the branch made different changes, that is a conflict,
   * as in 'mnem merge', which also lists, resolves and continues.
   *
   * @param rev the commit, branch or range A..B
   */
  cherryPick(rev: string, options?: CherryPickOptions): Promise<CherryPickAnswer>;
  cherryPick(...given: unknown[]): Promise<unknown> {
    return this.verb("cherry_pick", ["rev"], given);
  }

  /**
   * Apply change lines to the newest commit of a branch and make a commit of the result. Several files are one
   * batch, "-" is standard input, and all is applied or nothing: an error names the file and line. Without
   * files, commit what is staged. If the stage began at an older commit, or with --from, the changes are merged
   * onto the newest commit; different changes of one thing are a conflict, exit code 5, and the changes are kept
   * under a ref to be merged. If nothing changes, no commit is made, and that is no error.
   */
  commit(options?: CommitOptions): Promise<CommitAnswer>;
  commit(...given: unknown[]): Promise<unknown> {
    return this.verb("commit", [], given);
  }

  /**
   * List after how many days a memory of each type counts half in its effective importance, which 'mnem show
   * NODE --importance' shows, and which decides what 'mnem consolidate' proposes. A type that is not listed has
   * what * has, which cannot be changed: give it one of its own.
   *
   * @param half_lives TYPE=DAYS or TYPE=default, to change those of these types
   */
  configHalfLife(options?: ConfigHalfLifeOptions): Promise<ConfigHalfLifeAnswer>;
  configHalfLife(half_lives: readonly (string)[], options?: ConfigHalfLifeOptions): Promise<ConfigHalfLifeAnswer>;
  configHalfLife(...given: unknown[]): Promise<unknown> {
    return this.verb("config_half_life", ["half_lives"], given);
  }

  /**
   * A profile is a name for how answers are ranked, expanded, packed and printed: parameters of 'mnem retrieve'
   * with their values. Without NAME list the profiles, * before the default; with NAME print what it sets. The
   * memory keeps its profiles with its facts, in every commit: they are branched, merged, reverted and exported
   * with it.
   *
   * @param name the name of a profile, none for all
   */
  configProfile(options?: ConfigProfileOptions): Promise<OneOf<ConfigProfileAnswer, ProfilesChange>[]>;
  configProfile(name: string, options?: ConfigProfileOptions): Promise<OneOf<ConfigProfileAnswer, ProfilesChange>[]>;
  configProfile(...given: unknown[]): Promise<unknown> {
    return this.verb("config_profile", ["name"], given);
  }

  /**
   * Look for possible clean-ups and list each with its evidence. Nothing is written without --accept, which
   * applies all except updates, or those with the given ids, in one commit that 'mnem undo' takes back.
   *
   * @param picks ids of proposals
   */
  consolidate(options?: ConsolidateOptions): Promise<OneOf<ConsolidateAnswer, ConsolidateDone>>;
  consolidate(picks: readonly (string)[], options?: ConsolidateOptions): Promise<OneOf<ConsolidateAnswer, ConsolidateDone>>;
  consolidate(...given: unknown[]): Promise<unknown> {
    return this.verb("consolidate", ["picks"], given);
  }

  /**
   * Show the nodes and edges that were added (+), changed (~) or removed (-), with their fields and properties.
   *
   * @param a a branch, tag, CID or any other revision, or a range A..B
   *
   * @param b a branch, tag, CID or any other revision
   */
  diff(options?: DiffOptions): Promise<OneOf<DiffAnswer, DiffStat>>;
  diff(a: string, options?: DiffOptions): Promise<OneOf<DiffAnswer, DiffStat>>;
  diff(a: string, b: string, options?: DiffOptions): Promise<OneOf<DiffAnswer, DiffStat>>;
  diff(...given: unknown[]): Promise<unknown> {
    return this.verb("diff", ["a", "b"], given);
  }

  /**
   * Give the nodes of a branch's newest commit embeddings by a model, and commit these. A node's text is its
   * context, summary, content, cues and properties that are strings. Nodes that have an embedding of the model
   * are left alone, unless --stale adds those whose text has changed since, or --all takes all.
   */
  embed(options?: EmbedOptions): Promise<EmbedAnswer>;
  embed(...given: unknown[]): Promise<unknown> {
    return this.verb("embed", [], given);
  }

  /**
   * List the memories that have cues: phrases that somebody may look for and that the memory does not contain.
   * With --missing list those that have none. Change lines write them, many in one commit: {"node": {"id": ID,
   * "cues": ["…", …]}}, 12 at most for each.
   */
  embedCues(options?: EmbedCuesOptions): Promise<OneOf<EmbedCuesAnswer, CuesWritten>>;
  embedCues(...given: unknown[]): Promise<unknown> {
    return this.verb("embed_cues", [], given);
  }

  /**
   * List what surrounds a node, best first, each neighbour with its reason: an edge, a mention of a title,
   * shared entities and tags, or shared words. With --depth, --in, --out or --edge only edges count. For words
   * that name no node, the search starts at the nodes that match them.
   *
   * @param topic a node by key, id, at least 8 digits of an id, or exact title; or words to look for
   */
  explore(options?: ExploreOptions): Promise<ExploreAnswer>;
  explore(topic: string, options?: ExploreOptions): Promise<ExploreAnswer>;
  explore(...given: unknown[]): Promise<unknown> {
    return this.verb("explore", ["topic"], given);
  }

  /**
   * Mark nodes as forgotten, in one commit. No retrieval on the branch finds or shows a forgotten node. Commands
   * that read show it with --include forgotten, and older commits are unchanged. 'mnem restore NODE' and 'mnem
   * undo' bring it back. 'mnem purge' erases the text itself from every commit, for good.
   *
   * @param nodes nodes, each by key, id, at least 4 digits of an id, or exact title
   */
  forget(options?: ForgetOptions): Promise<ForgetAnswer>;
  forget(nodes: readonly (string)[], options?: ForgetOptions): Promise<ForgetAnswer>;
  forget(...given: unknown[]): Promise<unknown> {
    return this.verb("forget", ["nodes"], given);
  }

  /**
   * Check the hash and form of every block, the chain of operations, all refs, commits, sessions and trees, and
   * that adjacency and index match the graph; name each bad block. Nothing is changed. Damage gives exit code 4.
   */
  fsck(options?: FsckOptions): Promise<FsckAnswer>;
  fsck(...given: unknown[]): Promise<unknown> {
    return this.verb("fsck", [], given);
  }

  /**
   * Remove what no ref reaches, neither now nor in a kept operation: the newest --keep ones, those of the last
   * --grace, and the one before these, so that everything that existed within --grace can be brought back. Older
   * operations leave the operation log and can be neither undone nor restored. Commits, tags, sessions, stages
   * and merges in progress that a ref reaches stay, with all they need. If anything is damaged nothing is
   * removed.
   */
  gc(options?: GcOptions): Promise<GcAnswer>;
  gc(...given: unknown[]): Promise<unknown> {
    return this.verb("gc", [], given);
  }

  /**
   * Check the signature of every commit that a revision reaches, of those that A..B has beyond A, or with --all
   * of every branch and tag, newest first. A commit is one of:
   *
   * @param rev a branch, tag, CID or any other revision, or a range A..B
   */
  keyVerify(options?: KeyVerifyOptions): Promise<KeyVerifyAnswer[]>;
  keyVerify(rev: string, options?: KeyVerifyOptions): Promise<KeyVerifyAnswer[]>;
  keyVerify(...given: unknown[]): Promise<unknown> {
    return this.verb("key_verify", ["rev"], given);
  }

  /**
   * List the commits that a revision reaches, newest first, with the numbers of nodes and edges that each added
   * (+), changed (~) and removed (-). A range A..B leaves out what A reaches. With a NODE, list those that
   * touched it: the node, its mark, an edge of it or the mark of one. A merge touches what differs from all its
   * parents. A name that is both a revision and a node is the revision; 'mnem log -- NODE' and key:NAME always
   * mean the node.
   *
   * @param node a node by key, id, at least 4 digits of an id, or exact title
   */
  log(options?: LogOptions): Promise<LogAnswer[]>;
  log(node: string, options?: LogOptions): Promise<LogAnswer[]>;
  log(...given: unknown[]): Promise<unknown> {
    return this.verb("log", ["node"], given);
  }

  /**
   * List the memories, or with --edges the edges, that pass the filters. Files, their parts, conversations and
   * mere names are listed with --all, or with --type if it names them.
   */
  ls(options?: LsOptions): Promise<OneOf<LsAnswer, LsEdges>>;
  ls(...given: unknown[]): Promise<unknown> {
    return this.verb("ls", [], given);
  }

  /**
   * Print a table of contents of a memory. A small memory is its facts, the newest first; conversations are
   * listed with what was decided in them, ingested projects with their folders and what these are for, other
   * scopes and clusters with the number of memories in them and what they are about.
   *
   * @param scope root, a scope, a cluster or a memory, as the map names it: it is printed with its digest
   * (default: the whole memory without)
   */
  map(options?: MapOptions): Promise<MapAnswer>;
  map(scope: string, options?: MapOptions): Promise<MapAnswer>;
  map(...given: unknown[]): Promise<unknown> {
    return this.verb("map", ["scope"], given);
  }

  /**
   * Mark nodes, in one commit. A marked node keeps its text, properties and edges; --remove takes the marks of
   * nodes off again, of two that contradict each other both.
   */
  mark(options?: MarkOptions): Promise<MarkAnswer>;
  mark(...given: unknown[]): Promise<unknown> {
    return this.verb("mark", [], given);
  }

  /**
   * Merge a branch or any commit into the current branch, by field, property, edge and mark. A change made on
   * one side since the common ancestor is taken, and so is the same change made on both sides. If the branch has
   * no commits of its own, it moves forward. Different changes of one thing are a conflict, exit code 5: the
   * merge waits, and the branch stays where it is, until every conflict is resolved and the merge is continued.
   * --conflicts newest, ours or theirs decides all of them at once.
   *
   * @param rev a branch, tag, CID or any other revision
   */
  merge(options?: MergeOptions): Promise<OneOf<MergeAnswer, MergeState>>;
  merge(rev: string, options?: MergeOptions): Promise<OneOf<MergeAnswer, MergeState>>;
  merge(...given: unknown[]): Promise<unknown> {
    return this.verb("merge", ["rev"], given);
  }

  /**
   * List operations, newest first: number, time, actor, command, and the refs that each moved. With --json, one
   * object a line.
   */
  opLog(options?: OpLogOptions): Promise<OpLogAnswer[]>;
  opLog(...given: unknown[]): Promise<unknown> {
    return this.verb("op_log", [], given);
  }

  /**
   * Give HEAD, branches, tags, stages and merges in progress the values they had after an operation. This is an
   * operation itself: 'mnem undo' takes it back. Sessions and remote-tracking refs stay as they are.
   *
   * @param op an operation by number or CID
   */
  opRestore(op: string, options?: OpRestoreOptions): Promise<OpRestoreAnswer>;
  opRestore(...given: unknown[]): Promise<unknown> {
    return this.verb("op_restore", ["op"], given);
  }

  /**
   * Print one operation, by default the newest, with its CID and the refs that it moved. To see what it did to
   * the memory, give 'mnem diff' the two commits of a branch. With --since, all refs that moved after an earlier
   * operation.
   *
   * @param op by number or CID
   */
  opShow(options?: OpShowOptions): Promise<OpShowAnswer>;
  opShow(op: string, options?: OpShowOptions): Promise<OpShowAnswer>;
  opShow(...given: unknown[]): Promise<unknown> {
    return this.verb("op_show", ["op"], given);
  }

  /**
   * Erase blocks as another repository did: their bytes are gone from the files here, and gaps stay gaps.
   * Nothing is erased but nodes, edges, marks, embeddings and texts that branches, tags and sessions reach, and
   * that are what the record says. This cannot be undone. Without --yes it says what it would erase and is
   * refused.
   */
  packRedact(options?: PackRedactOptions): Promise<PackRedactAnswer>;
  packRedact(...given: unknown[]): Promise<unknown> {
    return this.verb("pack_redact", [], given);
  }

  /**
   * List the blocks that were erased here, each with its redaction record: at most 1000 at once, in the order of
   * their CIDs. 'mnem pack redact' applies them to another repository.
   */
  packRedactions(options?: PackRedactionsOptions): Promise<PackRedactionsAnswer>;
  packRedactions(...given: unknown[]): Promise<unknown> {
    return this.verb("pack_redactions", [], given);
  }

  /**
   * List what another repository can have of this one: branches, tags, with --sessions sessions, the branch that
   * HEAD is on, and which of some commits are here. It is the first question of a fetch or a push.
   */
  packRefs(options?: PackRefsOptions): Promise<PackRefsAnswer>;
  packRefs(...given: unknown[]): Promise<unknown> {
    return this.verb("pack_refs", [], given);
  }

  /**
   * Pin nodes, in one commit: hooks give them to agents at the start of every session. A pinned node has the
   * property pinned = true; --where 'pinned = true' finds it. --remove removes the property and changes nothing
   * else.
   *
   * @param nodes nodes, each by key, id, at least 4 digits of an id, or exact title
   */
  pin(nodes: readonly (string)[], options?: PinOptions): Promise<PinAnswer>;
  pin(...given: unknown[]): Promise<unknown> {
    return this.verb("pin", ["nodes"], given);
  }

  /**
   * Erase every version of a node in all commits, with its embeddings and content, and leave a redaction in
   * place of each, with reason, time and author. The node is first removed from every branch and stage that has
   * it; this is one operation, and it cannot be undone. Commits keep their CIDs, and older ones show the
   * redaction. Commits and imports cannot bring back what was erased. Afterwards the store is compacted, so that
   * no file of the repository holds the text. If the disk has no room for that, the answer says that the erasure
   * is pending: opening the repository for writing, 'mnem gc' and the next purge continue it when there is room.
   *
   * @param node a node by key, id, at least 4 digits of an id, or exact title
   */
  purge(node: string, options?: PurgeOptions): Promise<PurgeAnswer>;
  purge(...given: unknown[]): Promise<unknown> {
    return this.verb("purge", ["node"], given);
  }

  /**
   * Find what answers a question as 'mnem retrieve' does, and rank it by the kind of answer that the question
   * asks for. Its words tell the intent: why for a reason, when for a time, entity for who, what, which or
   * where, and general for anything else, in English, Chinese, German, French, Spanish and seven more languages;
   * --intent overrides them.
   *
   * @param query the question or words to look for
   */
  recall(options?: RecallOptions): Promise<RecallAnswer>;
  recall(query: string, options?: RecallOptions): Promise<RecallAnswer>;
  recall(...given: unknown[]): Promise<unknown> {
    return this.verb("recall", ["query"], given);
  }

  /**
   * Find what answers a question as 'mnem retrieve' does, and rank it by the kind of answer that the question
   * asks for. Its words tell the intent: why for a reason, when for a time, entity for who, what, which or
   * where, and general for anything else, in English, Chinese, German, French, Spanish and seven more languages;
   * --intent overrides them.
   */
  recallBatch(options: RecallBatchOptions): Promise<RecallBatchAnswer[]>;
  recallBatch(...given: unknown[]): Promise<unknown> {
    return this.verb("recall_batch", [], given);
  }

  /**
   * Store a text as a memory: one fact, in words that can be understood alone. "-" reads it from standard input,
   * --file from a file, each of several a memory. Everything is written in one commit.
   *
   * @param text the memory
   */
  remember(text: string, options?: RememberOptions): Promise<RememberAnswer>;
  remember(...given: unknown[]): Promise<unknown> {
    return this.verb("remember", ["text"], given);
  }

  /**
   * Store a text as a memory: one fact, in words that can be understood alone. "-" reads it from standard input,
   * --file from a file, each of several a memory. Everything is written in one commit.
   */
  rememberBatch(options: RememberBatchOptions): Promise<RememberBatchAnswer[]>;
  rememberBatch(...given: unknown[]): Promise<unknown> {
    return this.verb("remember_batch", [], given);
  }

  /**
   * List what another repository, by default origin, says was purged there and is not purged here, as of the
   * last fetch. It is in quarantine: nothing is erased here, and a block that comes from elsewhere is kept.
   * --accept erases the blocks here for good, in all that the refs under refs/remotes/NAME reach, and keeps them
   * away from then on; there is no way back. What no such ref reaches waits on. --reject leaves them. Both are
   * about all that wait, or about the blocks that are named, and what was decided is not asked again.
   *
   * @param name of this remote (default: of all)
   *
   * @param cid about these blocks alone
   */
  remoteRedactions(options?: RemoteRedactionsOptions): Promise<OneOf<RemoteRedactionsAnswer, RedactionsClosed>>;
  remoteRedactions(name: string, options?: RemoteRedactionsOptions): Promise<OneOf<RemoteRedactionsAnswer, RedactionsClosed>>;
  remoteRedactions(name: string, cid: readonly (string)[], options?: RemoteRedactionsOptions): Promise<OneOf<RemoteRedactionsAnswer, RedactionsClosed>>;
  remoteRedactions(...given: unknown[]): Promise<unknown> {
    return this.verb("remote_redactions", ["name", "cid"], given);
  }

  /** Discard what a stage holds and print how much that was. Commits are not affected. */
  reset(options?: ResetOptions): Promise<ResetAnswer>;
  reset(...given: unknown[]): Promise<unknown> {
    return this.verb("reset", [], given);
  }

  /**
   * Without REV, remove the marks of nodes in one commit: forgotten, retired, superseded, expired or stale nodes
   * are visible again. For two nodes that contradict each other both marks are removed.
   *
   * @param nodes nodes, each by key, id, at least 4 digits of an id, or exact title
   *
   * @param rev the revision to bring nodes back from; without it marks are taken off, unless the first of
   * several nodes is a revision: key:NAME is always a node
   */
  restore(nodes: readonly (string)[], options?: RestoreOptions): Promise<OneOf<RestoreAnswer, RestoreMarks>>;
  restore(nodes: readonly (string)[], rev: string, options?: RestoreOptions): Promise<OneOf<RestoreAnswer, RestoreMarks>>;
  restore(...given: unknown[]): Promise<unknown> {
    return this.verb("restore", ["nodes", "rev"], given);
  }

  /**
   * Find the nodes that match a query, its filters, or both, and print them as text for a language model, best
   * first, until --limit items are printed or --budget tokens are used. Without a query the newest nodes that
   * pass the filters. A query - is read from standard input.
   *
   * @param query the question or words to look for
   */
  retrieve(options?: RetrieveOptions): Promise<RetrieveAnswer>;
  retrieve(query: string, options?: RetrieveOptions): Promise<RetrieveAnswer>;
  retrieve(...given: unknown[]): Promise<unknown> {
    return this.verb("retrieve", ["query"], given);
  }

  /**
   * Find the nodes that match a query, its filters, or both, and print them as text for a language model, best
   * first, until --limit items are printed or --budget tokens are used. Without a query the newest nodes that
   * pass the filters. A query - is read from standard input.
   */
  retrieveBatch(options: RetrieveBatchOptions): Promise<RetrieveBatchAnswer[]>;
  retrieveBatch(...given: unknown[]): Promise<unknown> {
    return this.verb("retrieve_batch", [], given);
  }

  /**
   * Revert what a commit changed against its first parent, or all commits after FROM up to TO, by one new
   * commit. Later changes of other things stay. A thing that was changed again since is a conflict, as in 'mnem
   * merge', which also lists, resolves and continues. Reverting the newest commit restores the previous graph
   * exactly, times included.
   *
   * @param rev the commit, branch or range A..B
   */
  revert(rev: string, options?: RevertOptions): Promise<RevertAnswer>;
  revert(...given: unknown[]): Promise<unknown> {
    return this.verb("revert", ["rev"], given);
  }

  /**
   * Go through what came into the memory since the last review, what was remembered first, then what was said,
   * each in the order of time. On a terminal one memory is shown at a time, and one key decides: k keeps it, d
   * forgets it, p pins it, e asks for another text, s skips it, u goes back by one, and q ends. What was decided
   * is done at the end in one commit, which 'mnem undo' takes back; Ctrl-C ends without any of it. What was
   * skipped, and what comes after q, is shown the next time.
   */
  review(options?: ReviewOptions): Promise<ReviewAnswer>;
  review(...given: unknown[]): Promise<unknown> {
    return this.verb("review", [], given);
  }

  /**
   * Stage the removal of nodes, each with its edges, marks and embeddings, and of edges given by their ids.
   * --link removes the edge of a TYPE from SRC to DST: the one without a key, the one that --key names, or with
   * --all every one. A NODE is named by its key, its id or a unique prefix of its id. Older commits keep what is
   * removed.
   *
   * @param nodes nodes, each by key, id or at least 4 digits of an id; with link SRC TYPE DST
   */
  rm(options?: RmOptions): Promise<RmAnswer>;
  rm(nodes: readonly (string)[], options?: RmOptions): Promise<RmAnswer>;
  rm(...given: unknown[]): Promise<unknown> {
    return this.verb("rm", ["nodes"], given);
  }

  /**
   * Pin a session to the commit at --to for the retrievals to come.
   *
   * @param name the name of the session
   */
  sessionAdvance(name: string, options?: SessionAdvanceOptions): Promise<SessionAdvanceAnswer>;
  sessionAdvance(...given: unknown[]): Promise<unknown> {
    return this.verb("session_advance", ["name"], given);
  }

  /**
   * End a session. It can still be read and replayed; nothing is recorded in it any more.
   *
   * @param name the name of the session
   */
  sessionEnd(name: string, options?: SessionEndOptions): Promise<SessionEndAnswer>;
  sessionEnd(...given: unknown[]): Promise<unknown> {
    return this.verb("session_end", ["name"], given);
  }

  /**
   * List all sessions in order of name. A session that went on at two machines has two chains after a sync: that
   * of the other one is NAME.CID, with the first record that differs. With --json, one object a line.
   */
  sessionList(): Promise<SessionListAnswer[]>;
  sessionList(...given: unknown[]): Promise<unknown> {
    return this.verb("session_list", [], given);
  }

  /**
   * List the records of a session, newest first: where it was pinned, and every receipt with its query, commit,
   * numbers of items and tokens, and the names of the first items, but for those that were hidden since. With
   * --json, one object a line.
   *
   * @param name the name of the session
   */
  sessionLog(name: string, options?: SessionLogOptions): Promise<SessionLogAnswer[]>;
  sessionLog(...given: unknown[]): Promise<unknown> {
    return this.verb("session_log", ["name"], given);
  }

  /**
   * Answer every request that a session recorded, each at its own commit, or the one request of a receipt, and
   * compare the answers with the recorded ones, bit for bit. The exit code is 0 if all are identical. It is 4 if
   * an answer differs, if stored data is damaged, if a receipt needs a ranking version that this program lacks,
   * or if something the answer depends on was purged since: then the comparison is impossible.
   *
   * @param record the name of a session or the CID of a receipt
   */
  sessionReplay(record: string): Promise<SessionReplayAnswer>;
  sessionReplay(...given: unknown[]): Promise<unknown> {
    return this.verb("session_replay", ["record"], given);
  }

  /**
   * Remove a session and its receipts from sight. Their records stay in older operations.
   *
   * @param name the name of the session
   */
  sessionRm(name: string, options?: SessionRmOptions): Promise<SessionRmAnswer>;
  sessionRm(...given: unknown[]): Promise<unknown> {
    return this.verb("session_rm", ["name"], given);
  }

  /**
   * Start a session that answers from the commit at --at, or with --follow from what HEAD is at each retrieval.
   * --agent and --task say who works on what.
   *
   * @param name the name of the session
   */
  sessionStart(name: string, options?: SessionStartOptions): Promise<SessionStartAnswer>;
  sessionStart(...given: unknown[]): Promise<unknown> {
    return this.verb("session_start", ["name"], given);
  }

  /**
   * Print a memory with its links, a commit with what it changed, or anything else that is stored. THING is one
   * of these; without one it is the commit at --at. What a name means first counts:
   *
   * @param name a node by key, id, at least 4 digits of an id, or exact title; an edge by id; a revision; a CID
   */
  show(options?: ShowOptions): Promise<OneOf<ShowAnswer, ShowCommit, ShowEdge, ShowOperation, ShowBlock>>;
  show(name: string, options?: ShowOptions): Promise<OneOf<ShowAnswer, ShowCommit, ShowEdge, ShowOperation, ShowBlock>>;
  show(...given: unknown[]): Promise<unknown> {
    return this.verb("show", ["name"], given);
  }

  /**
   * Count the nodes and edges of a commit by type, its marks by state, the commits behind it by agent (or
   * author), its embeddings, the size of its index, and the operations, blocks and bytes of the whole
   * repository. It looks at every block.
   */
  stats(options?: StatsOptions): Promise<OneOf<StatsAnswer, StatsSchema>>;
  stats(...given: unknown[]): Promise<unknown> {
    return this.verb("stats", [], given);
  }

  /**
   * Show the branch, its newest commit and what a stage changes: A added, M changed, D removed. It says when the
   * branch has moved since the stage began; committing merges then. A merge that waits for conflicts to be
   * resolved, and commits kept because they did not merge, are shown with what to do about them; and of remotes
   * that are synced automatically, when that last worked.
   */
  status(options?: StatusOptions): Promise<StatusAnswer>;
  status(...given: unknown[]): Promise<unknown> {
    return this.verb("status", [], given);
  }

  /**
   * Switch HEAD to another branch: commands read from it and commits go to it, unless they name another one. -c
   * creates the branch first, at a revision or at HEAD. --detach puts HEAD at a commit and on no branch:
   * everything can be read there, and a write that names no branch is refused. What is staged stays staged for
   * its branch.
   *
   * @param name the branch, or with detach a revision
   *
   * @param rev with create: where the branch begins
   */
  switch(options?: SwitchOptions): Promise<SwitchAnswer>;
  switch(name: string, options?: SwitchOptions): Promise<SwitchAnswer>;
  switch(name: string, rev: string, options?: SwitchOptions): Promise<SwitchAnswer>;
  switch(...given: unknown[]): Promise<unknown> {
    return this.verb("switch", ["name", "rev"], given);
  }

  /**
   * Without a name, list the tags. With a name, tag a commit, by default that of HEAD; with -m the tag also
   * records who made it, when and why. A tag does not move unless --force is given. -d removes a tag.
   *
   * @param name the tag; none to list them
   *
   * @param rev a branch, tag, CID or any other revision
   */
  tag(options?: TagOptions): Promise<OneOf<TagAnswer, TagRemoved>[]>;
  tag(name: string, options?: TagOptions): Promise<OneOf<TagAnswer, TagRemoved>[]>;
  tag(name: string, rev: string, options?: TagOptions): Promise<OneOf<TagAnswer, TagRemoved>[]>;
  tag(...given: unknown[]): Promise<unknown> {
    return this.verb("tag", ["name", "rev"], given);
  }

  /**
   * Take back what one operation did to branches, tags, HEAD and stages: by default the caller's newest that is
   * not taken back yet, so that repeated calls go further back. Captures, fetches and what sessions record are
   * passed over, and the answer names them; an operation that is named may be a capture or anyone's. Taking back
   * an undo, by name or by --redo, is a redo. Nothing is lost: undo is an operation itself, and commits stay
   * reachable through the log. --own also passes over operations of other agents, and those that made no commit.
   *
   * @param op an operation by number or CID; none for the newest
   */
  undo(options?: UndoOptions): Promise<UndoAnswer>;
  undo(op: string, options?: UndoOptions): Promise<UndoAnswer>;
  undo(...given: unknown[]): Promise<unknown> {
    return this.verb("undo", ["op"], given);
  }

  /**
   * Print the version of the program and of Go, and those of the record format, the ranking and the text
   * analysis: equal numbers give equal bytes.
   */
  version(): Promise<VersionAnswer>;
  version(...given: unknown[]): Promise<unknown> {
    return this.verb("version", [], given);
  }
}
