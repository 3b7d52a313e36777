package branching

import (
	"context"
	"fmt"
	"slices"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/history"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/reading"
	"github.com/mnem-project/mnem/ipld"
)

// BlameRequest asks who last set the fields of a node.
type BlameRequest struct {
	Node  string   `op:",arg,required,remote" doc:"a node by key, id, at least 4 digits of an id, or exact title"`
	Field []string `op:",remote" doc:"print this {FIELD} alone, as summary or props.NAME" note:" (repeatable)"`
	Git   bool     `op:"" doc:"name the commit that HEAD of the git work tree was at then, as git's log tells"`
	verb.AtRevision
}

// NamesGit reports whether to name commits of git.
func (q *BlameRequest) NamesGit() bool { return q.Git }

// Blamed tells for each field of a node which commit last set it.
type Blamed struct {
	ID     graph.ID      `json:"id"`
	Key    verb.Text     `json:"key"`
	Fields []BlamedField `json:"fields"`
}

// BlamedField is one field and the commit that last set it.
type BlamedField struct {
	Field  string     `json:"field"`
	Commit ipld.CID   `json:"commit"`
	Author string     `json:"author"`
	Agent  verb.Text  `json:"agent"`
	Time   graph.Time `json:"time"`
	Git    *verb.Text `json:"git,omitempty"` // where --git asks for it: what HEAD of git was at

	Message string `json:"_message,omitempty"` // of the commit
}

// Blame tells who last set each field of a node.
var Blame = verb.Define(verb.Spec{
	Command: "blame", Right: verb.NoRight, Confined: true, Usage: "NODE [flags]", Group: "read", Effect: verb.Reads, Pure: true,
	Title: "Show who last set each field of a node, and when",
	Doc: "For each field and property of a node at --at, and for its mark, print the commit that last set\n" +
		"it, with author, agent and time. A merge counts as setting a value only if none of its parents has\n" +
		"it. 'mnem log NODE' lists every commit that touched the node.",
	Example: "  mnem blame alice\n  mnem blame alice --field summary --field props.team\n" +
		"  mnem blame alice --at HEAD~1 --json",
}, func(ctx context.Context, s *verb.Service, q *BlameRequest) (*Blamed, error) {
	snap, err := s.At(ctx, q.At)
	if err != nil {
		return nil, err
	}
	id, err := reading.Visible{Snapshot: snap}.Find(ctx, q.Node)
	if err != nil {
		return nil, err
	}
	n, at, err := snap.Node(ctx, id)
	if err == nil {
		err = reading.Redacted(ctx, snap, at)
	}
	if err != nil {
		return nil, err
	}
	found, err := history.Blame(ctx, snap, id)
	if err == nil {
		found, err = pickFields(found, q.Field)
	}
	out := &Blamed{ID: id, Key: verb.Text(n.Key)}
	for _, b := range found {
		rec := b.Commit
		f := BlamedField{Field: b.Field, Commit: b.CID, Author: rec.Author, Agent: verb.Text(rec.Agent), Time: rec.Time}
		if s.Human && err == nil {
			f.Message, err = s.Repo.Message(ctx, rec.Message)
		}
		out.Fields = append(out.Fields, f)
	}
	if err != nil {
		return nil, err
	}
	return out, nil
})

// pickFields leaves the fields that were asked for, in their order; all for none.
func pickFields(all []history.FieldBlame, only []string) ([]history.FieldBlame, error) {
	if len(only) == 0 {
		return all, nil
	}
	var out []history.FieldBlame
	for _, name := range only {
		at := slices.IndexFunc(all, func(b history.FieldBlame) bool { return b.Field == name })
		if at < 0 {
			return nil, fmt.Errorf("blame: %w", &state.NotFoundError{What: "field", Name: name})
		}
		out = append(out, all[at])
	}
	return out, nil
}
