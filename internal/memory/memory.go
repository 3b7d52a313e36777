// Package memory defines memories, their marks, weights and parameters; the packages below it remember,
// recall, check and review them. Every verb is one commit or none, so that undo takes it back, and none
// of them removes or replaces what somebody said: outdated memories are marked and stay readable.
//
// # Memories
//
// A memory is a node, and everything about it is written as nodes, edges and marks that any other
// tool can read:
//
//	type        fact, decision, preference, insight, context, event, task, or any other
//	summary     the text, 1 to 8,000 scalars
//	importance  property: int, 1 to 5; 3 if it is missing
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

import (
	"github.com/mnem-project/mnem/internal/care"
)

// Bounds of a memory.
const (
	MaxText       = 8000 // scalars
	MaxTags       = 20
	MaxEntities   = 50
	MinImportance = 1
	MaxImportance = 5
	// DefaultImportance is that of a memory that does not say.
	DefaultImportance = 3
)

// Blanks are cut around texts, tags and names.
const Blanks = " \t\r\n\v\f\u00a0\u3000"

// Types that the verbs know something about. Any other type is a memory too.
const (
	Fact       = "fact"
	Decision   = "decision"
	Preference = "preference"
	Insight    = "insight"
	Context    = "context"
	Event      = "event"
	Task       = "task"
)

// Properties of a memory.
const (
	PropImportance = "importance"
	PropTags       = "tags"
	PropEntities   = "entities"
	PropExpires    = "expires"
)

// Types of edges that the verbs write.
const (
	EdgeAbout    = "about"
	EdgeObserved = "observed"
	EdgeTagged   = "tagged"
	EdgeMentions = "mentions"
	EdgeFollows  = "follows"
	EdgeNear     = "near"
	EdgeCauses   = "causes"
	EdgeEnables  = "enables"
	EdgePrevents = "prevents"
	EdgeSimilar  = "similar"
	EdgeAlias    = care.AliasEdge // from the entity of a first name to that of a full name
)
