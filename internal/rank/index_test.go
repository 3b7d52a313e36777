package rank_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/adjacency"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/block/store/pebble"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/outline"
	"github.com/mnem-project/mnem/internal/session"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// dump returns the sum of all keys and values of a closed repository and how many there are.
func dump(t testing.TB, dir string) string {
	t.Helper()
	h, n := sha256.New(), 0
	repokit.OnStore(t, dir, true, func(s *pebble.Store) error {
		return s.Keys(t.Context(), func(e pebble.RawEntry) error {
			n++
			fmt.Fprintf(h, "%d %x %d %x\n", len(e.Key), e.Key, len(e.Value), e.Value)
			return nil
		})
	})
	return fmt.Sprintf("%d keys, %x", n, h.Sum(nil))
}

// TestReadOnlyChangesNothing runs every read on a repository opened for reading, with and without
// indexes: no byte of any key or value changes, and writes are refused.
func TestReadOnlyChangesNothing(t *testing.T) {
	effort.Alone(t)
	t.Parallel()
	dir := repokit.InitEmpty(t)
	r := must.Get(care.Open(dir, core.Options{}))(t)
	memory, change := repokit.DemoText(t)
	must.OK(t, repokit.Record(r, repokit.Requests(t)[:8], memory, change, 3))
	repokit.StageLines(t, r, `{"node":{"key":"staged","type":"T"}}`)
	must.OK(t, r.Close())
	for _, indexed := range []bool{true, false} {
		if !indexed {
			repokit.ClearIndexes(t, dir)
		}
		before := dump(t, dir)
		r := must.Get(care.Open(dir, core.Options{ReadOnly: true}))(t)
		must.OK(t, readEverything(t, r), "indexed ", indexed)
		for name, write := range writes(r) {
			must.Fail(t, write(), store.ErrReadOnly, name)
		}
		must.OK(t, r.Close())
		must.Equal(t, dump(t, dir), before, "indexed ", indexed)
	}
}

// writes are all methods that write.
func writes(r *core.Repo) map[string]func() error {
	ctx := context.Background()
	changes := state.ReadChanges(strings.NewReader(`{"node":{"key":"x","type":"T"}}`), "")
	opt := core.CommitOptions{Stamp: repokit.By}
	return map[string]func() error{
		"commit":        func() error { return must.Err(r.Commit(ctx, changes, opt)) },
		"stage":         func() error { return must.Err(r.Stages().Add(ctx, changes, core.StageOptions{Stamp: repokit.By})) },
		"commit staged": func() error { return must.Err(r.Stages().Commit(ctx, "", opt)) },
		"unstage":       func() error { return r.Stages().Remove(ctx, "", repokit.By) },
		"rebuild":       func() error { return must.Err(r.Indexes().Rebuild(ctx, "HEAD")) },
		"start": func() error {
			return must.Err(session.StartSession(ctx, r, "new", session.SessionOptions{Stamp: repokit.By}))
		},
		"retrieve": func() error {
			_, _, err := session.RetrieveIn(ctx, r, repokit.SessionName, retrieve.Request{Text: "x"}, repokit.By)
			return err
		},
		"advance": func() error {
			return must.Err(session.AdvanceSession(ctx, r, repokit.SessionName, "HEAD", repokit.By))
		},
		"end":    func() error { return must.Err(session.EndSession(ctx, r, repokit.SessionName, repokit.By)) },
		"remove": func() error { return session.RemoveSession(ctx, r, repokit.SessionName, repokit.By) },
	}
}

// readEverything calls every method that reads.
func readEverything(t *testing.T, r *core.Repo) error {
	ctx := context.Background()
	s, err := r.Snapshot(ctx, "HEAD")
	if err != nil {
		return err
	}
	old, err := r.Snapshot(ctx, "HEAD~2")
	if err != nil {
		return err
	}
	for _, at := range []*core.Snapshot{s, old} {
		if _, _, err := ask(at, repokit.Requests(t)[:12]); err != nil {
			return err
		}
		if _, err := at.IndexStats(ctx); err != nil {
			return err
		}
		if _, err := outline.Communities(ctx, at); err != nil {
			return err
		}
	}
	items := 0
	for e, err := range s.Nodes(ctx, graph.ID{}) {
		if err != nil {
			return err
		}
		items++
		if _, err := s.Mark(ctx, graph.OnNode, e.Node.ID); err != nil {
			return err
		}
		if _, err := s.Content(ctx, e.Node.Content); err != nil {
			return err
		}
		for _, err := range s.Adjacency().Bucket(ctx, e.Node.ID, adjacency.Out, "", nil) {
			if err != nil {
				return err
			}
		}
	}
	for _, err := range s.Edges(ctx, graph.ID{}) {
		if err != nil {
			return err
		}
		items++
	}
	if items < 700 {
		return fmt.Errorf("%d items read", items)
	}
	for _, read := range []func() error{
		func() error { _, _, err := old.Diff(s).Count(ctx); return err },
		func() error { return must.Err(repokit.History(r)) },
		func() error { return must.Err(r.Stages().Status(ctx, "")) },
		func() error { return must.Err(r.Stages().Snapshot(ctx, "")) },
		func() error { return must.Err(r.Refs(ctx)) },
		func() error { return must.Err(session.Sessions(ctx, r)) },
		func() error { return must.Err(r.Storage().Sizes(ctx)) },
		func() error { return must.Err(session.Replay(ctx, r, repokit.SessionName)) },
		func() error { _, _, err := r.Storage().Block(ctx, s.CID().String()); return err },
		func() error { return must.Err(s.Name(ctx, "svc/billing")) },
		func() error { return repokit.Clean(r) },
		func() error { return trial(r) },
	} {
		if err := read(); err != nil {
			return err
		}
	}
	return nil
}

