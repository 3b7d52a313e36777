// Package memory defines memories, their marks, weights and parameters; the packages below it remember, recall, check
// and review them. Every verb makes one commit or none, so that undo reverts it. No verb removes or replaces a stored
// statement: outdated memories are marked and stay readable.
//
// # Memories
//
// A memory is a node, and everything about it is written as nodes, edges and marks that any other tool can read:
//
//	type        fact, decision, preference, insight, context, event, task, or any other
//	summary     the text, 1 to 8,000 scalars
//	importance  property: int, 1 to 5; 3 if it is missing
//	tags        property: list of at most 20 strings, in bytewise order
//	entities    property: list of at most 50 strings, subjects of the text as the caller names them
//	expires     property: RFC 3339 in UTC with seconds; from then on the memory may be marked expired
//	validFrom, validTo, sources, created, updated  as in every node
//
// Its id is the hash of its text and type, and of a counter if another node has that id already.
//
// # Edges
//
//	about       memory to its subject
//	PROPERTY    subject to the memory that states a single-valued property of it
//	observed    memory to itself, keyed by the hash of wording and source: it was stated again; its
//	            properties are the text, if the wording differs, and the sources
//	tagged      memory to a Tag node, key tag/NAME
//	mentions    memory to an Entity node, key entity/NAME
//	follows     memory to the one before it of the same source
//	near        memory to others of the day before it, the lighter the longer ago
//	causes, enables, prevents   cause to effect
//	similar     memory to those whose vectors are close
//
// # Parameters
//
// Thresholds of the verbs are fields of the commit's record of profiles, one for each verb by its name: a map of name
// to value. They are versioned with the memory; without them the built-in ones hold.
//
// # Marks
//
// The state of a memory is a mark on it, one at most, which can be removed: stale and contradicted memories are shown,
// expired, retired, superseded and forgotten ones hidden. Of two that contradict each other each is marked by the
// other. A declined proposal to tidy up is a node of the type proposal, key proposal/ID, marked retired.
//
// Decisions, scores and orders are integers and functions of the commit and the request alone, as everywhere: no clock,
// no map order, no floats. Times are passed in.
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
	// DefaultImportance is the importance of a memory without one.
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
	EdgeAlias    = care.AliasEdge // from the entity of a first name to the entity of a full name
)
