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

// blanks are cut around texts, tags and names.
const blanks = " \t\r\n\v\f\u00a0\u3000"

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
