package reading

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/verbkit"
	"github.com/mnem-project/mnem/ipld"
)

// TestPagesInBoundedMemory sorts with room for few rows and compares with sorting all at once.
func TestPagesInBoundedMemory(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	h, ctx := verbkit.NewHost(t), t.Context()
	var lines strings.Builder
	for i := range 60 {
		fmt.Fprintf(&lines, `{"node":{"key":"n%d","type":"T","props":{"x":%d}}}`+"\n", i, rng.IntN(20))
	}
	by := state.Stamp{Author: "a", Command: []string{"commit"}}
	res, err := h.Kept.Commit(ctx, state.ReadChanges(strings.NewReader(lines.String()), "x"), core.CommitOptions{Stamp: by})
	must.OK(t, err)
	s := must.Get(h.Kept.At(ctx, res.Commit))(t)
	specs := []sortSpec{{"props.x", false}, {"props.x", true}, {"key", true}, {"id", true}}
	for _, spec := range specs {
		l := &listing{s: s, order: spec, see: Visible{Snapshot: s}}
		var places []sortedRow
		for row, err := range l.rows(ctx, graph.ID{}) {
			must.OK(t, err)
			places = append(places, spec.place(row))
		}
		slices.SortFunc(places, spec.compare)
		for _, room := range []int{1, 7, 59, 60, 61} {
			var got []graph.ID
			for id, err := range l.idsSorted(ctx, nil, room) {
				must.OK(t, err)
				got = append(got, id)
			}
			want := make([]graph.ID, len(places))
			for i, p := range places {
				want[i] = p.id
			}
			must.Same(t, got, want, spec, " in pages of ", room)
		}
	}
}

// TestPageKeepsToItsBytes fills a page with large values.
func TestPageKeepsToItsBytes(t *testing.T) {
	p := newPage(sortSpec{field: "props.x"}, nil, maxPageRows)
	for i := range 64 {
		v := ipld.StringValue(fmt.Sprintf("%02d", 63-i) + strings.Repeat("x", 1<<20))
		p.add(sortedRow{id: graph.ID{byte(i + 1)}, value: &v})
	}
	places := p.places()
	if p.bytes > maxPageBytes || len(places) < 10 || !p.cut {
		t.Errorf("%d rows of %d bytes, cut %v", len(places), p.bytes, p.cut)
	}
	for i, at := range places {
		if !strings.HasPrefix(at.value.Text(), fmt.Sprintf("%02d", i)) {
			t.Fatalf("row %d is %.2s", i, at.value.Text())
		}
	}
}

func TestCompareValuesIsAnOrder(t *testing.T) {
	var values []ipld.Value
	for _, s := range []string{
		"-1", "0", "0.5", "1", "1.0", "9007199254740993", "9007199254740992.0", `""`, `"a"`, `"b"`,
		"false", "true", "null", "[]", "[1]", `{"a":1}`,
	} {
		v := must.Get(ipld.ParseJSON([]byte(s)))(t)
		values = append(values, v)
	}
	for _, a := range values {
		for _, b := range values {
			must.Equal(t, compareValues(a, b), -compareValues(b, a), a, " and ", b)
			for _, c := range values {
				if compareValues(a, b) <= 0 && compareValues(b, c) <= 0 && compareValues(a, c) > 0 {
					t.Errorf("%v <= %v <= %v", a, b, c)
				}
			}
		}
	}
	must.True(t, compareValues(values[5], values[6]) > 0, "2^53+1 is not above 2^53")
}
