package retrieve

// Signals are the inputs of a recall's ranking, in units of 2^-16. Each signal of an item is 0 to 65,536; weights add
// up to at most that.
type Signals struct {
	Keyword    int64 `json:"keyword"`    // the score of lanes and expansion, as a share of the best
	Entity     int64 `json:"entity"`     // the share of the text's names, numbers and identifiers that it has
	Similarity int64 `json:"similarity"` // of its vectors to the request's, as a share of the best
	Graph      int64 `json:"graph"`      // worth of the linked node, along the best path
}

// Recalled is how a recall ranked an item.
type Recalled struct {
	Signals
	Way *Reach // the path on which the beam search reached it, nil if it did not
}

// Recollection is how a recall went.
type Recollection struct {
	Intent  Intent  `json:"-"`
	Weights Signals `json:"weights"` // factors of the signals; 0 for a signal that no candidate has
	Width   int     `json:"width"`   // of the beam
	Depth   int     `json:"depth"`
	Visited int     `json:"visited"` // nodes that the beam search looked at, at most Limit
	Limit   int     `json:"visited_limit"`
}
