package verb

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/outline"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/view/distill"
	"github.com/mnem-project/mnem/ipld"
)

// TestSteadily has a purge remove digests while a verb reads them: the verb reads them again, asks the caller to
// retry if part of its answer was given, and otherwise reports missing blocks as damage.
func TestSteadily(t *testing.T) {
	ctx := t.Context()
	by := state.Stamp{Author: "a", Time: 1, Command: []string{"x"}}
	r, err := care.New(ctx, mem.New(), by, core.Options{})
	must.OK(t, err)
	var lines strings.Builder
	for i := range 9 {
		fmt.Fprintf(&lines, `{"node":{"key":"n%d","type":"N","summary":"Number %d of the harbour."}}`+"\n", i, i)
	}
	_, err = r.Commit(ctx, state.ReadChanges(strings.NewReader(lines.String()), "x"), core.CommitOptions{Stamp: by})
	must.OK(t, err)
	purged, tries := 0, 0
	// read reads the digests of the newest commit, which a purge removes before for as many times.
	read := func(purges int, early bool) func(context.Context, *Service, any, func(any) error) error {
		tries = 0
		return func(ctx context.Context, s *Service, _ any, emit func(any) error) error {
			snap, err := s.At(ctx, string(graph.Head))
			if err != nil {
				return err
			}
			d, err := outline.Open(ctx, snap, distill.Default(), outline.DigestOptions{Keep: true})
			if err != nil {
				return err
			}
			if early {
				err = emit(0)
			}
			if tries++; tries <= purges && err == nil {
				_, err = care.Purge(ctx, r, fmt.Sprint("n", purged), care.PurgeOptions{Stamp: by})
				purged++
			}
			if err != nil {
				return err
			}
			root, _, err := d.Top(ctx, d.Blocks, graph.ID{})
			if err != nil {
				return err
			}
			return emit(root.Facts)
		}
	}
	run := func(do func(context.Context, *Service, any, func(any) error) error) (got []any, err error) {
		v := &Spec{do: do}
		err = v.steadily(ctx, &Service{Repo: r, Spec: v}, &struct{}{}, func(n any) error {
			got = append(got, n)
			return nil
		})
		return got, err
	}
	if got, err := run(read(2, false)); err != nil || fmt.Sprint(got) != "[7]" || tries != 3 {
		t.Errorf("%v, %v after %d tries", got, err, tries)
	}
	if got, err := run(read(1, true)); !errors.Is(err, store.ErrBusy) || fmt.Sprint(got) != "[0]" || tries != 1 {
		t.Errorf("%v, %v after %d tries", got, err, tries)
	}
	damage := func(context.Context, *Service, any, func(any) error) error {
		tries++
		return fmt.Errorf("%w: block", store.ErrCorrupt)
	}
	tries = 0
	if _, err := run(damage); !errors.Is(err, store.ErrCorrupt) || tries != 1 {
		t.Errorf("%v after %d tries", err, tries)
	}
}

// TestSteadilyShared: in a store of many processes what is missing was perhaps removed unheard, so that a
// verb that reads is begun again once, unless a part of its answer was given.
func TestSteadilyShared(t *testing.T) {
	by := state.Stamp{Author: "a", Time: 1, Command: []string{"x"}}
	r := must.Get(care.New(t.Context(), sharedMem{Store: mem.New()}, by, core.Options{}))(t)
	for _, c := range []struct {
		damaged, early, tries int
		fails                 bool
	}{{0, 0, 1, false}, {1, 0, 2, false}, {2, 0, 2, true}, {1, 1, 1, true}} {
		tries := 0
		v := &Spec{do: func(_ context.Context, _ *Service, _ any, emit func(any) error) error {
			for range c.early {
				if err := emit(0); err != nil {
					return err
				}
			}
			if tries++; tries <= c.damaged {
				return fmt.Errorf("%w: block", store.ErrCorrupt)
			}
			return nil
		}}
		err := v.steadily(t.Context(), &Service{Repo: r, Spec: v}, &struct{}{}, func(any) error { return nil })
		if tries != c.tries || errors.Is(err, store.ErrCorrupt) != c.fails {
			t.Errorf("%+v: %v after %d tries", c, err, tries)
		}
	}
}

// sharedMem is a shared store that no other process writes to.
type sharedMem struct {
	store.Store
	store.Shared // nil but for what is here
}

func (sharedMem) Turn(context.Context) (func(), error) { return func() {}, nil }

func (sharedMem) Since(context.Context) (func(context.Context) error, error) {
	return func(context.Context) error { return nil }, nil
}

func (sharedMem) Keep(func() []ipld.CID) {}

func (sharedMem) Erased(func()) {}

func (sharedMem) Place() store.Place { return store.Place{} }
