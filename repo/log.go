package repo

import (
	"context"
	"iter"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/ipld"
)

// LogEntry is one commit of a history and what it changed against its first parent.
type LogEntry struct {
	CID    ipld.CID
	Commit *commit.Commit
	Nodes  Counts
	Edges  Counts
}

// Log yields the commits that a revision reaches, newest first, no commit before one of its
// children.
func (r *Repo) Log(ctx context.Context, rev string) iter.Seq2[LogEntry, error] {
	return func(yield func(LogEntry, error) bool) {
		from, err := r.Resolve(ctx, rev)
		if err != nil {
			yield(LogEntry{}, err)
			return
		}
		for rec, err := range commit.History(ctx, r.facts(), from) {
			var e LogEntry
			if err == nil {
				e, err = r.logEntry(ctx, rec.CID, rec.Commit)
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

func (r *Repo) logEntry(ctx context.Context, c ipld.CID, rec *commit.Commit) (LogEntry, error) {
	e := LogEntry{CID: c, Commit: rec}
	var parent ipld.CID
	if len(rec.Parents) > 0 {
		parent = rec.Parents[0]
	}
	before, err := r.At(ctx, parent)
	if err != nil {
		return e, err
	}
	after, err := r.At(ctx, c)
	if err != nil {
		return e, err
	}
	e.Nodes, e.Edges, err = before.Diff(after).Count(ctx)
	return e, err
}
