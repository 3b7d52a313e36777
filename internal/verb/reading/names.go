package reading

import (
	"context"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/rank"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/retrieve"
)

// NamesRequest asks what a word of a command line may be.
type NamesRequest struct {
	Kind   string `op:",arg,required" enum:"rev branch stage session tag profile" doc:"what the word is, as the tag complete of a field says"`
	Prefix string `op:",arg" doc:"how the word begins"`
}

// NamesAnswer are the words, in no order.
type NamesAnswer struct {
	Names []string `json:"names"`
}

// Names completes command lines. It is no command of its own.
var Names = verb.Define(verb.Spec{
	Command: "names", Right: verb.NoRight, Usage: "KIND [PREFIX]", Effect: verb.Reads, Local: true,
	Title: "List what completes a word of a command line",
}, names)

func names(ctx context.Context, s *verb.Service, q *NamesRequest) (*NamesAnswer, error) {
	all, err := namesOf(ctx, s.Repo, q.Kind)
	if err != nil {
		return nil, err
	}
	out := &NamesAnswer{Names: []string{}}
	for _, name := range all {
		if strings.HasPrefix(name, q.Prefix) {
			out.Names = append(out.Names, name)
		}
	}
	return out, nil
}

func namesOf(ctx context.Context, r *core.Repo, kind string) ([]string, error) {
	switch kind {
	case "branch":
		return refNames(ctx, r, graph.Heads)
	case "stage":
		return refNames(ctx, r, graph.Stages)
	case "session":
		return refNames(ctx, r, graph.Sessions)
	case "tag":
		return refNames(ctx, r, graph.Tags)
	case "rev":
		names, err := refNames(ctx, r, graph.Heads, graph.Tags)
		if err != nil {
			return nil, err
		}
		brought, err := refNames(ctx, r, graph.Imported)
		for _, name := range brought {
			names = append(names, strings.TrimPrefix(graph.Imported, "refs/")+name)
		}
		return append([]string{string(graph.Head)}, names...), err
	case "profile":
		at, err := r.Snapshot(ctx, string(graph.Head))
		if err != nil {
			return retrieve.BuiltinProfiles(), nil
		}
		p, err := rank.Profiles(ctx, at)
		return p.Names(), err
	}
	return nil, verb.Bad("kind", "%q is none of rev, branch, stage, session, tag, profile", kind)
}

func refNames(ctx context.Context, r *core.Repo, namespaces ...string) ([]string, error) {
	refs, err := r.Refs(ctx)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, ref := range refs {
		for _, ns := range namespaces {
			if name, ok := strings.CutPrefix(string(ref.Name), ns); ok {
				names = append(names, name)
			}
		}
	}
	return names, nil
}
