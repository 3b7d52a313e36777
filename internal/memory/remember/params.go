package remember

import (
	"context"
	"slices"

	"github.com/mnem-project/mnem/internal/base/fixed"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/memory"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/ipld"
)

const (
	// maxNearby is how many memories of the snapshot are compared with a new one.
	maxNearby = 8
	// MaxSimilar is how many are reported to resemble it.
	MaxSimilar = 8
	// oppositeAt is how alike two texts must be, in units of 2^-16, before one can contradict the other. Two short
	// sentences that differ in one word share a half.
	oppositeAt = fixed.One / 2
	// closeAt is the cosine, in the same units, from which vectors make a memory count as similar.
	closeAt = 52_429 // .80
)

// Params are the parameters of Remember's decisions. They are stored in the memory.
type Params struct {
	// DuplicateAbove is the likeness above which a text without a difference says the same, in units of 2^-16: .90.
	DuplicateAbove int64 `json:"duplicate_above"`
	// SimilarFrom is the likeness from which a memory is reported as similar: .65.
	SimilarFrom int64 `json:"similar_from"`
	// Keep keeps the old value of a single-valued property when another is given: both stay and the action is Conflict.
	// Otherwise the new one supersedes it.
	Keep bool `json:"keep"`
}

// DefaultRememberParams returns the parameters of a memory without own ones.
func DefaultRememberParams() Params {
	return Params{DuplicateAbove: 58_982, SimilarFrom: 42_598}
}

const (
	verbRemember   = "remember"
	paramDuplicate = "duplicateAbove"
	paramSimilar   = "similarFrom"
	paramKeep      = "keep"
)

var rememberParams = []string{paramDuplicate, paramSimilar, paramKeep}

// ParamsAt returns the parameters of a snapshot. One that is not valid is refused with an
// error that wraps state.ErrInvalid; names of a later version are passed over.
func ParamsAt(ctx context.Context, s *core.Snapshot) (Params, error) {
	entries, err := memory.VerbParams(ctx, s, verbRemember)
	if err != nil {
		return Params{}, err
	}
	return rememberParamsOf(entries)
}

func rememberParamsOf(entries []ipld.Entry) (Params, error) {
	out := DefaultRememberParams()
	for _, e := range entries {
		switch {
		case e.Key == paramDuplicate && e.Value.Kind() == ipld.Int:
			out.DuplicateAbove = e.Value.Int()
		case e.Key == paramSimilar && e.Value.Kind() == ipld.Int:
			out.SimilarFrom = e.Value.Int()
		case e.Key == paramKeep && e.Value.Kind() == ipld.Bool:
			out.Keep = e.Value.Bool()
		case slices.Contains(rememberParams, e.Key):
			return out, state.Invalidf("profiles.remember.%s: %s, which is not its kind", e.Key, e.Value.Kind())
		}
	}
	return out, out.check()
}

func (p Params) check() error {
	switch {
	case p.SimilarFrom < 1 || p.SimilarFrom > p.DuplicateAbove:
		return state.Invalidf("%s: %d, want 1 to %s, %d", paramSimilar, p.SimilarFrom, paramDuplicate,
			p.DuplicateAbove)
	case p.DuplicateAbove > fixed.One:
		return state.Invalidf("%s: %d, want at most %d; that is never reached, so nothing is a duplicate",
			paramDuplicate, p.DuplicateAbove, fixed.One)
	}
	return nil
}

// ChangeParams makes the parameters of a branch what change makes of those that its newest
// commit has, and returns them; no commit is made if none changes. A caller that changes another one at the same
// time is heeded too. An error of change is returned.
func ChangeParams(
	ctx context.Context, r *core.Repo, opt core.CommitOptions, change func(*Params) error,
) (Params, *core.CommitResult, error) {
	var p Params
	res, err := memory.ChangeVerbParams(ctx, r, verbRemember, opt,
		func(old []ipld.Entry, err error) ([]ipld.Entry, error) {
			if err == nil {
				p, err = rememberParamsOf(old)
			}
			if err == nil {
				err = change(&p)
			}
			if err == nil {
				err = p.check()
			}
			return p.entries(old), err
		})
	return p, res, err
}

// entries returns what old becomes: defaults are not written, and names of a later version stay.
func (p Params) entries(old []ipld.Entry) []ipld.Entry {
	var keep ipld.Value
	if p.Keep {
		keep = ipld.BoolValue(true)
	}
	units := func(n, without int64) ipld.Value {
		if n == without {
			return ipld.Value{}
		}
		return ipld.IntValue(n)
	}
	def := DefaultRememberParams()
	out := memory.WithEntry(old, paramDuplicate, units(p.DuplicateAbove, def.DuplicateAbove))
	out = memory.WithEntry(out, paramSimilar, units(p.SimilarFrom, def.SimilarFrom))
	return memory.WithEntry(out, paramKeep, keep)
}
