package memory

import (
	"context"

	"github.com/mnem-project/mnem/internal/fixed"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/repo"
)

const (
	// maxNearby is how many memories of the snapshot are compared with a new one.
	maxNearby = 8
	// MaxSimilar is how many are reported to resemble it.
	MaxSimilar = 8
	// oppositeAt is how alike two texts are, in units of 2^-16, of which one says the contrary of the
	// other: of two in short sentences whose only difference is a word, a half is the same.
	oppositeAt = fixed.One / 2
	// closeAt is the cosine, in the same units, from which vectors make a memory one that resembles.
	closeAt = 52_429 // .80
)

// RememberParams are what the decisions of Remember go by. They are kept with the memory.
type RememberParams struct {
	// DuplicateAbove is the likeness above which a text without a difference says the same, in units
	// of 2^-16: .90.
	DuplicateAbove int64
	// SimilarFrom is the likeness from which a memory is reported to resemble: .65.
	SimilarFrom int64
	// Keep leaves the old value of a single-valued property where it is when another is given: both
	// stay and the action is Conflict. Else the new one supersedes it.
	Keep bool
}

// DefaultRememberParams returns the parameters of a memory that has none of its own.
func DefaultRememberParams() RememberParams {
	return RememberParams{DuplicateAbove: 58_982, SimilarFrom: 42_598}
}

const (
	verbRemember   = "remember"
	paramDuplicate = "duplicateAbove"
	paramSimilar   = "similarFrom"
	paramKeep      = "keep"
)

// RememberParamsAt returns the parameters of a snapshot. One that is not valid is refused with an
// error that wraps repo.ErrInvalid; names of a later version are passed over.
func RememberParamsAt(ctx context.Context, s *repo.Snapshot) (RememberParams, error) {
	out := DefaultRememberParams()
	entries, err := verbParams(ctx, s, verbRemember)
	for _, e := range entries {
		switch {
		case e.Key == paramDuplicate && e.Value.Kind() == ipld.Int:
			out.DuplicateAbove = e.Value.Int()
		case e.Key == paramSimilar && e.Value.Kind() == ipld.Int:
			out.SimilarFrom = e.Value.Int()
		case e.Key == paramKeep && e.Value.Kind() == ipld.Bool:
			out.Keep = e.Value.Bool()
		case e.Key == paramDuplicate, e.Key == paramSimilar, e.Key == paramKeep:
			return out, invalidf("profiles.remember.%s: %s, which is not its kind", e.Key, e.Value.Kind())
		}
	}
	if err == nil {
		err = out.check()
	}
	return out, err
}

// RememberParams returns the parameters of a branch as it is now, "" for the one that HEAD is on.
func (m *Memory) RememberParams(ctx context.Context, branch string) (RememberParams, error) {
	s, err := m.head(ctx, branch)
	if err != nil {
		return RememberParams{}, err
	}
	return RememberParamsAt(ctx, s)
}

func (p RememberParams) check() error {
	switch {
	case p.SimilarFrom < 1 || p.SimilarFrom > p.DuplicateAbove:
		return invalidf("%s: %d, want 1 to %s, %d", paramSimilar, p.SimilarFrom, paramDuplicate,
			p.DuplicateAbove)
	case p.DuplicateAbove > fixed.One:
		return invalidf("%s: %d, want at most %d; that is never reached, so nothing is a duplicate",
			paramDuplicate, p.DuplicateAbove, fixed.One)
	}
	return nil
}

// SetRememberParams makes p the parameters of a branch, by one commit that changes nothing else; none
// where they are so already.
func (m *Memory) SetRememberParams(
	ctx context.Context, opt repo.CommitOptions, p RememberParams,
) (*repo.CommitResult, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	def := DefaultRememberParams()
	var entries []ipld.Entry
	if p.DuplicateAbove != def.DuplicateAbove {
		entries = append(entries, ipld.Entry{Key: paramDuplicate, Value: ipld.IntValue(p.DuplicateAbove)})
	}
	if p.SimilarFrom != def.SimilarFrom {
		entries = append(entries, ipld.Entry{Key: paramSimilar, Value: ipld.IntValue(p.SimilarFrom)})
	}
	if p.Keep {
		entries = append(entries, ipld.Entry{Key: paramKeep, Value: ipld.BoolValue(true)})
	}
	ipld.SortEntries(entries)
	return m.setVerbParams(ctx, verbRemember, entries, opt)
}
