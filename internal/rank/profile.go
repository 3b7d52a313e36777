package rank

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/merge3"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// Profiles returns the retrieval profiles of the snapshot, without the built-in ones: a copy that the caller may
// change.
func Profiles(ctx context.Context, s *core.Snapshot) (*retrieve.Profiles, error) {
	p, err := merge3.ReadProfiles(ctx, s.State.Get, s.State.Profile)
	return p.Clone(), err
}

// profiled applies the snapshot's profiles to a request.
func profiled(ctx context.Context, s *core.Snapshot, req retrieve.Request) (retrieve.Request, error) {
	if req.Settled {
		return req, nil
	}
	p, err := merge3.ReadProfiles(ctx, s.State.Get, s.State.Profile)
	if err != nil {
		return req, err
	}
	return p.Apply(req)
}

// SetProfiles changes the retrieval profiles of a branch in a commit that changes nothing else. change gets the
// profiles of the newest commit; if it fails, its error is returned and nothing written. It may be called more than
// once, each time with the current profiles. No commit is made if nothing changes. A profile that it makes or changes
// must not contradict itself: the error wraps state.ErrInvalid and a *retrieve.ProfileError.
func SetProfiles(
	ctx context.Context, r *core.Repo, change func(*retrieve.Profiles) error, opt core.CommitOptions,
) (*core.CommitResult, error) {
	if opt.Base != nil {
		return nil, state.Invalidf("a change of profiles takes no base: it is made upon the newest commit")
	}
	res := &core.CommitResult{}
	_, err := r.Transact(ctx, opt.Stamp, func(t *core.Tx) error {
		ref, head, err := t.Base(ctx, opt)
		if err != nil {
			return err
		}
		p, err := Profiles(ctx, head)
		before := p.Clone()
		if err == nil {
			err = change(p)
		}
		if err != nil {
			return err
		}
		if err := p.CheckChanged(before); err != nil {
			return fmt.Errorf("%w: %w", state.ErrInvalid, err)
		}
		next := *head.State
		if next.Profile, err = putProfiles(ctx, t, p, before); err != nil {
			return err
		}
		return t.Commit(ctx, ref, head, &next, opt, res)
	})
	if err != nil {
		return nil, err
	}
	return res, nil
}

// putProfiles stages the record of profiles, undefined for none.
func putProfiles(ctx context.Context, t *core.Tx, p, before *retrieve.Profiles) (ipld.CID, error) {
	if p.Empty() {
		return ipld.CID{}, nil
	}
	if err := p.Validate(); err != nil {
		return ipld.CID{}, fmt.Errorf("%w: %w", state.ErrInvalid, err)
	}
	return t.PutAfter(ctx, p.Encode(), func() ([]byte, error) { return before.Encode(), nil })
}

// ProfileDiff is one profile that differs.
type ProfileDiff struct {
	Name   string            `json:"name"`
	Kind   state.ChangeKind  `json:"kind" shape:"added|changed|removed"`
	Fields []state.FieldDiff `json:"fields"` // parameters by their names, and types, in order of their names
}

// ProfilesDiff lists the differences between the retrieval profiles of two snapshots.
type ProfilesDiff struct {
	Default  *state.FieldDiff  `json:"default"`          // nil if it is the same
	Fields   []state.FieldDiff `json:"fields,omitempty"` // of the record that are no profiles, as the parameters of package memory are
	Profiles []ProfileDiff     `json:"changed"`
}

// DiffProfiles returns the retrieval profiles that differ, in the order of their names, nil for none.
func DiffProfiles(ctx context.Context, d state.Diff) (*ProfilesDiff, error) {
	if d.From.Profile == d.To.Profile {
		return nil, nil
	}
	out := &ProfilesDiff{}
	var sides [2]*retrieve.Profiles
	for i, s := range []*state.State{d.From, d.To} {
		p, err := merge3.ReadProfiles(ctx, s.Get, s.Profile)
		if err != nil {
			return nil, err
		}
		sides[i] = p.Clone()
	}
	from, to := sides[0], sides[1]
	if from.Default != to.Default {
		out.Default = &state.FieldDiff{
			Field: "default", Old: optText(from.Default), New: optText(to.Default),
		}
	}
	out.Fields = profileFields(retrieve.Profile{Params: from.Extra}, retrieve.Profile{Params: to.Extra})
	for _, name := range namesOf(from.Named, to.Named) {
		before, was := from.Named[name]
		after, is := to.Named[name]
		if was && is && before.Equal(after) {
			continue
		}
		pd := ProfileDiff{Name: name, Kind: state.Changed, Fields: profileFields(before, after)}
		switch {
		case !was:
			pd.Kind = state.Added
		case !is:
			pd.Kind = state.Removed
		}
		out.Profiles = append(out.Profiles, pd)
	}
	if out.Default == nil && len(out.Fields)+len(out.Profiles) == 0 {
		return nil, nil
	}
	return out, nil
}

// namesOf returns the names in two maps, ascending.
func namesOf[T any](a, b map[string]T) []string {
	names := slices.AppendSeq(slices.Collect(maps.Keys(a)), maps.Keys(b))
	slices.Sort(names)
	return slices.Compact(names)
}

func optText(s string) *ipld.Value {
	if s == "" {
		return nil
	}
	return new(ipld.StringValue(s))
}

func profileFields(before, after retrieve.Profile) []state.FieldDiff {
	values := func(p retrieve.Profile) map[string]*ipld.Value {
		out := make(map[string]*ipld.Value)
		for _, e := range p.Params {
			out[e.Key] = &e.Value
		}
		if len(p.Types) > 0 {
			var items []ipld.Value
			for _, typ := range p.Types {
				items = append(items, ipld.StringValue(typ))
			}
			out["types"] = new(ipld.ListValue(items...))
		}
		return out
	}
	old, now := values(before), values(after)
	var out []state.FieldDiff
	for _, name := range namesOf(old, now) {
		if a, b := old[name], now[name]; a == nil || b == nil || !a.Equal(*b) {
			out = append(out, state.FieldDiff{Field: name, Old: a, New: b})
		}
	}
	return out
}
