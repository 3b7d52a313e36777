// Names for the answers that the page shows, all of them derived from the OpenAPI document.

import { Answers, Arguments, Json } from './operations.gen';

export type { Arguments, Json };

/** Verb is an operation that the page asks. */
export type Verb = keyof Answers;

/** With is the forms of an answer that have a member. */
type With<A, Name extends string> = Extract<A, Record<Name, unknown>>;

/** Forms are the forms of answers that the page asks for, if an operation has several. */
interface Forms {
  branch: With<Answers['branch'][number], 'current'>[];
  ls: With<Answers['ls'], 'nodes'>;
  diff: With<Answers['diff'], 'nodes'>;
  merge: With<Answers['merge'], 'kept'>;
  remote_redactions: With<Answers['remote_redactions'], 'redactions'>;
  consolidate: With<Answers['consolidate'], 'proposals'>;
  stats: With<Answers['stats'], 'store'>;
}

/** Answer is the answer of an operation. */
export type Answer<V extends Verb> = V extends keyof Forms ? Forms[V] : Answers[V];

export type Node = With<Answers['show'], 'summary'>;
export type Shown = With<Answers['show'], 'diff'>;
export type Block = With<Answers['show'], 'data'>;
export type Found = Answer<'recall'>;
export type Item = Found['items'][number];
export type Step = NonNullable<Item['path']>[number];

/** hidden are the states that answers leave out unless they are asked for. */
export const hidden: NonNullable<Arguments['show']['include']> = ['forgotten', 'superseded', 'expired', 'retired'];

export type Explored = Answer<'explore'>;
export type Lead = NonNullable<Explored['nodes'][number]['reasons'][number]['edge']>;
export type Listing = Answer<'ls'>['nodes'][number];
export type Stats = Answer<'stats'>;
export type Commit = Answer<'log'>[number];
export type Counts = Commit['nodes'];
export type Diff = Answer<'diff'>;
export type Field = Diff['nodes'][number]['fields'][number];
export type Change = Diff['nodes'][number]['change'];
export type Branch = Answer<'branch'>[number];
export type SessionRecord = Answer<'session_log'>[number];
export type Session = Answer<'session_list'>[number];
export type Replay = Answer<'session_replay'>;
export type Op = Answer<'op_log'>[number];
export type Reviewed = Answer<'review'>;
export type ReviewItem = Reviewed['items'][number];
export type Proposal = Answer<'consolidate'>['proposals'][number];
export type Pending = Answer<'merge'>;
export type Conflict = Pending['conflicts'][number];
export type Quarantined = Answer<'remote_redactions'>['redactions'][number];
export type Mapped = Answer<'map'>;
export type MapEntry = Mapped['entries'][number];
export type Summary = NonNullable<Found['digests']>[number];
