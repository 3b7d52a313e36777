package perf

// Report is what was measured.
type Report struct {
	Machine Machine
	Options *Options
	Figures []Figure // that are about no memory
	Sizes   []*Size
}

// Size is what was measured of the memory of one size.
type Size struct {
	Nodes   int
	Edges   int
	Figures []Figure
}
