package perf

import "fmt"

// Report is what was measured. Its JSON form is what 'mnem-bench perf --json' prints.
type Report struct {
	Machine Machine  `json:"machine"`
	Seed    uint64   `json:"seed"`
	Dims    int      `json:"dims"`
	Hub     int      `json:"hub"`
	Runs    int      `json:"runs"`
	Figures []Figure `json:"figures"` // that are about no memory
	Sizes   []*Size  `json:"sizes"`
	Remarks []string `json:"remarks"` // what went wrong and did not end the run
}

// Size is what was measured of the memory of one size.
type Size struct {
	Nodes   int      `json:"nodes"`
	Edges   int      `json:"edges"`
	Figures []Figure `json:"figures"`
	Slices  []Slice  `json:"commits"` // in a row, where asked for
}

func newReport(o *Options) *Report {
	return &Report{
		Machine: machine(), Seed: o.Seed, Dims: o.Dims, Hub: o.Hub, Runs: o.Runs,
		Figures: []Figure{}, Sizes: []*Size{}, Remarks: []string{}, // lists in JSON, never null
	}
}

// maxRemarks bounds how many remarks are kept.
const maxRemarks = 20

func (r *Report) remark(format string, args ...any) {
	if len(r.Remarks) < maxRemarks {
		r.Remarks = append(r.Remarks, fmt.Sprintf(format, args...))
	}
}
