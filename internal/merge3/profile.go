package merge3

import (
	"context"
	"fmt"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// ReadProfiles reads a record of profiles; an undefined c gives nil.
func ReadProfiles(
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

// profile merges the retrieval profiles.
func (m *StateMerge) profile() error {
	base, ours, theirs := m.Base.Profile, m.Ours.Profile, m.Theirs.Profile
	switch {
	case ours == theirs, theirs == base:
		m.out.Profile = ours
		return nil
	case ours == base:
		m.out.Profile = theirs
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
	m.out.Profile, err = PutMerged(m.Ctx, m.Stage, merged)
	return err
}

func (m *StateMerge) profileVersions() (v retrieve.ProfileVersions, err error) {
	if v.Base, err = ReadProfiles(m.Ctx, m.Base.Get, m.Base.Profile); err != nil {
		return v, err
	}
	if v.Ours, err = ReadProfiles(m.Ctx, m.Ours.Get, m.Ours.Profile); err != nil {
		return v, err
	}
	v.Theirs, err = ReadProfiles(m.Ctx, m.Theirs.Get, m.Theirs.Profile)
	return v, err
}

// PutMerged stages merged profiles; nil is none.
func PutMerged(
	ctx context.Context, stage *store.Stage, p *retrieve.Profiles,
) (ipld.CID, error) {
	if p.Empty() {
		return ipld.CID{}, nil
	}
	b := store.NewBlock(ipld.DagCBOR, p.Encode())
	return b.CID, stage.Put(ctx, b)
}
