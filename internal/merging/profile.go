package merging

import (
	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/merge3"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// decideProfile returns what profiles in conflict become by taking a side.
func (r *resolver) decideProfile(c *commit.Conflict, take graph.Take) (ipld.CID, error) {
	var v retrieve.ProfileVersions
	for _, side := range []struct {
		c  ipld.CID
		to **retrieve.Profiles
	}{{c.Base, &v.Base}, {c.Ours, &v.Ours}, {c.Theirs, &v.Theirs}} {
		var err error
		if *side.to, err = merge3.ReadProfiles(r.Ctx, r.Stage, side.c); err != nil {
			return ipld.CID{}, err
		}
	}
	merged, _ := retrieve.MergeProfiles(v, take)
	return merge3.PutMerged(r.Ctx, r.Stage, merged)
}

// resolveProfile puts what profiles in conflict were resolved to in their place.
func (r *resolver) resolveProfile() error {
	item := graph.Item{Kind: graph.ProfileItem}
	if r.conflicts[item] != nil {
		r.Profile = r.records[item]
	}
	return nil
}
