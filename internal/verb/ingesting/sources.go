package ingesting

import (
	"context"
	"encoding/hex"
	"io/fs"
	"os"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/regular"
	"github.com/mnem-project/mnem/internal/core"
	sourcespkg "github.com/mnem-project/mnem/internal/memory/sources"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/editing"
	"github.com/mnem-project/mnem/ipld"
)

// Source is one source of a node.
type Source struct {
	Node    graph.ID  `json:"node"`
	Key     verb.Text `json:"key"`
	Source  string    `json:"source"`
	Kind    verb.Text `json:"kind" shape:"file|url|conversation|manual|null"` // null for text that is no source
	Project string    `json:"project,omitempty"`
	Path    string    `json:"path,omitempty"`
	First   int       `json:"first,omitempty"`
	Last    int       `json:"last,omitempty"`
	Hash    string    `json:"sha256,omitempty"`

	Place string `json:"_place,omitempty"` // without its hash, for people
}

func sourceOf(s *verb.Service, e sourcespkg.SourceEntry) Source {
	src := e.Source
	out := Source{
		Node: e.Node, Key: verb.Text(e.Key), Source: e.Text, Kind: verb.Text(src.Kind), Project: src.Project,
		Path: src.Path, First: src.First, Last: src.Last,
	}
	if src.Hash != nil {
		out.Hash = hex.EncodeToString(src.Hash[:])
	}
	switch {
	case !s.Human:
	case src.Kind != "":
		out.Place = src.Place()
	default:
		out.Place = e.Text
	}
	return out
}

// Roots is embedded by requests of verbs that read memories' source files.
type Roots struct {
	Root []string `op:"" doc:"where files are: {DIR}, or PROJECT=DIR for those of a project" note:" (repeatable; default: the directory that holds .mnem, and none for projects)"`
}

// open opens the directories. Nothing outside of one can be read through it, by ".." or by links. shut
// must be called.
func (p *Roots) open(s *verb.Service) (files *sourcespkg.Checker, shut func(), err error) {
	open := make(map[string]*os.Root)
	shut = func() {
		for _, root := range open {
			_ = root.Close() // only read
		}
	}
	add := func(project, dir string) error {
		root, err := s.Host.OpenRoot(dir)
		if err == nil {
			open[project] = root
		}
		return err
	}
	list := p.Root
	for i := 0; i < len(list) && err == nil; i++ {
		project, dir, named := strings.Cut(list[i], "=")
		if !named {
			project, dir = "", list[i]
		}
		switch {
		case dir == "":
			err = verb.Usagef("--root %q: want DIR or PROJECT=DIR", list[i])
		case open[project] != nil:
			err = verb.Bad("root", "%q is given twice", project)
		default:
			err = add(project, dir)
		}
	}
	if err == nil && open[""] == nil {
		err = add("", "")
	}
	if err != nil {
		shut()
		return nil, nil, err
	}
	return &sourcespkg.Checker{Root: func(project string) fs.FS {
		if root := open[project]; root != nil {
			return regular.FS(root)
		}
		return nil
	}}, shut, nil
}

type sourcesRequest struct {
	Nodes     []string `op:",arg"`
	All       bool     `op:"" doc:"print what is unchanged or unchecked, too"`
	MarkStale bool     `op:"stale,writes" doc:"mark memories stale whose source is not as it was"`
	Accept    bool     `op:",writes" not:"all stale" doc:"take the files as they are now for the sources of a node"`
	Limit     int      `op:"" default:"100" doc:"print at most {N} rows; 0 for all"`
	Roots
	verb.AtRevision
	editing.Marking
	verb.Params
}

// SourcesDiff describes the states of sources. The other members are known after the sources were emitted; those about
// marks are present only if marking was requested.
type SourcesDiff struct {
	Commit   ipld.CID               `json:"commit" shape:"null"`
	Sources  verb.Each[SourceCheck] `json:"sources"`
	Counts   SourceCounts           `json:"counts"`
	Marked   []graph.ID             `json:"marked,omitzero"`
	Already  []graph.ID             `json:"already,omitzero"`
	MarkedBy *ipld.CID              `json:"marked_by,omitempty" shape:"null"`
	DryRun   *bool                  `json:"dry_run,omitempty"`

	Marking *editing.Marked `json:"_marking,omitempty"` // the marks made, for people
}

