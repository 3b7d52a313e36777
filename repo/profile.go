package repo

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
	"github.com/mnem-project/mnem/store"
)

// readProfiles reads a record of profiles; an undefined c gives none, which is nil.
func readProfiles(
	ctx context.Context, get store.Getter, c ipld.CID,
) (*retrieve.Profiles, error) {
	if !c.Defined() {
		return nil, nil
	}
	block, err := get.Get(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("read profiles: %w", err)
	}
	p, err := retrieve.DecodeProfiles(block)
	if err != nil {
		err = fmt.Errorf("read profiles %s: %w: %w", c, store.ErrCorrupt, err)
	}
	return p, err
}

// Profiles returns the retrieval profiles that the snapshot has beside the built-in ones: a copy
// that the caller may change.
func (s *Snapshot) Profiles(ctx context.Context) (*retrieve.Profiles, error) {
	p, err := readProfiles(ctx, s.state.get, s.state.profile)
	return p.Clone(), err
}

// Resolve returns a request as Retrieve runs it here: what it leaves open taken from the profile
// that fits (see retrieve.Profiles.Apply), and else at its default. Names to exclude stay names.
func (s *Snapshot) Resolve(ctx context.Context, req retrieve.Request) (retrieve.Request, error) {
	req, err := s.profiled(ctx, req)
	return req.Resolve(), err
}

// profiled applies the snapshot's profiles to a request.
func (s *Snapshot) profiled(
	ctx context.Context, req retrieve.Request,
) (retrieve.Request, error) {
	if req.Settled {
		return req, nil
	}
	p, err := readProfiles(ctx, s.state.get, s.state.profile)
	if err != nil {
		return req, err
	}
	return p.Apply(req)
}

// SetProfiles changes the retrieval profiles of a branch by one commit, which changes nothing else.
// change is given those of the newest commit; its error is returned, and nothing written. It may be
// called more than once, each time with what is there then. What leaves everything as it is makes
// no commit. A profile that it makes or changes must not contradict itself: the error wraps
// ErrInvalid and a *retrieve.ProfileError.
func (r *Repo) SetProfiles(
	ctx context.Context, change func(*retrieve.Profiles) error, opt CommitOptions,
) (*CommitResult, error) {
	if opt.Base != nil {
		return nil, invalidf("a change of profiles takes no base: it is made upon the newest commit")
	}
	res := &CommitResult{}
	_, err := r.transact(ctx, opt.Stamp, func(t *tx) error {
		ref, head, err := t.base(ctx, opt)
		if err != nil {
			return err
		}
		p, err := head.Profiles(ctx)
		before := p.Clone()
		if err == nil {
			err = change(p)
		}
		if err != nil {
			return err
		}
		if err := p.CheckChanged(before); err != nil {
			return fmt.Errorf("%w: %w", ErrInvalid, err)
		}
		next := *head.state
		if next.profile, err = t.putProfiles(ctx, p, before); err != nil {
			return err
		}
		return t.commit(ctx, ref, head, &next, opt, res)
	})
	if err != nil {
		return nil, err
	}
	return res, nil
}

// putProfiles stages the record of profiles, undefined for none.
func (t *tx) putProfiles(ctx context.Context, p, before *retrieve.Profiles) (ipld.CID, error) {
	if p.Empty() {
		return ipld.CID{}, nil
	}
	if err := p.Validate(); err != nil {
		return ipld.CID{}, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	return t.putAfter(ctx, p.Encode(), func() ([]byte, error) { return before.Encode(), nil })
}

// ProfileDiff is one profile that differs.
type ProfileDiff struct {
	Name   string
	Kind   ChangeKind
	Fields []FieldDiff // parameters by their names, and types, in order of their names
}

// ProfilesDiff is what differs between the retrieval profiles of two snapshots.
type ProfilesDiff struct {
	Default  *FieldDiff  // nil where it is the same
	Fields   []FieldDiff // of the record that are no profiles, as the parameters of package memory are
	Profiles []ProfileDiff
}

// Zero reports whether nothing differs.
func (d ProfilesDiff) Zero() bool {
	return d.Default == nil && len(d.Fields) == 0 && len(d.Profiles) == 0
}

// Profiles returns the retrieval profiles that differ, in the order of their names.
func (d Diff) Profiles(ctx context.Context) (ProfilesDiff, error) {
	var out ProfilesDiff
	if d.from.profile == d.to.profile {
		return out, nil
	}
	var sides [2]*retrieve.Profiles
	for i, s := range []*state{d.from, d.to} {
		p, err := readProfiles(ctx, s.get, s.profile)
		if err != nil {
			return out, err
		}
		sides[i] = p.Clone()
	}
	from, to := sides[0], sides[1]
	if from.Default != to.Default {
		out.Default = &FieldDiff{
			Field: "default", Old: optText(from.Default), New: optText(to.Default),
		}
	}
	out.Fields = profileFields(retrieve.Profile{Params: from.Extra}, retrieve.Profile{Params: to.Extra})
	names := slices.Collect(maps.Keys(from.Named))
	names = slices.AppendSeq(names, maps.Keys(to.Named))
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		before, was := from.Named[name]
		after, is := to.Named[name]
		if was && is && before.Equal(after) {
			continue
		}
		pd := ProfileDiff{Name: name, Kind: Changed, Fields: profileFields(before, after)}
		switch {
		case !was:
			pd.Kind = Added
		case !is:
			pd.Kind = Removed
		}
		out.Profiles = append(out.Profiles, pd)
	}
	return out, nil
}

