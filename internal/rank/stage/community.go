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

// joinCommunities raises the candidates in the communities that the best of them are in, brings in other members of
// these, and puts the candidates, which are in order, into order again. It returns how many it raised or brought in.
func (p *pool) joinCommunities(ctx context.Context) (grouped int, err error) {
	g, ok := p.g.(source.Grouped)
	if !p.req.Community || !ok || p.blank() {
		return grouped, nil
	}
	of := make(map[graph.ID]*source.Community, len(p.found)) // of the candidates
	for _, c := range p.found {
		found, err := g.Community(ctx, c.id)
		if err != nil {
			return 0, err
		}
		of[c.id] = found
	}
	var done []int
	var changed, joined []*candidate
	for _, seed := range p.found[:min(maxCommunitySeeds, len(p.found))] {
		in := of[seed.id]
		if in == nil || slices.Contains(done, in.Number) {
			continue
		}
		if done = append(done, in.Number); len(done) > maxCommunities {
			break
		}
		for _, c := range p.found {
			if c != seed && of[c.id] != nil && of[c.id].Number == in.Number {
				c.raise(seed, in, seed.score/raisedBy)
				changed = append(changed, c)
			}
		}
		list, err := p.members(ctx, seed, in, of)
		if err != nil {
			return 0, fmt.Errorf("members of the community of %s: %w", seed.id, err)
		}
		joined = append(joined, list...)
	}
	changed = append(changed, joined...)
	rankLast(changed)
	grouped = len(changed)
	p.found = append(p.found, joined...)
	slices.SortFunc(p.found, byRank)
	return grouped, nil
}

// raise adds to a candidate's score what it gets for being in a seed's community.
func (c *candidate) raise(seed *candidate, in *source.Community, by int64) {
	c.score += by
	c.lanes = append(c.lanes, retrieve.LaneHit{Lane: retrieve.LaneCommunity, Score: by})
	c.member = &retrieve.Membership{Number: in.Number, Size: len(in.Members), Seed: seed.id}
}

// members returns those members of a seed's community that join, each with less than the one
// before, and all with less than the seed. known has the candidates.
func (p *pool) members(
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
		ok, err := p.filter.Passes(ctx, m.ID)
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