// SourceCheck describes the state of a source.
type SourceCheck struct {
	Source
	State sourcespkg.SourceState `json:"state" shape:"unchanged|moved|changed|removed|unhashed|unreadable|unchecked"`
	Now   verb.Text              `json:"now"`  // its current form, null if nothing is there
	Span  *string                `json:"span"` // the current text, if it changed
	Why   verb.Text              `json:"why"`

	Gone    bool   `json:"_gone,omitempty"`
	MovedTo string `json:"_moved_to,omitempty"` // for people, of what moved
}

func sourceCheckOf(s *verb.Service, c *sourcespkg.SourceCheck) SourceCheck {
	out := SourceCheck{
		Source: sourceOf(s, c.SourceEntry), State: c.State, Why: verb.Text(c.Why), Gone: s.Human && c.Gone(),
	}
	switch c.State {
	case sourcespkg.SourceRemoved, sourcespkg.SourceUnreadable, sourcespkg.SourceUnchecked:
		return out
	}
	if s.Human && c.State == sourcespkg.SourceMoved {
		out.MovedTo = c.Now.Place()
	}
	out.Now = verb.Text(c.Now.String())
	if c.State != sourcespkg.SourceUnchanged {
		out.Span = &c.Span
	}
	return out
}

// SourceCounts count sources by state.
type SourceCounts struct {
	Changed    int `json:"changed"`
	Moved      int `json:"moved"`
	Removed    int `json:"removed"`
	Unchanged  int `json:"unchanged"`
	Unchecked  int `json:"unchecked"`
	Unhashed   int `json:"unhashed"`
	Unreadable int `json:"unreadable"`
}

// Sources compares sources with the current files, or accepts these.
var Sources = verb.Define(verb.Spec{
	Command: "review sources", Right: verb.OwnRight, Usage: "[NODE…]", Effect: verb.Reads, Local: true,
	Title: "Compare the sources of memories with their current content",
	Doc: "Compare the files that memories come from with their hashes: unchanged, moved (the same\n" +
		"lines elsewhere in the file), changed, removed, unhashed (nothing to compare with), unreadable,\n" +
		"or unchecked (no file, or of a project without a --root). Memories whose source changed or is\n" +
		"removed are to be read again; --stale marks them so, in one commit. Only files under a\n" +
		"--root are read, at most 16 MiB of each, and what is unchanged or unchecked is only counted\n" +
		"without --all. A source is one of\n\n" +
		"  file:PATH, file://PROJECT/PATH   a file, with ?sha256=HEX and #L10 or #L10-L20 behind it\n" +
		"  url:https://…                    a page\n" +
		"  conversation:ID, ID#TURN         what was said\n" +
		"  manual:, manual:WHO              somebody knew it\n\n" +
		"or any other text. A node gets them by --source of 'mnem remember' or the field sources of\n" +
		"change lines, and 'mnem ls --sources' lists them.\n\n" +
		"--accept gives the file sources of a node the hashes of their current content, and where lines moved\n" +
		"their numbers, in one commit, and prints the content. Use it after reading that the memory still\n" +
		"holds. A mark of --stale is removed. A source that no longer exists stays as it is, and so does\n" +
		"the mark.",
	Example: "  mnem review sources\n  mnem review sources --root . --root web=. --all\n" +
		"  mnem review sources --stale --dry-run\n  mnem review sources alice --accept",
	Answers: []any{SourcesDiff{}, SourcesAccepted{}},
}, sources)

func (q *sourcesRequest) Check() error {
	err := verb.CheckLimit(q.Limit)
	switch {
	case err != nil || !q.MarkStale && !q.Accept:
		return err
	case q.Given("at"):
		return verb.Between("%s is for looking: what is written goes onto the branch", "at")
	case q.Reason != "":
		return verb.Bad("reason", "the source is the reason of these marks")
	case q.Accept && len(q.Nodes) != 1:
		return verb.Between("%s is for one node: name it", "accept")
	}
	return nil
}

