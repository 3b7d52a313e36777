package retrieve

import "github.com/mnem-project/mnem/internal/base/fixed"

// Expansion says how nodes that the lanes found raise those linked to them: clause 10.
type Expansion string

const (
	Lend  Expansion = "lend"  // parts of scores, term by term: the default
	Decay Expansion = "decay" // the best path from another node, less with each hop
	PPR   Expansion = "ppr"   // personalised PageRank
)

// Expansions returns all ways of expanding.
func Expansions() []Expansion { return []Expansion{Lend, Decay, PPR} }

// maxRounds returns the bound of Request.Expand.
func (e Expansion) maxRounds() int {
	if e == PPR {
		return MaxRounds
	}
	return MaxExpand
}

// Defaults and bounds of expansion: clause 8.1. Shares are in units of 2^-16.
const (
	DefaultDecay     = 45_875 // 0.7
	DefaultDamping   = 55_706 // 0.85
	DefaultRounds    = 20     // of PPR; after them less than a twentieth of the mass moves
	DefaultMaxExpand = 100

	MaxRounds    = 64 // of PPR
	MaxMaxExpand = 1000
)

// ExpansionOptions are the parameters of expansion. A request that gives a parameter of an expansion that it does not
// use is refused.
type ExpansionOptions struct {
	Expansion   Expansion    // "" for the default
	Expand      *int         // rounds, default DefaultExpand, at most MaxExpand; 0 for none; see PPR
	MaxExpand   *int         // new nodes that join, default DefaultMaxExpand, 1 to MaxMaxExpand
	Decay       *int         // for Decay: the share that a hop keeps, default DefaultDecay, 1 to 65,536
	Damping     *int         // of PPR: what moves on, default DefaultDamping, 1 to 65,535
	ExpandTypes []string     // edge types to follow, at most MaxNames; empty for all
	Direction   Direction    // "" for Both
	EdgeWeights []EdgeWeight // of edge types, at most MaxNames; 1 for others
}

// resolveExpand fills in the defaults that depend on the expansion.
func (r *Request) resolveExpand() {
	rounds := DefaultExpand
	switch r.Expansion {
	case Decay:
		r.Decay = orDefault(r.Decay, DefaultDecay)
	case PPR:
		r.Damping = orDefault(r.Damping, DefaultDamping)
		rounds = DefaultRounds
	}
	r.Expand = orDefault(r.Expand, rounds)
}

func (r *Request) checkExpand() error {
	rounds := r.Expansion.maxRounds()
	if r.open("expansion") { // a profile may still choose an expansion that takes more
		rounds = MaxRounds
	}
	if n := r.Expand; n != nil && *n > rounds && *n <= MaxRounds {
		return badParam("expand", "%d is outside 0 to %d: choose the expansion ppr for more", *n, rounds)
	}
	return checkRange("expand", r.Expand, 0, rounds)
}

func (r *Request) checkDecay() error {
	if r.Decay != nil && r.Expansion != Decay && !r.open("expansion") {
		return badParam("decay", "only paths decay: choose the expansion decay for it")
	}
	if n := r.Decay; n != nil && (*n < 1 || *n > fixed.One) {
		return badParam("decay", "want more than 0 and at most 1: %d units of 2^-16", *n)
	}
	return nil
}

func (r *Request) checkDamping() error {
	if r.Damping != nil && r.Expansion != PPR && !r.open("expansion") {
		return badParam("damping", "only PageRank is damped: choose the expansion ppr for it")
	}
	if n := r.Damping; n != nil && (*n < 1 || *n >= fixed.One) {
		return badParam("damping", "want more than 0 and less than 1: %d units of 2^-16", *n)
	}
	return nil
}
