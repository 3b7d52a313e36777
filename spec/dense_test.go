package spec_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"iter"
	"slices"
	"sync"
	"testing"

	"github.com/mnem-project/mnem/dense"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/store/mem"
)

func runSketch(t *testing.T, v vector) {
	var in struct{ Vector string }
	var want struct{ Sketch string }
	parse(t, v.Input, &in)
	parse(t, v.Expect, &want)
	var values []int8
	for _, b := range expand(t, in.Vector) {
		values = append(values, int8(b))
	}
	same(t, "sketch", hex.EncodeToString(dense.Sketch(values)), want.Sketch)
}

// bulkVectors describes vectors instead of listing them: see README.md.
type bulkVectors struct {
	Seed                          string
	Count, Dims, Size, Near, Keep int
}

func (b bulkVectors) vector(seed string, i int) []int8 {
	out := make([]int8, 0, b.Dims)
	for j := 0; len(out) < b.Dims; j++ {
		for _, x := range sha256.Sum256(fmt.Appendf(nil, "%s:%d:%d", seed, i, j)) {
			if len(out) < b.Dims {
				out = append(out, max(int8(x), -127))
			}
		}
	}
	return out
}

func (b bulkVectors) changes() iter.Seq2[dense.Change, error] {
	var list []dense.Change
	for i := range b.Count {
		sum := sha256.Sum256(fmt.Appendf(nil, "%s:%d", b.Seed, i))
		list = append(list, dense.Change{
			ID: graph.ID(sum[:16]), Model: "m", New: b.vector(b.Seed, i),
		})
	}
	slices.SortFunc(list, func(x, y dense.Change) int { return x.ID.Compare(y.ID) })
	return func(yield func(dense.Change, error) bool) {
		for _, c := range list {
			if !yield(c, nil) {
				return
			}
		}
	}
}

// bulkIndexes are the indexes that cases share.
var bulkIndexes sync.Map

// index makes the index of a bulk, once.
func (b bulkVectors) index(t *testing.T) *dense.Index {
	key := bulkVectors{Seed: b.Seed, Count: b.Count, Dims: b.Dims}
	if x, ok := bulkIndexes.Load(key); ok {
		return x.(*dense.Index)
	}
	blocks, of := mem.New().Derived(), ipld.Sum(ipld.Raw, nil)
	c, err := dense.Update(t.Context(), blocks, ipld.CID{}, of, b.changes(), dense.Options{})
	if err != nil {
		t.Fatal(err)
	}
	x, err := dense.Open(t.Context(), blocks, c, of, nil)
	if err != nil {
		t.Fatal(err)
	}
	bulkIndexes.Store(key, x)
	return x
}

func runShortlist(t *testing.T, v vector) {
	var in bulkVectors
	var want struct{ Hits [][2]any }
	parse(t, v.Input, &in)
	parse(t, v.Expect, &want)
	x := in.index(t)
	got, err := x.Search(t.Context(), dense.Query{
		Model: "m", Values: in.vector(in.Seed+":query", 0), Shortlist: in.Size, Near: in.Near,
		Accept: func(id graph.ID) (bool, error) { return int(id[15])%in.Keep == 0, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	var hits [][2]any
	for _, h := range got.Hits {
		hits = append(hits, [2]any{hex.EncodeToString(h.ID[:]), h.Score})
	}
	same(t, "hits", fmt.Sprint(hits), fmt.Sprint(want.Hits))
}
