package spec_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/cases"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

type changesInput struct {
	Author  string
	Batches []cases.Batch
}

type report struct {
	Nodes, Edges          [3]int
	Duplicates, Unchanged int
}

// applied is a repository after batches, and what they reported.
type applied struct {
	repo    *core.Repo
	reports []report
	failed  int // the batch that was refused, from 1
	err     error
}

func apply(t *testing.T, in changesInput) applied {
	t.Helper()
	by := state.Stamp{Author: in.Author, Command: []string{"test"}}
	r := must.Get(care.New(t.Context(), mem.New(), by, core.Options{}))(t)
	a := applied{repo: r}
	t.Cleanup(func() { closeClean(t, r) })
	for i, b := range in.Batches {
		by.Time = graph.Time(b.Time)
		changes := state.ReadChanges(strings.NewReader(strings.Join(b.All(), "\n")+"\n"), "lines")
		res, err := r.Commit(t.Context(), changes, core.CommitOptions{Stamp: by})
		if err != nil {
			a.failed, a.err = i+1, err
			return a
		}
		n, e := res.Nodes, res.Edges
		a.reports = append(a.reports, report{Nodes: [3]int{n.Added, n.Changed, n.Removed},
			Edges:      [3]int{e.Added, e.Changed, e.Removed},
			Duplicates: res.Duplicates, Unchanged: res.Unchanged})
	}
	return a
}

// closeClean closes a repository that a full check finds nothing wrong with.
func closeClean(t *testing.T, r *core.Repo) {
	report, err := care.Fsck(context.Background(), r, care.FsckOptions{Full: true})
	if err != nil {
		t.Errorf("fsck: %v", err)
	} else {
		for _, e := range report.Errors {
			t.Errorf("fsck: %s %s: %s", e.Kind, e.CID, e.Message)
		}
	}
	must.OK(t, r.Close())
}

// tip is the snapshot of HEAD, nil if there is no commit yet.
func (a applied) tip(t *testing.T) *core.Snapshot {
	t.Helper()
	_, c, err := a.repo.Branch(t.Context())
	must.OK(t, err)
	if !c.Defined() {
		return nil
	}
	return must.Get(a.repo.At(t.Context(), c))(t)
}

func runChanges(t *testing.T, v vector) {
	var in changesInput
	parse(t, v.Input, &in)
	a := apply(t, in)
	var want struct {
		Graph, Vectors, Error string
		Batch, Line           int
		Reports               []report
		Records               map[string][]string
	}
	parse(t, v.Expect, &want)
	if refusal(t, v, a.err) {
		same(t, "batch", fmt.Sprint(a.failed), fmt.Sprint(want.Batch))
		var line *graph.LineError
		must.Require(t, errors.As(a.err, &line), "the error names no line: %v", a.err)
		same(t, "line", fmt.Sprint(line.Line), fmt.Sprint(want.Line))
		return
	}
	same(t, "reports", fmt.Sprint(a.reports), fmt.Sprint(want.Reports))
	s := a.tip(t)
	if s == nil {
		must.Equal(t, len(want.Records), 0, "nothing was committed")
		return
	}
	var nodes []string
	for e, err := range s.Nodes(t.Context(), graph.ID{}) {
		must.OK(t, err)
		nodes = append(nodes, jsonOf(t, e.Node.Encode()))
	}
	if want.Records != nil {
		same(t, "nodes", strings.Join(nodes, "\n"), strings.Join(want.Records["nodes"], "\n"))
	}
	same(t, "graph", s.Graph().String(), want.Graph)
	vectors := ""
	if s.Commit().Vectors.Defined() {
		vectors = s.Commit().Vectors.String()
	}
	same(t, "vectors", vectors, want.Vectors)
}

func jsonOf(t *testing.T, block []byte) string {
	t.Helper()
	value := must.Get(ipld.DecodeValue(block))(t)
	return string(ipld.AppendJSON(nil, value))
}

func runReceipt(t *testing.T, v vector) {
	var block struct{ Block *string }
	if json.Unmarshal(v.Input, &block) == nil && block.Block != nil {
		runRecord(t, v)
		return
	}
	var pair struct{ Before, After string }
	if json.Unmarshal(v.Input, &pair) == nil && pair.Before != "" {
		runDifference(t, v, pair.Before, pair.After)
		return
	}
	t.Fatalf("neither a record nor two receipts: %s", v.Input)
}

// runDifference compares two receipts.
func runDifference(t *testing.T, v vector, before, after string) {
	t.Helper()
	var receipts []*retrieve.Receipt
	for _, h := range []string{before, after} {
		rec := must.Get(retrieve.DecodeReceipt(expand(t, h)))(t)
		receipts = append(receipts, rec)
	}
	var want struct {
		Item  int
		Field string
	}
	parse(t, v.Expect, &want)
	d := retrieve.CompareReceipts(receipts[0], receipts[1])
	must.Require(t, d != nil, "no difference found")
	same(t, "difference", fmt.Sprint(d.Item, d.Field), fmt.Sprint(want.Item, want.Field))
}
