package stage

import (
	"github.com/mnem-project/mnem/internal/rank/source"
)

// How many vectors a dense lane compares exactly: clause 9.5.
const (
	oversample        = 256    // at most for each item that is asked for
	maxShortlist      = 16_384 // vectors
	leastOversampled  = 10     // items
	limitlessOversize = 1000   // items that a request without a limit counts for
)

// shortlist is that of a request.
func (r *run) shortlist() source.Shortlist {
	items := *r.req.Limit
	if items == 0 {
		items = limitlessOversize
	}
	items = max(leastOversampled, items)
	list := source.Shortlist{
		Most: min(oversample*items, maxShortlist), Near: items, Peers: int(r.row.peers), Ease: r.row.ease,
	}
	if r.row.ground > 0 { // what counts as nothing is a rank's score, whatever the limit
		list.Near = max(items, distantRank)
	}
	return list
}
