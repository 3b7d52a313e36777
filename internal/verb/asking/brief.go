package asking

import (
	"cmp"
	"context"
	"errors"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/memory/review"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/outlining"
	"github.com/mnem-project/mnem/ipld"
)

const (
	// briefMarks and briefNodes are how many marks, and nodes that differ, a brief looks at.
	briefMarks, briefNodes = 2000, 2000
	// briefPairs and briefNewest are how many of them it names.
	briefPairs, briefNewest = 2, 3
	// briefUndecided is how many undecided pairs it names, of the briefLater newest memories: a session waits for it.
	briefUndecided, briefLater = 3, 16
	// briefTokens is the budget for news by scopes.
	briefTokens = 300
)

// BriefRequest asks for the information that an agent gets when its session begins: an answer to the request, and news.
type BriefRequest struct {
	RetrieveRequest
	Since string `op:"from" doc:"the {CID} of the commit since which things are news"`
}

// Brief is the information that an agent gets when its session begins.
type Brief struct {
	Answer       *Answer              `json:"answer"`
	Contradicted []BriefPair          `json:"contradicted"` // pairs of memories that contradict each other
	More         bool                 `json:"more"`         // whether there may be more of them
	Undecided    []BriefPair          `json:"undecided"`    // later memories, each with an earlier one that it may replace
	News         *BriefNews           `json:"news"`         // null if the commit is unknown
	Map          *outlining.MapAnswer `json:"map"`          // news by scopes, null if no digests are stored
}

// BriefPair are two memories that contradict each other, or a later and an earlier one.
type BriefPair struct {
	A NamedMemory `json:"a"`
	B NamedMemory `json:"b"`
}

// NamedMemory is a memory with its text.
type NamedMemory struct {
	ID   graph.ID `json:"id"`
	Text string   `json:"text"`
}

// BriefNews counts the changes of memories since a commit.
type BriefNews struct {
	review.Since
	Newest []NamedMemory `json:"newest"`
}

// TellBrief gives hooks the information for the start of a session. It is not a command.
var TellBrief = verb.Define(verb.Spec{
	Command: "brief", Right: verb.NoRight, Usage: "[flags]", Effect: verb.Reads, Local: true,
	Title: "Summarise the memory for the start of a session",
}, brief)

func brief(ctx context.Context, s *verb.Service, q *BriefRequest) (*Brief, error) {
	out := new(Brief)
	err := ask(ctx, s, &q.RetrieveRequest, q, func(a *Answer) error {
		out.Answer = a
		return nil
	})
	if err != nil {
		return nil, err
	}
	at, err := s.Repo.At(ctx, out.Answer.Commit)
	if err != nil {
		return nil, err
	}
	pairs, more, err := review.Contradictions(ctx, at, briefMarks, briefPairs)
	if err != nil {
		return nil, err
	}
	out.More = more
	for _, p := range pairs {
		out.Contradicted = append(out.Contradicted, BriefPair{named(p[0]), named(p[1])})
	}
	if q.Since == "" {
		return out, nil
	}
	c, err := ipld.ParseCID(q.Since)
	if err != nil {
		return nil, verb.Bad("from", "%w", err)
	}
	from, err := s.Repo.At(ctx, c)
	if errors.Is(err, store.ErrNotFound) {
		return out, nil // collected, or of another repository
	}
	if err != nil {
		return nil, err
	}
	undecided, err := review.UndecidedSince(ctx, from, at, briefLater, briefUndecided)
	if err != nil {
		return nil, err
	}
	for _, p := range undecided {
		out.Undecided = append(out.Undecided, BriefPair{named(p.Later), named(p.Earlier)})
	}
	since, err := review.ChangedSince(ctx, from, at, briefNodes, briefNewest)
	if err != nil {
		return nil, err
	}
	out.News = &BriefNews{Since: *since}
	for _, n := range since.Newest {
		out.News.Newest = append(out.News.Newest, named(n))
	}
	out.Map, err = outlining.NewsOf(ctx, from, at, briefTokens)
	return out, err
}

func named(n *graph.Node) NamedMemory { return NamedMemory{n.ID, cmp.Or(n.Summary, n.Key)} }
