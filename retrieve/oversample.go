package retrieve

// How many vectors a dense lane compares exactly: clauses 8.1 and 9.5.
const (
	DefaultOversample = 160  // for each item that is asked for
	MaxOversample     = 4096 // for each item

	maxShortlist      = 16_384 // vectors
	leastOversampled  = 10     // items
	limitlessOversize = 1000   // items that a request without a limit counts for
)

// checkOversample checks the parameter of this file.
func (r Request) checkOversample() error {
	return checkRange("oversample", r.Oversample, MaxOversample)
}

// shortlist is how many vectors a dense lane compares exactly where there are too many to compare
// all; 0 for all.
func (r Request) shortlist() int {
	items := *r.Limit
	if items == 0 {
		items = limitlessOversize
	}
	return min(*r.Oversample*max(leastOversampled, items), maxShortlist)
}
