package retrieve

// Signals are what a recall ranks by, in units of 2^-16: of an item each 0 to 65,536, of weights
// together at most that.
type Signals struct {
	Keyword    int64 `json:"keyword"`    // the score of lanes and expansion, as a share of the best
	Entity     int64 `json:"entity"`     // the share of the text's names, numbers and identifiers that it has
	Similarity int64 `json:"similarity"` // of its vectors to the request's, as a share of the best
	Graph      int64 `json:"graph"`      // of what a linked node is worth, along the best way from one
}

// Recalled is how a recall ranked an item.
type Recalled struct {
	Signals
	Way *Reach // by which the beam search reached it, nil if it did not
}

// Recollection is how a recall went.
type Recollection struct {
	Intent  Intent  `json:"-"`
	Weights Signals `json:"weights"` // what the signals are multiplied with; 0 for one that no candidate has
	Width   int     `json:"width"`   // of the beam
	Depth   int     `json:"depth"`
	Visited int     `json:"visited"` // nodes that the beam search looked at, at most Limit
	Limit   int     `json:"visited_limit"`
}
