package care_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/testkit"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
	"github.com/mnem-project/mnem/ipld"
)

// TestFsckReadsRecordsOnce counts how often a check with indexes of texts, links and vectors reads nodes, edges and
// embeddings: once each, except nodes with content in separate blocks.
func TestFsckReadsRecordsOnce(t *testing.T) {
	const n, dense = 300, "dense embedding" // read again for its sketch, which an index has instead of it
	st := mem.New()
	r := repokit.OverStore(t, st)
	var text strings.Builder
	for i := range n {
		text.WriteString(repokit.Person(i) + "\n")
		fmt.Fprintf(&text, `{"edge":{"type":"knows","src":"p%d","dst":"p%d"}}`+"\n", i, i*7%n)
		fmt.Fprintf(&text, `{"embedding":{"node":"p%d","model":"m","vector":[1,0.%d]}}`+"\n", i, i+1)
		fmt.Fprintf(&text, `{"embedding":{"node":"p%d","model":"s","sparse":{"a":9,"b":%d}}}`+"\n", i, i+1)
	}
	repokit.Lines(t, r, text.String())
	truth := testkit.NewTamper(st)
	var mu sync.Mutex
	read := make(map[string]map[ipld.CID]int)
	truth.Lie = func(c ipld.CID, data []byte) ([]byte, error) {
		mu.Lock()
		defer mu.Unlock()
		kind := ""
		if c.Codec() == ipld.DagCBOR {
			kind = ipld.RecordKind(data)
		}
		if e, err := graph.DecodeEmbedding(data); err == nil && e.DType != graph.Sparse {
			kind = dense
		}
		if read[kind] == nil {
			read[kind] = make(map[ipld.CID]int)
		}
		read[kind][c]++
		return data, nil
	}
	r = repokit.OverStore(t, truth)
	clear(read)
	report, err := care.Fsck(t.Context(), r, care.FsckOptions{})
	must.Require(t, err == nil && len(report.Errors) <= 0, "%v %v", report.Errors, err)
	for kind, want := range map[string]int{graph.KindNode: 1, graph.KindEdge: 1, graph.KindEmbedding: 1, dense: 2} {
		if len(read[kind]) != n {
			t.Errorf("%d records read that are of kind %s, want %d", len(read[kind]), kind, n)
		}
		for c, times := range read[kind] {
			must.Equal(t, times, want, kind, " ", c, " is read")
		}
	}
}

// TestFsckNamesWhatIndexesLack gives the newest commit the previous commit's index of texts: faults known only by a
// node's number must be reported like those read from it.
func TestFsckNamesWhatIndexesLack(t *testing.T) {
	for name, c := range map[string]struct{ line, want string }{
		"text":    {`{"node":{"key":"p1","type":"Person","summary":"somebody else"}}`, "postings differ"},
		"node":    {`{"node":{"key":"more","type":"Person","summary":"one more"}}`, "not in the index"},
		"removal": {`{"remove":{"node":"p1"}}`, "in the index, but not in the graph"},
	} {
		t.Run(name, func(t *testing.T) {
			st := mem.New()
			r := repokit.OverStore(t, st)
			graphOf := func() ipld.CID { return repokit.TextsKey(repokit.Head(t, r).Graph()) }
			for i := range 20 {
				repokit.Lines(t, r, repokit.Person(i))
			}
			old := must.Get(st.Derived().Cell(t.Context(), graphOf()))(t)
			repokit.Lines(t, r, c.line)
			var derived store.Derived = st.Derived()
			must.OK(t, derived.SetCell(t.Context(), graphOf(), old))
			report := must.Get(care.Fsck(t.Context(), r, care.FsckOptions{}))(t)
			found := false
			for _, e := range report.Errors {
				found = found || e.Kind == care.FsckIndex && strings.Contains(e.Message, c.want)
			}
			must.Check(t, found, "want %q: %v", c.want, report.Errors)
		})
	}
}
