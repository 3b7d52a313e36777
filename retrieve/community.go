package retrieve

import (
	"context"
	"fmt"
	"slices"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/view/community"
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

// LaneCommunity is the list of the members of seeds' communities: the score is what that adds.
const LaneCommunity Lane = "community"

// Grouped is the ability of a Graph whose communities are known.
type Grouped interface {
	// Community returns the community that a node is in, nil where it is in none.
	Community(ctx context.Context, id graph.ID) (*Community, error)
}

// Community is a set of nodes that edges hold together: clause 20.1. It must not be changed.
type Community struct {
	Number  int // from 0, of all communities of the graph
	Members []community.Member
}

// Membership says which community raised an item, or brought it in.
type Membership struct {
	Number int      // of the community
	Size   int      // its members
	Seed   graph.ID // the best candidate in it
}

// joinCommunities raises the candidates in the communities that the best of them are in, brings in
// other members of these, and puts the candidates, which are in order, into order again.
func (r *run) joinCommunities(ctx context.Context) error {
	g, ok := r.g.(Grouped)
	if !r.req.Community || !ok || r.blank() {
		return nil
	}
	of := make(map[graph.ID]*Community, len(r.found)) // of the candidates
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
func (c *candidate) raise(seed *candidate, in *Community, by int64) {
	c.score += by
	c.lanes = append(c.lanes, LaneHit{Lane: LaneCommunity, Score: by})
	c.member = &Membership{in.Number, len(in.Members), seed.id}
}

// members returns those members of a seed's community that join, each with less than the one
// before, and all with less than the seed. known has the candidates.
func (r *run) members(
	ctx context.Context, seed *candidate, in *Community, known map[graph.ID]*Community,
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
		ok, err := r.filter.passes(ctx, m.ID)
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
func (r *run) communityWarnings() []Warning {
	var out []Warning
	if r.req.Community && r.grouped == 0 {
		out = append(out, Warning{Code: NoCommunity})
	}
	return out
}
