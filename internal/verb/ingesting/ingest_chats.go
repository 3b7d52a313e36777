package ingesting

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/plain"
	"github.com/mnem-project/mnem/internal/base/regular"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/ingest"
	"github.com/mnem-project/mnem/internal/ingest/chats"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/editing"
	"github.com/mnem-project/mnem/internal/verb/operation"
)

// chatFile is a file of another program.
type chatFile struct {
	name string
	open func() (io.ReadCloser, error)
}

// chatRun is one run that takes in what another program wrote.
type chatRun struct {
	service *verb.Service
	asked   *IngestRequest
	roots   []*os.Root
	files   []chatFile
	redact  *ingest.Redactor

	counts ingest.Taken
	left   []IngestedFile
}

func ingestChats(ctx context.Context, s *verb.Service, q *IngestRequest) (*Ingested, error) {
	own, err := s.Host.OpenRoot("")
	if err != nil {
		return nil, err
	}
	run := &chatRun{service: s, asked: q, roots: []*os.Root{own}}
	defer func() {
		for _, root := range run.roots {
			_ = root.Close() // only read
		}
	}()
	run.redact = &ingest.Redactor{
		Allow: q.AllowSecret, Key: redactKey(filepath.Join(own.Name(), core.DirName), s.DryRun),
	}
	for _, arg := range q.Paths {
		if err := run.find(ctx, arg); err != nil {
			return nil, err
		}
	}
	opt := s.Commit
	if opt.Message == "" {
		opt.Message = fmt.Sprintf("ingest %s of %s", plain.Plural(len(run.files), "file"), q.From)
	}
	res, err := s.Repo.Commit(ctx, run.changes(ctx), opt)
	if err != nil {
		return nil, err
	}
	committed, err := editing.CommittedOf(ctx, s.Repo, res, s.DryRun, s.Human)
	if err != nil {
		return nil, err
	}
	out := &Ingested{Committed: *committed, Records: &run.counts, Files: run.left}
	for _, f := range run.left {
		if f.Action == "failed" {
			out.Documents.Failed++
		}
	}
	if out.Documents.Failed > 0 || run.counts.Damaged > 0 {
		return out, &verb.News{Outcome: operation.Invalid}
	}
	return out, nil
}

// find finds the files of a path: of a directory those with the ending that such files have.
func (run *chatRun) find(ctx context.Context, arg string) error {
	host := run.service.Host
	if arg == verb.Itself {
		run.files = append(run.files, chatFile{"-", func() (io.ReadCloser, error) {
			in, err := host.Read(ctx, verb.Itself)
			if err != nil {
				return nil, err
			}
			return spooled{io.NewSectionReader(in, 0, in.Size), in}, nil
		}})
		return nil
	}
	root, err := host.OpenRoot(arg)
	if err == nil {
		run.roots = append(run.roots, root)
		return run.walk(ctx, root, arg)
	}
	up, upErr := host.OpenRoot(filepath.Dir(arg))
	if upErr != nil {
		return err
	}
	run.roots = append(run.roots, up)
	info, err := up.Stat(filepath.Base(arg))
	if err != nil {
		return fmt.Errorf("%s: no such file or directory", arg)
	}
	if err := regular.Check(arg, info); err != nil {
		return err
	}
	run.add(up, filepath.Base(arg), arg)
	return nil
}

func (run *chatRun) walk(ctx context.Context, root *os.Root, arg string) error {
	ending := ".json"
	switch run.asked.From {
	case "claude-code", "codex", "server-memory":
		ending = ".jsonl"
	}
	return fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil {
			err = ctx.Err()
		}
		if err == nil && d.Type().IsRegular() && strings.HasSuffix(name, ending) {
			run.add(root, filepath.FromSlash(name), filepath.Join(arg, filepath.FromSlash(name)))
		}
		return err
	})
}

func (run *chatRun) add(root *os.Root, name, shown string) {
	run.files = append(run.files, chatFile{shown, func() (io.ReadCloser, error) { return regular.OpenIn(root, name) }})
}

// spooled is standard input.
type spooled struct {
	*io.SectionReader
	file *verb.File
}

func (s spooled) Close() error {
	s.file.Close()
	return nil
}

// errEnded ends the reading of a file where no more changes are wanted.
var errEnded = errors.New("no more changes are wanted")

// changes reads all files, one record at a time.
func (run *chatRun) changes(ctx context.Context) state.Changes {
	return func(yield func(graph.Change, error) bool) {
		set, done := run.service.Host.Progress()
		defer done()
		run.counts, run.left = ingest.Taken{Skipped: map[string]int{}}, nil
		seen := make(map[graph.ID]bool)
		for i, f := range run.files {
			taker := &ingest.Taker{Format: run.asked.From, Redact: run.redact, Seen: seen}
			taker.Yield = func(c graph.Change) error {
				if err := ctx.Err(); err != nil {
					return err
				}
				set("files:", i, len(run.files))
				if !yield(c, nil) {
					return errEnded
				}
				return nil
			}
			err := run.read(f, taker)
			switch {
			case errors.Is(err, errEnded):
				return
			case errors.Is(err, chats.ErrFormat), errors.Is(err, fs.ErrPermission), errors.Is(err, fs.ErrNotExist):
				run.left = append(run.left, IngestedFile{Path: f.name, Action: "failed", Why: err.Error()})
				continue
			case err != nil:
				yield(graph.Change{}, fmt.Errorf("%s: %w", f.name, err))
				return
			}
			run.note(f, &taker.Taken)
		}
	}
}

func (run *chatRun) read(f chatFile, taker *ingest.Taker) error {
	in, err := f.open()
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // only read
	return chats.Read(run.asked.From, in, taker)
}

// note adds what was read of a file.
func (run *chatRun) note(f chatFile, t *ingest.Taken) {
	n := &run.counts
	n.Sessions += t.Sessions
	n.Turns += t.Turns
	n.Memories += t.Memories
	n.Relations += t.Relations
	n.Redacted += t.Redacted
	n.Damaged += t.Damaged
	for why, times := range t.Skipped {
		n.Skipped[why] += times
	}
	if t.Damaged > 0 {
		run.left = append(run.left, IngestedFile{
			Path: f.name, Action: "damaged", Why: strings.Join(t.Places, ", "),
		})
	}
}