func sources(ctx context.Context, s *verb.Service, q *sourcesRequest) (any, error) {
	if q.Accept {
		return acceptSources(ctx, s, q)
	}
	return diffSources(ctx, s, q)
}

func diffSources(ctx context.Context, s *verb.Service, q *sourcesRequest) (*SourcesDiff, error) {
	snap, err := sourcesAt(ctx, s, q)
	if err != nil {
		return nil, err
	}
	files, shut, err := q.open(s)
	if err != nil {
		return nil, err
	}
	out := &SourcesDiff{Commit: snap.CID()}
	out.Sources = func(yield func(SourceCheck) error) error {
		defer shut()
		progress, done := s.Host.Progress()
		defer done()
		n, seen := 0, 0
		gone, counts, err := sourcespkg.Compare(ctx, snap, q.Nodes, files, func(c *sourcespkg.SourceCheck) error {
			progress("sources checked:", seen, 0)
			seen++
			plain := c.State == sourcespkg.SourceUnchanged || c.State == sourcespkg.SourceUnchecked
			if plain && !q.All || q.Limit > 0 && n >= q.Limit {
				return nil
			}
			n++
			return yield(sourceCheckOf(s, c))
		})
		if err != nil {
			return verb.NodeHint(err)
		}
		out.Counts = SourceCounts{
			counts[sourcespkg.SourceChanged], counts[sourcespkg.SourceMoved], counts[sourcespkg.SourceRemoved],
			counts[sourcespkg.SourceUnchanged], counts[sourcespkg.SourceUnchecked],
			counts[sourcespkg.SourceUnhashed], counts[sourcespkg.SourceUnreadable],
		}
		if !q.MarkStale {
			return nil
		}
		return out.mark(ctx, s, gone)
	}
	return out, nil
}

// sourcesAt returns the snapshot to compare: the branch to mark, if marking is requested.
func sourcesAt(ctx context.Context, s *verb.Service, q *sourcesRequest) (*core.Snapshot, error) {
	if !q.MarkStale || s.Commit.Branch == "" {
		return s.At(ctx, q.At)
	}
	return s.Repo.Snapshot(ctx, graph.Heads+s.Commit.Branch)
}

func (out *SourcesDiff) mark(ctx context.Context, s *verb.Service, gone []sourcespkg.SourceCheck) error {
	res, err := sourcespkg.MarkGone(ctx, s.Repo, s.Commit, gone)
	if err != nil {
		return err
	}
	marked, err := editing.MarkedOf(ctx, s, res, graph.Stale)
	if err != nil {
		return err
	}
	if s.Human {
		out.Marking = marked
	}
	out.Marked = append([]graph.ID{}, res.Marked...)
	out.Already = append([]graph.ID{}, res.Already...)
	out.MarkedBy, out.DryRun = &marked.Commit, &s.DryRun
	return nil
}

// SourcesAccepted describes the accepted sources.
type SourcesAccepted struct {
	Commit   ipld.CID      `json:"commit" shape:"null"`
	Branch   string        `json:"branch"`
	Graph    ipld.CID      `json:"graph" shape:"null"`
	Sources  []SourceCheck `json:"sources"`
	NoChange bool          `json:"no_change"`
	DryRun   bool          `json:"dry_run"`

	Committed *editing.Committed `json:"_committed,omitempty"` // for people
}

func acceptSources(ctx context.Context, s *verb.Service, q *sourcesRequest) (*SourcesAccepted, error) {
	files, shut, err := q.open(s)
	if err != nil {
		return nil, err
	}
	defer shut()
	checks, res, err := sourcespkg.Refresh(ctx, s.Repo, s.Commit, q.Nodes[0], files)
	if err != nil {
		return nil, verb.NodeHint(err)
	}
	out := &SourcesAccepted{
		Commit: s.MadeBy(res), Branch: res.Branch, Graph: res.Graph, NoChange: res.NoChange, DryRun: s.DryRun,
	}
	for i := range checks {
		out.Sources = append(out.Sources, sourceCheckOf(s, &checks[i]))
	}
	if s.Human {
		out.Committed, err = editing.CommittedOf(ctx, s, res)
	}
	return out, err
}
