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

// Add adds what another run measured of larger memories.
func (r *Report) Add(more *Report) error {
	for _, s := range more.Sizes {
		if n := len(r.Sizes); n > 0 && s.Nodes <= r.Sizes[n-1].Nodes {
			return fmt.Errorf("%d nodes after %d: want sizes to ascend", s.Nodes, r.Sizes[n-1].Nodes)
		}
		r.Sizes = append(r.Sizes, s)
	}
	if len(r.Figures) == 0 {
		r.Figures = more.Figures
	}
	r.Hub = max(r.Hub, more.Hub)
	for _, text := range more.Remarks {
		r.remark("%s", text)
	}
	return nil
}
