package care_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/testkit"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
	"github.com/mnem-project/mnem/ipld"
)

// lookable is a store that shows all its blocks at once, up to a number of them at which it is damaged.
type lookable struct {
	store.Store
	most  int // -1 for all
	times int // that it was looked at so
}

func (s *lookable) Check(
	ctx context.Context, each func(b store.Block, derived bool) error, fn func(message string) error,
) error {
	if each == nil {
		return fn("damaged")
	}
	s.times++
	left := s.most
	for derived, blocks := range []store.Blocks{s.Facts(), s.Derived()} {
		err := blocks.Iterate(ctx, ipld.CID{}, func(b store.Block) error {
			if left == 0 {
				return fmt.Errorf("%w table", store.ErrCorrupt)
			}
			left--
			return each(b, derived == 1)
		})
		if err != nil {
			return err
		}
	}
	return fn("damaged")
}

// TestFsckFindsTheSameAtOnce: for a store that iterates all blocks in one pass, fsck reports the same as for one
// that does not, and after damage it checks facts and derived blocks separately.
func TestFsckFindsTheSameAtOnce(t *testing.T) {
	r, st := repokit.OverMem(t)
	repokit.Lines(t, r, repokit.Person(1)+"\n"+repokit.Person(2)+"\n"+`{"edge":{"type":"knows","src":"p1","dst":"p2"}}`)
	must.Get(r.Indexes().Rebuild(t.Context(), "HEAD"))(t)
	var facts []ipld.CID
	must.OK(t, st.Facts().Iterate(t.Context(), ipld.CID{}, func(b store.Block) error {
		if ipld.RecordKind(b.Data) == "node" || ipld.RecordKind(b.Data) == "edge" {
			facts = append(facts, b.CID)
		}
		return nil
	}))
	bad := testkit.NewTamper(st)
	bad.Lie = func(c ipld.CID, data []byte) ([]byte, error) {
		if slices.Contains(facts[:2], c) {
			return append(slices.Clone(data[:len(data)-1]), data[len(data)-1]^1), nil
		}
		return data, nil
	}
	check := func(st store.Store) *care.FsckReport {
		r := must.Get(care.New(t.Context(), st, repokit.By, core.Options{}))(t)
		return must.Get(care.Fsck(t.Context(), r, care.FsckOptions{}))(t)
	}
	want := check(bad)
	must.Require(t, len(want.Errors) >= 2, "found only %v", want.Errors)
	for _, most := range []int{-1, 0, 1, want.Blocks / 2, want.Blocks - 1} {
		st := &lookable{Store: bad, most: most}
		got := check(st)
		n := len(got.Errors)
		around := slices.ContainsFunc(got.Errors, func(e care.FsckError) bool { return e.Kind == care.FsckStore })
		got.Errors = slices.DeleteFunc(got.Errors, func(e care.FsckError) bool { return e.Kind == care.FsckStore })
		if st.times != 1 || got.Blocks != want.Blocks || !around || n != len(want.Errors)+1 ||
			!slices.Equal(got.Errors, want.Errors) {
			t.Errorf("up to block %d: %d blocks, %v, want %d, %v", most, got.Blocks, got.Errors, want.Blocks, want.Errors)
		}
	}
}
