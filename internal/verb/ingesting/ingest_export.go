package ingesting

import (
	"context"
	"errors"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/ingest"
	"github.com/mnem-project/mnem/internal/ingest/vault"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/editing"
	"github.com/mnem-project/mnem/internal/verb/operation"
)

// ofMnem is the format of a directory that an export wrote.
const ofMnem = "mnem"

// isExport reports whether the one path that is asked for is a directory that an export wrote.
func isExport(s *verb.Service, q *IngestRequest) bool {
	if len(q.Paths) != 1 || q.Paths[0] == verb.Itself || q.Watch {
		return false
	}
	root, err := s.Host.OpenRoot(q.Paths[0])
	if err != nil {
		return false // ingest says why
	}
	defer func() { _ = root.Close() }() // only read
	info, err := root.Lstat(ingest.ExportFile)
	return err == nil && info.Mode().IsRegular()
}

func ingestExport(ctx context.Context, s *verb.Service, q *IngestRequest) (*Ingested, error) {
	root, err := s.Host.OpenRoot(q.Paths[0])
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }() // only read
	var taken ingest.Taken
	opt := s.Commit
	if opt.Message == "" {
		opt.Message = "ingest an export of mnem"
	}
	res, err := s.Repo.Commit(ctx, func(yield func(graph.Change, error) bool) {
		set, done := s.Host.Progress()
		defer done()
		snap, err := branchSnapshot(ctx, s)
		if err != nil {
			yield(graph.Change{}, err)
			return
		}
		r := &vault.NoteReader{Root: root, Stored: stored(ctx, snap), Progress: set}
		r.Taken.Skipped = make(map[string]int)
		r.Yield = func(c graph.Change) error {
			if !yield(c, nil) {
				return errEnded
			}
			return nil
		}
		err = r.Read(ctx)
		if taken = r.Taken; err != nil && !errors.Is(err, errEnded) {
			yield(graph.Change{}, err)
		}
	}, opt)
	if err != nil {
		return nil, err
	}
	committed, err := editing.CommittedOf(ctx, s, res)
	if err != nil {
		return nil, err
	}
	out := &Ingested{Committed: *committed, Records: &taken}
	if taken.Damaged > 0 {
		for _, place := range taken.Places {
			out.Files = append(out.Files, IngestedFile{Path: q.Paths[0], Action: "damaged", Why: place})
		}
		return out, &verb.News{Outcome: operation.Incomplete}
	}
	return out, nil
}
