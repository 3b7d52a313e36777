package cases

import (
	"fmt"
	"strings"
)

// Batch is one batch of change lines of a case.
type Batch struct {
	Time   int64 // microseconds
	Lines  []string
	Forest *Forest // lines before those, nil for none
	Pad    int     // length to which the last line is padded with spaces
}

// Forest stands for many lines: Count nodes nI, an edge to each but the first from node (I-1)/Fanout, and a
// mark on each but the first if there is a State.
type Forest struct {
	Count, Fanout int
	State         string
}

// All returns the lines of the batch in order, without line ends.
func (b Batch) All() []string {
	all := append(b.Forest.lines(), b.Lines...)
	if last := len(all) - 1; b.Pad > 0 {
		all[last] += strings.Repeat(" ", b.Pad-len(all[last]))
	}
	return all
}

func (f *Forest) lines() []string {
	var out []string
	if f == nil {
		return nil
	}
	for i := range f.Count {
		out = append(out, fmt.Sprintf(`{"node":{"key":"n%d","type":"T"}}`, i))
	}
	for i := 1; i < f.Count; i++ {
		out = append(out, fmt.Sprintf(`{"edge":{"type":"t","src":"n%d","dst":"n%d"}}`, (i-1)/f.Fanout, i))
	}
	for i := 1; i < f.Count && f.State != ""; i++ {
		out = append(out, fmt.Sprintf(`{"mark":{"node":"n%d","state":"%s"}}`, i, f.State))
	}
	return out
}