func optText(s string) *ipld.Value {
	if s == "" {
		return nil
	}
	return new(ipld.StringValue(s))
}

// profileFields compares two profiles.
func profileFields(before, after retrieve.Profile) []FieldDiff {
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
	names := slices.Collect(maps.Keys(old))
	names = slices.AppendSeq(names, maps.Keys(now))
	slices.Sort(names)
	var out []FieldDiff
	for _, name := range slices.Compact(names) {
		if a, b := old[name], now[name]; a == nil || b == nil || !a.Equal(*b) {
			out = append(out, FieldDiff{Field: name, Old: a, New: b})
		}
	}
	return out
}

// profile merges the retrieval profiles.
func (m *stateMerge) profile() error {
	base, ours, theirs := m.base.profile, m.ours.profile, m.theirs.profile
	switch {
	case ours == theirs, theirs == base:
		m.out.profile = ours
		return nil
	case ours == base:
		m.out.profile = theirs
		return nil
	}
	v, err := m.profileVersions()
	if err != nil {
		return err
	}
	merged, fields := retrieve.MergeProfiles(v, m.take())
	if len(fields) > 0 {
		item := graph.Item{Kind: graph.ProfileItem}
		con := &commit.Conflict{
			Item: item, Cause: graph.EditEdit, Base: base, Ours: ours, Theirs: theirs,
		}
		if !base.Defined() {
			con.Cause = graph.AddAdd
		}
		con.SetFields(fields)
		m.conflicts[item] = con
		if err := m.keepBase(base); err != nil {
			return err
		}
	}
	m.out.profile, err = putMerged(m.ctx, m.stage, merged)
	return err
}

func (m *stateMerge) profileVersions() (v retrieve.ProfileVersions, err error) {
	if v.Base, err = readProfiles(m.ctx, m.base.get, m.base.profile); err != nil {
		return v, err
	}
	if v.Ours, err = readProfiles(m.ctx, m.ours.get, m.ours.profile); err != nil {
		return v, err
	}
	v.Theirs, err = readProfiles(m.ctx, m.theirs.get, m.theirs.profile)
	return v, err
}

// putMerged stages merged profiles, nil being none.
func putMerged(
	ctx context.Context, stage *store.Stage, p *retrieve.Profiles,
) (ipld.CID, error) {
	if p.Empty() {
		return ipld.CID{}, nil
	}
	b := store.NewBlock(ipld.DagCBOR, p.Encode())
	return b.CID, stage.Put(ctx, b)
}

// decideProfile returns what profiles in conflict become by taking a side.
func (r *resolver) decideProfile(c *commit.Conflict, take graph.Take) (ipld.CID, error) {
	var v retrieve.ProfileVersions
	for _, side := range []struct {
		c  ipld.CID
		to **retrieve.Profiles
	}{{c.Base, &v.Base}, {c.Ours, &v.Ours}, {c.Theirs, &v.Theirs}} {
		var err error
		if *side.to, err = readProfiles(r.ctx, r.stage, side.c); err != nil {
			return ipld.CID{}, err
		}
	}
	merged, _ := retrieve.MergeProfiles(v, take)
	return putMerged(r.ctx, r.stage, merged)
}

// resolveProfile puts what profiles in conflict were resolved to in their place.
func (r *resolver) resolveProfile() error {
	item := graph.Item{Kind: graph.ProfileItem}
	if r.conflicts[item] != nil {
		r.profile = r.records[item]
	}
	return nil
}

// itemFields returns the fields of an item's record as they are shown.
func itemFields(item graph.Item, record []byte) (map[string]ipld.Value, error) {
	if item.Kind != graph.ProfileItem {
		return fieldsOf(record)
	}
	p, err := retrieve.DecodeProfiles(record)
	return p.Fields(), err
}

// profiles checks the record of profiles that a state has.
func (f *fsck) profiles(s *state) {
	if _, err := readProfiles(f.ctx, f.repo.facts(), s.profile); err != nil {
		f.fail(s.profile, FsckRecord, err)
	}
}
