package ingesting

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/agent/capture"
	"github.com/mnem-project/mnem/internal/base/plain"
	"github.com/mnem-project/mnem/internal/base/regular"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/ingest"
	"github.com/mnem-project/mnem/internal/ingest/chats"
	"github.com/mnem-project/mnem/internal/ingest/vault"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/editing"
	"github.com/mnem-project/mnem/internal/verb/operation"
	"github.com/mnem-project/mnem/ipld"
)

type chatFile struct {
	name string
	open func() (io.ReadCloser, error)
}

type chatRun struct {
	service *verb.Service
	asked   *IngestRequest
	roots   []*os.Root
	files   []chatFile
	input   *verb.File // standard input, nil unless it is read
	redact  *ingest.Redactor

	passed map[string]int // files of directories that were left out, by their names
	counts ingest.Taken
	left   []IngestedFile
}

func ingestChats(ctx context.Context, s *verb.Service, q *IngestRequest) (*Ingested, error) {
	if q.From == ofMnem {
		return ingestExport(ctx, s, q)
	}
	own, err := s.Host.OpenRoot("")
	if err != nil {
		return nil, err
	}
	run := &chatRun{service: s, asked: q, roots: []*os.Root{own}, passed: make(map[string]int)}
	defer func() {
		for _, root := range run.roots {
			_ = root.Close() // only read
		}
		if run.input != nil {
			run.input.Close()
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
	// Names of files begin with their times where one conversation may be made of another.
	slices.SortStableFunc(run.files, func(a, b chatFile) int {
		return strings.Compare(filepath.Base(a.name), filepath.Base(b.name))
	})
	opt := s.Commit
	if opt.Message == "" {
		opt.Message = fmt.Sprintf("ingest %s of %s", plain.Plural(len(run.files), "file"), q.From)
	}
	res, err := s.Repo.Commit(ctx, run.changes(ctx), opt)
	if err != nil {
		return nil, err
	}
	committed, err := editing.CommittedOf(ctx, s, res)
	if err != nil {
		return nil, err
	}
	out := &Ingested{Committed: *committed, Records: &run.counts, Files: run.left}
	for _, f := range run.left {
		if f.Action == "failed" {
			out.Documents.Failed++
		}
	}
	switch {
	case out.Documents.Failed > 0:
		return out, &verb.News{Outcome: operation.Invalid}
	case run.counts.Damaged > 0:
		return out, &verb.News{Outcome: operation.Incomplete}
	}
	return out, nil
}

// find finds the files of a path: of a directory those with the ending that such files have.
func (run *chatRun) find(ctx context.Context, arg string) error {
	if arg == verb.Itself {
		in, err := run.service.Host.Read(ctx, verb.Itself) // now, while no writer waits for who sends it
		if err != nil {
			return err
		}
		run.input = in
		run.files = append(run.files, chatFile{"-", func() (io.ReadCloser, error) {
			return io.NopCloser(io.NewSectionReader(in, 0, in.Size)), nil
		}})
		return nil
	}
	if slices.Contains(strings.Split(filepath.ToSlash(arg), "/"), core.DirName) {
		return verb.Usagef("%s is a part of a repository, with its keys", arg)
	}
	root, base, err := openPath(run.service.Host, arg)
	if err != nil {
		return err
	}
	if run.roots = append(run.roots, root); base == "." {
		return run.walk(ctx, root, arg)
	}
	run.add(root, base, arg)
	return nil
}

// walk finds the files of a directory that may be of the format, but never in a repository.
func (run *chatRun) walk(ctx context.Context, root *os.Root, arg string) error {
	return fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil {
			err = ctx.Err()
		}
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == core.DirName:
			return fs.SkipDir
		case !d.Type().IsRegular():
			return nil
		}
		wants, left := chats.Wants(run.asked.From, name)
		if wants {
			run.add(root, filepath.FromSlash(name), filepath.Join(arg, filepath.FromSlash(name)))
		} else if left != "" {
			run.passed[left]++
		}
		return nil
	})
}

