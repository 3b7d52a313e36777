package retrieve

// How many vectors a dense lane compares exactly: clause 9.5.
const (
	oversample        = 256    // at most for each item that is asked for
	maxShortlist      = 16_384 // vectors
	leastOversampled  = 10     // items
	limitlessOversize = 1000   // items that a request without a limit counts for
)

// Shortlist says which vectors a dense lane compares exactly where there are too many to compare
// all, and how: clause 9.5.
type Shortlist struct {
	Most int // how many at most
	Near int // the rank of the vector than which others may be farther by no more than the margin

	Peers int   // of how many of the best what they have in common counts less; 0 for cosines as they are
	Ease  int64 // how much less: the more, the less is taken off
}

// shortlist is that of a request.
func (r *run) shortlist() Shortlist {
	items := *r.req.Limit
	if items == 0 {
		items = limitlessOversize
	}
	items = max(leastOversampled, items)
	list := Shortlist{
		Most: min(oversample*items, maxShortlist), Near: items, Peers: int(r.row.peers), Ease: r.row.ease,
	}
	if r.row.ground > 0 { // what counts as nothing is a rank's score, whatever the limit
		list.Near = max(items, distantRank)
	}
	return list
}
