package exchange_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/exchange"
	"github.com/mnem-project/mnem/internal/history"
	"github.com/mnem-project/mnem/internal/merging"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
	"github.com/mnem-project/mnem/ipld"
)

// TestExchangeOfRandomHistories makes histories with branches and merges and transfers them in steps: a commit with
// its history, then the difference to another. After each step the receiver is sound and has the same commits.
func TestExchangeOfRandomHistories(t *testing.T) {
	effort.Alone(t)
	rounds := effort.Pick(6, 12, 200)
	for seed := range uint64(rounds) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 1))
			r, _ := repokit.OverMem(t)
			commits := randomHistory(t, r, rng)
			for range 4 {
				carry(t, r, commits[rng.IntN(len(commits))], commits[rng.IntN(len(commits))])
			}
		})
	}
}

// randomHistory makes a history on two branches and returns its commits.
func randomHistory(t *testing.T, r *core.Repo, rng *rand.Rand) []ipld.CID {
	t.Helper()
	var commits []ipld.CID
	opt := core.CommitOptions{Stamp: repokit.By, Message: "m"}
	for i := range 3 + rng.IntN(12) {
		if i == 1 {
			ref := core.RefOptions{Stamp: repokit.By}
			must.OK(t, must.Err(r.Branches().Create(t.Context(), "side", "main", ref)))
		}
		opt.Branch = "main"
		if i > 0 && rng.IntN(2) == 0 {
			opt.Branch = "side"
		}
		if i > 2 && rng.IntN(3) == 0 {
			other := map[string]string{"main": "side", "side": "main"}[opt.Branch]
			merge := core.MergeOptions{CommitOptions: opt, Prefer: graph.TakeOurs}
			res := must.Get(merging.Merge(t.Context(), r, other, merge))(t)
			commits = append(commits, res.Commit)
			continue
		}
		text := randomLines(rng, i)
		res := must.Get(r.Commit(t.Context(), state.ReadChanges(strings.NewReader(text), "random"), opt))(t)
		commits = append(commits, res.Commit)
	}
	return commits
}

func randomLines(rng *rand.Rand, step int) string {
	var b strings.Builder
	for range 1 + rng.IntN(60) {
		k := rng.IntN(80)
		fmt.Fprintf(&b, `{"node":{"key":"n%d","type":"T","summary":"%d"}}`+"\n", k, rng.IntN(4))
		switch rng.IntN(4) {
		case 0:
			fmt.Fprintf(&b, `{"edge":{"type":"e","src":"n%d","dst":"n%d"}}`+"\n", k, k)
		case 1:
			fmt.Fprintf(&b, `{"mark":{"node":"n%d","state":"stale","reason":"%d"}}`+"\n", k, step)
		case 2:
			fmt.Fprintf(&b, `{"embedding":{"node":"n%d","model":"m","vector":[1,%d]}}`+"\n", k,
				1+rng.IntN(5))
		}
	}
	return b.String()
}

// carry exports one commit whole and another from there on, and imports both elsewhere.
func carry(t *testing.T, from *core.Repo, base, tip ipld.CID) {
	t.Helper()
	to, st := repokit.OverMem(t)
	file, _ := repokit.Export(t, from, exchange.ExportOptions{Rev: base.String()})
	repokit.ImportInto(t, to, file, exchange.ImportOptions{Name: "base"})
	var out bytes.Buffer
	rev := base.String() + ".." + tip.String()
	_, err := exchange.Export(t.Context(), from, &out, exchange.ExportOptions{Rev: rev})
	if errors.Is(err, state.ErrInvalid) {
		return // the base has all of it
	}
	must.OK(t, err)
	res := repokit.ImportInto(t, to, out.Bytes(), exchange.ImportOptions{Name: "tip", As: "work"})
	must.True(t, len(res.Refs) == 2 && res.Refs[0].To == tip, "%s: refs %+v", rev, res.Refs)
	want, got := 0, 0
	for _, side := range []struct {
		r *core.Repo
		n *int
	}{{from, &want}, {to, &got}} {
		for e, err := range history.Log(t.Context(), side.r, tip.String()) {
			must.OK(t, err)
			has, err := st.Facts().Has(t.Context(), e.CID)
			must.True(t, err == nil && has, "commit %s is not there: %v", e.CID, err)
			*side.n++
		}
	}
	must.Equal(t, want, got, "commits")
	// Exported whole it is the same file on both sides.
	a, _ := repokit.Export(t, from, exchange.ExportOptions{Rev: tip.String()})
	b, _ := repokit.Export(t, to, exchange.ExportOptions{Rev: tip.String()})
	must.Same(t, a, b, rev, ": the files differ")
}

// TestExportOfDamage exports a memory with a missing block: the error names it, and no file is written.
func TestExportOfDamage(t *testing.T) {
	from, st := repokit.OverMem(t)
	fill(t, from)
	file, _ := repokit.Export(t, from, exchange.ExportOptions{All: true})
	tried := 0
	for i, b := range repokit.Sections(t, file) {
		kind := ipld.RecordKind(b.Data)
		if kind == commit.KindExport || kind == "tree" || i%7 != 0 {
			continue
		}
		must.OK(t, st.Facts().(store.Deleter).Delete(t.Context(), b.CID))
		tried++
		var out bytes.Buffer
		_, err := exchange.Export(t.Context(), from, &out, exchange.ExportOptions{All: true})
		must.True(t, errors.Is(err, store.ErrCorrupt) && strings.Contains(err.Error(), b.CID.String()),
			"without %s %s: %v", kind, b.CID, err)
		must.OK(t, st.Facts().Put(t.Context(), b))
	}
	must.True(t, tried >= 10, "only %d blocks left out", tried)
}
