package retrieve

import (
	"github.com/mnem-project/mnem/graph"
)

// LaneCommunity lists the members of the seeds' communities; the score is the amount that it adds.
const LaneCommunity Lane = "community"

// Membership says which community raised an item, or brought it in.
type Membership struct {
	Number int      `json:"number"` // of the community, from 0; of an explained answer from 1
	Size   int      `json:"size"`   // its members
	Seed   graph.ID `json:"seed"`   // the best candidate in it
}