// trial writes to a trial of r.
func trial(r *core.Repo) error {
	try, err := r.Trial(context.Background())
	if err != nil {
		return err
	}
	for name, write := range writes(try) {
		if name == "retrieve" || name == "advance" || name == "end" || name == "remove" {
			continue // their order would matter
		}
		if err := write(); err != nil {
			return fmt.Errorf("trial: %s: %w", name, err)
		}
	}
	return try.Close()
}

// notes returns lines for n nodes of a few words each.
func notes(n int) string {
	words := strings.Fields("berth harbour tide ledger refund winter guest mooring rota gateway")
	rng := rand.New(rand.NewPCG(repokit.ReplaySeed, 3))
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"node":{"key":"note/%d","type":"Note","summary":"w%d`, i, i)
		for range 12 {
			b.WriteString(" " + words[rng.IntN(len(words))])
		}
		b.WriteString(`"}}` + "\n")
	}
	return b.String()
}

// TestDamagedIndex damages one derived block at a time: retrieval reports it, and gives the old answers after the index
// is rebuilt.
func TestDamagedIndex(t *testing.T) {
	effort.Alone(t)
	t.Parallel()
	reqs := repokit.Requests(t)[:8]
	base := mem.New()
	r := must.Get(care.New(t.Context(), base, repokit.By, core.Options{}))(t)
	repokit.File(t, r, repokit.DemoMemory)
	repokit.Lines(t, r, notes(1500)) // more than one block holds
	repokit.File(t, r, repokit.DemoChange)
	// Rebuilding keeps blocks rebuilt before, so that every lie meets the same blocks.
	must.Get(r.Indexes().Rebuild(t.Context(), "HEAD"))(t)
	truth := testkit.NewTamper(base)
	r = must.Get(care.New(t.Context(), truth, repokit.By, core.Options{}))(t)
	want, _ := answers(t, r, reqs)
	rng := rand.New(rand.NewPCG(repokit.ReplaySeed, 2))
	tested := 0
	parts := slices.DeleteFunc(truth.Read(), func(c ipld.CID) bool {
		ok, err := base.Derived().Has(t.Context(), c)
		return err != nil || !ok
	})
	t.Logf("%d derived blocks", len(parts))
	some := effort.Pick(4, 1, 1) // test one block in so many
	for i, c := range parts {
		if i%some > 0 {
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(repokit.Lies)) {
			lie := repokit.Lies[name]
			tested++
			lying := true
			liar := testkit.NewTamper(base)
			liar.Lie = func(at ipld.CID, data []byte) ([]byte, error) {
				if at != c || !lying {
					return data, nil
				}
				return lie(rng, at, data)
			}
			r := must.Get(care.New(t.Context(), liar, repokit.By, core.Options{}))(t)
			got, _, err := ask(repokit.Head(t, r), reqs)
			switch {
			case err == nil && name == "a flipped bit": // which no store would let pass
			case err == nil:
				repokit.Same(t, fmt.Sprintf("seed %d, %s in the place of %s", repokit.ReplaySeed, name, c), want, got)
			case !errors.Is(err, store.ErrCorrupt):
				t.Errorf("seed %d, %s in the place of %s: error %v is not about damage",
					repokit.ReplaySeed, name, c, err)
			}
			lying = false // the disk was replaced; what no store would let pass may be cached
			r = must.Get(care.New(t.Context(), liar, repokit.By, core.Options{}))(t)
			must.Get(r.Indexes().Rebuild(t.Context(), "HEAD"))(t)
			again, _ := answers(t, r, reqs)
			repokit.Same(t, "after the index was rebuilt", want, again)
		}
	}
	must.True(t, tested >= 30/some, "%d lies tested", tested)
}