func (run *chatRun) add(root *os.Root, name, shown string) {
	run.files = append(run.files, chatFile{shown, func() (io.ReadCloser, error) {
		f, err := regular.OpenIn(root, name)
		if err != nil {
			return nil, err
		}
		return &besideFile{f, root, name}, nil
	}})
}

// besideFile is a file that can open those next to it: a database has a part of its rows there.
type besideFile struct {
	*os.File
	root *os.Root
	name string
}

// Next opens the file with that ending, nil if there is none.
func (f *besideFile) Next(ending string) (chats.SizedFile, error) {
	other, err := regular.OpenIn(f.root, f.name+ending)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	info, err := other.Stat()
	if err != nil {
		_ = other.Close() // nothing was read
		return nil, err
	}
	return &sizedFile{other, info.Size()}, nil
}

type sizedFile struct {
	*os.File
	size int64
}

func (f *sizedFile) Size() int64 { return f.size }

// errEnded ends the reading of a file if no more changes are wanted.
var errEnded = errors.New("no more changes are wanted")

func (run *chatRun) changes(ctx context.Context) state.Changes {
	return func(yield func(graph.Change, error) bool) {
		set, done := run.service.Host.Progress()
		defer done()
		run.counts, run.left = ingest.Taken{Skipped: maps.Clone(run.passed)}, nil
		snap, err := branchSnapshot(ctx, run.service)
		if err != nil {
			yield(graph.Change{}, err)
			return
		}
		seen := make(map[graph.ID]bool)
		for i, f := range run.files {
			taker := &ingest.Taker{Format: run.asked.From, Redact: run.redact, Seen: seen, Stored: stored(ctx, snap)}
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

// stored looks up what a memory has under an id, nothing if it was erased.
func stored(ctx context.Context, snap *core.Snapshot) func(graph.ID) (*graph.Node, *graph.Mark, error) {
	return func(id graph.ID) (*graph.Node, *graph.Mark, error) {
		n, _, err := snap.Node(ctx, id)
		if errors.Is(err, store.ErrNotFound) {
			return nil, nil, nil
		}
		if err != nil {
			return nil, nil, err
		}
		m, err := snap.Mark(ctx, graph.OnNode, id)
		return n, m, err
	}
}

func (run *chatRun) read(f chatFile, taker *ingest.Taker) error {
	in, err := f.open()
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // only read
	return chats.Read(run.asked.From, f.name, in, taker)
}

func (run *chatRun) note(f chatFile, t *ingest.Taken) {
	run.counts.Add(t)
	if t.Damaged > 0 {
		run.left = append(run.left, IngestedFile{
			Path: f.name, Action: "damaged", Why: strings.Join(t.Places, ", "),
		})
	}
}

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

// CaptureRequest asks for what hooks noted to be taken in.
type CaptureRequest struct {
	Some   bool `op:"" doc:"read at most 1 MiB of transcripts, and leave the rest for the next time"`
	Retire bool `op:"" not:"some" doc:"take in nothing, and retire all turns that are too old or too many"`
	verb.Actor
	verb.OnBranch
	verb.Signing
	verb.Trial
	verb.Params

	Keep *capture.Keep `op:"-"` // of the configuration
	// State sums up the runs before. Each run makes a commit.
	State *Captured `op:"-"`
}

func (q *CaptureRequest) Check() error {
	if q.DryRun && !q.Retire {
		return verb.Between("%s needs %s", "dry-run", "retire")
	}
	return nil
}

// The setting that decides which turns stay in sight.
const KeepDaysKey, KeepDaysEnv = "capture.keepDays", "MNEM_CAPTURE_KEEP_DAYS"

// Configure takes from the configuration which turns stay in sight.
func (q *CaptureRequest) Configure(setting func(variable, key string) (string, error)) error {
	if q.Keep != nil {
		return nil // by the process that asks
	}
	q.Keep = &capture.Keep{Days: capture.DefaultKeepDays, Bytes: capture.DefaultKeepBytes}
	days, err := setting(KeepDaysEnv, KeepDaysKey)
	if err == nil && days != "" {
		q.Keep.Days, err = ParseKeepDays(days)
	}
	return err
}

// maxKeepDays is a thousand years, beyond which all is kept.
const maxKeepDays = 365_000

// ParseKeepDays reads the setting capture.keepDays.
func ParseKeepDays(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 || n > maxKeepDays {
		return 0, fmt.Errorf("%w: %s: %q is not a number of days from 0 to %d", state.ErrInvalid, KeepDaysKey, s, maxKeepDays)
	}
	return n, nil
}

// Captured describes a collection of the hooks' records.
type Captured struct {
	Commit ipld.CID `json:"commit" shape:"null"` // the last that was made
	capture.Drained
	Receipts int  `json:"receipts"` // of what hooks gave agents, that are new
	DryRun   bool `json:"dry_run"`
}

// Capture takes in what hooks noted.
var Capture = verb.Define(verb.Spec{
	Command: "capture", Right: verb.OwnRight, Group: "change", Effect: verb.Writes, Idempotent: true, Local: true, Hidden: true,
	Title: "Import the conversations that hooks noted",
	Doc: "Take in the conversations that hooks noted (see 'mnem hook --help'): each turn becomes a node, as\n" +
		"with 'mnem ingest --from', in one commit. Transcripts are read on from where their reading ended.\n" +
		"Commands that read the newest memory do the same before they answer, 1 MiB at a time, so that this\n" +
		"is needed only to have all at once or to see why something is not there.\n\n" +
		"Turns older than 90 days (MNEM_CAPTURE_KEEP_DAYS; config: capture.keepDays; 0 keeps all) are retired,\n" +
		"and the oldest of more than 256 MiB: some with each commit of new turns, and all at once with\n" +
		"--retire. A retired turn is hidden, 'mnem restore'\n" +
		"shows it again, and only 'mnem purge' erases it. Pinned turns, and those with another mark, stay.",
	Example: "  mnem capture\n  mnem capture --retire --dry-run",
}, captureNoted)

func captureNoted(ctx context.Context, s *verb.Service, q *CaptureRequest) (*Captured, error) {
	dir, err := s.OwnDir()
	if err != nil {
		return nil, err
	}
	opt := capture.DrainOptions{Dir: dir, Redact: Redactor(dir), Commit: s.Commit, All: !q.Some, Keep: *q.Keep}
	if q.Retire {
		return retireTurns(ctx, s, opt)
	}
	some, err := capture.Drain(ctx, s.Repo, opt)
	if err != nil {
		return nil, err
	}
	out := &Captured{}
	if q.State != nil {
		*out = *q.State
	}
	if some.Commit != nil {
		out.Commit = some.Commit.Commit
	}
	out.Add(some)
	if out.Left = some.Left; !q.Some && some.Left > 0 && some.Read > 0 {
		want := &verb.Want{}
		if want.State, err = json.Marshal(out); err == nil {
			err = want
		}
		return nil, err
	}
	out.Receipts, err = capture.RecordTold(ctx, s.Repo, dir, s.Commit.Stamp)
	return out, err
}

func (q *CaptureRequest) Drives() bool { return !q.Some && !q.Retire }

// Drive takes in all that hooks noted, in as many runs as that takes.
func (q *CaptureRequest) Drive(ctx context.Context, s *verb.Service, req any, emit func(any) error) error {
	set, done := s.Host.Progress()
	defer done()
	return s.Until(ctx, req, emit, func(ctx context.Context, want *verb.Want) error {
		q.State = new(Captured)
		err := json.Unmarshal(want.State, q.State)
		set("turns:", q.State.Turns, 0)
		return cmp.Or(err, ctx.Err())
	})
}

func retireTurns(ctx context.Context, s *verb.Service, opt capture.DrainOptions) (*Captured, error) {
	done := s.Host.Working("looking through turns")
	defer done()
	res, err := capture.Retire(ctx, s.Repo, opt, s.DryRun)
	if err != nil {
		return nil, err
	}
	out := &Captured{Drained: capture.Drained{Retired: res.Turns}, DryRun: s.DryRun}
	if res.Commit != nil && !s.DryRun {
		out.Commit = res.Commit.Commit
	}
	return out, nil
}

// Redactor takes credentials out of texts with the key of a repository, whose directory .mnem is given.
func Redactor(dir string) *ingest.Redactor { return &ingest.Redactor{Key: redactKey(dir, false)} }
