package source

// Shortlist says which vectors a dense lane compares exactly where there are too many to compare
// all, and how: clause 9.5.
type Shortlist struct {
	Most int // how many at most
	Near int // the rank of the vector than which others may be farther by no more than the margin

	Peers int   // of how many of the best what they have in common counts less; 0 for cosines as they are
	Ease  int64 // how much less: the more, the less is taken off
}
