package stage

import (
	"context"
	"fmt"
	"slices"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/retrieve"
)

// Constants of communities in ranking version 1: clause 20.2.
const (
	maxCommunitySeeds = 10  // candidates whose communities are looked at
	maxCommunities    = 3   // communities whose members join
	maxMembers        = 20  // of each that join
	maxMembersLooked  = 256 // of each that are looked at
	raisedBy          = 16  // part of a seed's score that candidates get
	firstJoins        = 4   // part of it that the first who joins gets, the next a part less
)

// joinCommunities raises the candidates in the communities that the best of them are in, brings in
// other members of these, and puts the candidates, which are in order, into order again.
func (r *run) joinCommunities(ctx context.Context) error {
	g, ok := r.g.(source.Grouped)
	if !r.req.Community || !ok || r.blank() {
		return nil
	}
	of := make(map[graph.ID]*source.Community, len(r.found)) // of the candidates
	for _, c := range r.found {
		found, err := g.Community(ctx, c.id)
		if err != nil {
			return err
		}
		of[c.id] = found
	}
	var done []int
	var changed, joined []*candidate
	for _, seed := range r.found[:min(maxCommunitySeeds, len(r.found))] {
		in := of[seed.id]
		if in == nil || slices.Contains(done, in.Number) {
			continue
		}
		if done = append(done, in.Number); len(done) > maxCommunities {
			break
		}
		for _, c := range r.found {
			if c != seed && of[c.id] != nil && of[c.id].Number == in.Number {
				c.raise(seed, in, seed.score/raisedBy)
				changed = append(changed, c)
			}
		}
		list, err := r.members(ctx, seed, in, of)
		if err != nil {
			return fmt.Errorf("members of the community of %s: %w", seed.id, err)
		}
		joined = append(joined, list...)
	}
	changed = append(changed, joined...)
	rankLast(changed)
	r.grouped = len(changed)
	r.found = append(r.found, joined...)
	slices.SortFunc(r.found, byRank)
	return nil
}

// raise adds to a candidate's score what it gets for being in a seed's community.
func (c *candidate) raise(seed *candidate, in *source.Community, by int64) {
	c.score += by
	c.lanes = append(c.lanes, retrieve.LaneHit{Lane: retrieve.LaneCommunity, Score: by})
	c.member = &retrieve.Membership{Number: in.Number, Size: len(in.Members), Seed: seed.id}
}

// members returns those members of a seed's community that join, each with less than the one
// before, and all with less than the seed. known has the candidates.
func (r *run) members(
	ctx context.Context, seed *candidate, in *source.Community, known map[graph.ID]*source.Community,
) ([]*candidate, error) {
	var out []*candidate
	for _, m := range in.Members[:min(maxMembersLooked, len(in.Members))] {
		score := seed.score / int64(len(out)+firstJoins)
		if len(out) == maxMembers || score == 0 {
			break
		}
		if _, found := known[m.ID]; found {
			continue
		}
		ok, err := r.filter.Passes(ctx, m.ID)
		if err != nil {
			return nil, err
		}
		if ok {
			c := &candidate{id: m.ID}
			c.raise(seed, in, score)
			out = append(out, c)
		}
	}
	return out, nil
}

// communityWarnings returns what an answer must say of communities.
func (r *run) communityWarnings() []retrieve.Warning {
	var out []retrieve.Warning
	if r.req.Community && r.grouped == 0 {
		out = append(out, retrieve.Warning{Code: retrieve.NoCommunity})
	}
	return out
}
