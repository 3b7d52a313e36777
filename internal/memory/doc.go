// Package memory is what agents do with a memory: remember, recall, check, explore, forget and
// consolidate. Every verb is one commit or none, so that undo takes it back, and none of them
// removes or replaces what somebody said: what is no longer so is marked and stays readable.
//
// # Memories
//
// A memory is a node, and everything about it is written as nodes, edges and marks that any other
// tool can read:
//
//	type        fact, decision, preference, insight, context, event, task, or any other
//	summary     the text, 1 to 8,000 scalars
//	importance  property: int, 1 to 5; 3 where it is missing
//	tags        property: list of at most 20 strings, in bytewise order
//	entities    property: list of at most 50 strings that the text is about, as the caller names them
//	expires     property: RFC 3339 in UTC with seconds; from then on the memory may be marked expired
//	validFrom, validTo, sources, created, updated  as in every node
//
// Its id is the hash of its text and type, and of a counter where another node has that id already.
//
// # Edges
//
//	about       memory to the subject that it is about
//	PROPERTY    subject to the memory that says what a single-valued property of it is
//	observed    memory to itself, keyed by the hash of wording and source: it was said again; its
//	            properties are the text, where the wording is another, and the sources
//	tagged      memory to a Tag node, key tag/NAME
//	mentions    memory to an Entity node, key entity/NAME
//	follows     memory to the one before it of the same source
//	near        memory to others of the day before it, the lighter the longer ago
//	causes, enables, prevents   cause to effect
//	similar     memory to those whose vectors are close
//
// # Parameters
//
// Thresholds of the verbs are fields of the commit's record of profiles, one for each verb by its
// name: a map of name to value. They are versioned with the memory, and built in where there are none.
//
// # Marks
//
// What became of a memory is a mark on it, one at most, and is taken off again: stale and
// contradicted are shown, expired, retired, superseded and forgotten hidden. Of two that contradict
// each other each is marked by the other. A proposal to tidy up that was declined is a node of the
// type proposal, key proposal/ID, marked retired.
//
// Decisions, scores and orders are integers and functions of the commit and the request alone, as
// everywhere: no clock, no map order, no floats. Times are passed in.
package memory
