package retrieve

import (
	"github.com/mnem-project/mnem/graph"
)

// LaneCommunity is the list of the members of seeds' communities: the score is what that adds.
const LaneCommunity Lane = "community"

// Membership says which community raised an item, or brought it in.
type Membership struct {
	Number int      // of the community
	Size   int      // its members
	Seed   graph.ID // the best candidate in it
}
