package retrieve

// Packing says how much of an item's texts is shown.
type Packing string

const (
	PackAuto     Packing = "auto"     // whole texts while the budget lasts, then passages of chunks of documents
	PackWhole    Packing = "whole"    // all of each text that is shown
	PackPassages Packing = "passages" // the passages of summary and content that fit the text best
)

const (
	DefaultPassageTokens = 256
	AutoPassageTokens    = 64 // with PackAuto
	MaxPassageTokens     = 65_536
)

// checkPassages checks the parameters that trim texts.
func (r *Request) checkPassageTokens() error {
	if r.PassageTokens != nil && !r.Pack.trims() && !r.open("pack") {
		return badParam("passageTokens", "goes only with pack passages or auto: add that, or leave this out")
	}
	return checkRange("passageTokens", r.PassageTokens, 1, MaxPassageTokens)
}

// resolvePassages fills in the default of what goes with passages alone.
func (r *Request) resolvePassages() {
	switch r.Pack {
	case PackPassages:
		r.PassageTokens = orDefault(r.PassageTokens, DefaultPassageTokens)
	case PackAuto:
		r.PassageTokens = orDefault(r.PassageTokens, AutoPassageTokens)
	}
}

// trims reports whether texts may be trimmed.
func (p Packing) trims() bool { return p == PackPassages || p == PackAuto }
