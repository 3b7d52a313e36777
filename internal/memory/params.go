package memory

import (
	"context"
	"fmt"
	"slices"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/rank"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// Parameters of the verbs, as thresholds are, live in the commit's record of profiles, in a field of the record under
// the name of the verb: a map of name to value. So they are versioned, branched, merged, reverted and exported with the
// memory, and those of one verb merge apart from those of another. A memory that has none has the defaults.

// VerbParams returns the parameters of a verb at a snapshot, in canonical order; nil for none.
func VerbParams(ctx context.Context, s *core.Snapshot, verb string) ([]ipld.Entry, error) {
	p, err := rank.Profiles(ctx, s)
	if err != nil {
		return nil, err
	}
	return ParamsIn(p, verb)
}

// ParamsIn returns the parameters of a verb in a record of profiles.
func ParamsIn(p *retrieve.Profiles, verb string) ([]ipld.Entry, error) {
	v, ok := ipld.FindEntry(p.Extra, verb)
	if !ok {
		return nil, nil
	}
	if v.Kind() != ipld.Map {
		return nil, graph.Fieldf("profiles."+verb, "%s, want a map", v.Kind())
	}
	return v.Entries(), nil
}

// ChangeVerbParams makes the parameters of a verb what change makes of those that the newest commit of the branch has,
// nil for the defaults, by one commit that changes nothing else; none if they are so already. Nothing can come between
// reading and writing, so that of two who change different ones at once both are heeded.
func ChangeVerbParams(
	ctx context.Context, r *core.Repo, verb string, opt core.CommitOptions,
	change func(old []ipld.Entry, unreadable error) ([]ipld.Entry, error),
) (*core.CommitResult, error) {
	res, err := rank.SetProfiles(ctx, r, func(p *retrieve.Profiles) error {
		entries, err := change(ParamsIn(p, verb))
		if err != nil {
			return err
		}
		p.Extra = slices.DeleteFunc(p.Extra, func(e ipld.Entry) bool { return e.Key == verb })
		if len(entries) > 0 {
			p.Extra = append(p.Extra, ipld.Entry{Key: verb, Value: ipld.MapValue(entries...)})
			ipld.SortEntries(p.Extra)
		}
		return nil
	}, opt)
	if err != nil {
		err = fmt.Errorf("set the parameters of %s: %w", verb, err)
	}
	return res, err
}

// WithEntry returns entries with one name taken out, and put in again unless v is the zero value.
// What this version does not know stays.
func WithEntry(entries []ipld.Entry, name string, v ipld.Value) []ipld.Entry {
	out := slices.DeleteFunc(slices.Clone(entries), func(e ipld.Entry) bool { return e.Key == name })
	if v.Kind() != ipld.Null {
		out = append(out, ipld.Entry{Key: name, Value: v})
		ipld.SortEntries(out)
	}
	return out
}
