// Package upkeep has the verbs that check, count and clean a repository, and erase from it.
package upkeep

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/plain"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/history"
	"github.com/mnem-project/mnem/internal/memory"
	sessionpkg "github.com/mnem-project/mnem/internal/session"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/operation"
	"github.com/mnem-project/mnem/internal/view"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// FsckRequest asks whether anything stored is damaged.
type FsckRequest struct {
	Full       bool `op:",remote" doc:"check the trees and indexes of every commit from end to end, not only of those that refs name"`
	Repair     bool `op:",writes" doc:"rebuild damaged indexes; show nodes that hide each other"`
	Rebuild    bool `op:",remote,writes" doc:"first rebuild the index of the newest commit from its facts alone: answers do not change"`
	AcceptHead bool `op:"accept" doc:"with --repair: open the repository although acknowledged operations are not in it"`
}

// AcceptsHead is whether a repository is opened that lacks acknowledged operations.
func (q *FsckRequest) AcceptsHead() bool { return q.AcceptHead }

// NeedsRight reports whether something is repaired, which may make a commit.
func (q *FsckRequest) NeedsRight() bool { return q.Repair }

func (q *FsckRequest) Check() error {
	if q.AcceptHead && !q.Repair {
		return verb.Between("%s needs %s", "accept", "repair")
	}
	return nil
}

// Fscked is the result of a check.
type Fscked struct {
	OK bool `json:"ok"`
	care.FsckReport
	// Repaired lists the repairs, a sentence each; nil if neither a repair nor an index was requested.
	Repaired []string `json:"repaired,omitzero"`

	Unmarked string `json:"_unmarked,omitempty"` // why no mark was taken off, for people
}

// Fsck checks everything.
var Fsck = verb.Define(verb.Spec{
	Command: "fsck", Right: verb.OwnRight, Group: "care", Effect: verb.Reads, Derived: true,
	Title: "Check that nothing stored is damaged",
	Doc: "Check the hash and form of every block, the chain of operations, all refs, commits, sessions and\n" +
		"trees, and that adjacency and index match the graph; name each bad block. Nothing is changed. Damage\n" +
		"gives exit code 4.\n\n" +
		"--repair rebuilds damaged indexes, which loses nothing. Damaged facts are only named, and while there\n" +
		"are any no index is dropped. If nodes of a branch hide each other because each is superseded by the\n" +
		"next in a cycle, a commit removes the oldest of these marks. If a repository does not open because it\n" +
		"is older than what was acknowledged last, --accept opens it as it is: what the message says is\n" +
		"gone is then gone.\n\n" +
		"--rebuild replaces the index of the newest commit of the branch, damaged or not. If that fails the old\n" +
		"one stays. 'mnem stats' describes it.",
	Example: "  mnem fsck\n  mnem fsck --full --json\n  mnem fsck --repair\n  mnem fsck --rebuild",
}, fsck)

func fsck(ctx context.Context, s *verb.Service, q *FsckRequest) (*Fscked, error) {
	out := &Fscked{}
	if err := q.rebuild(ctx, s, out); err != nil {
		return nil, err
	}
	progress, done := s.Host.Progress()
	defer done()
	opt := care.FsckOptions{Full: q.Full, Progress: func(what string, n int) { progress(what, n, 0) }}
	if !q.Repair {
		report, err := care.Fsck(ctx, s.Repo, opt)
		if err != nil {
			return nil, err
		}
		return out, out.fill(report)
	}
	by, err := s.Host.Stamp(s.Spec, &verb.Writing{})
	if err == nil {
		opt.By = by
	} else if s.Human {
		out.Unmarked = err.Error()
	}
	res, err := care.Repair(ctx, s.Repo, opt)
	if res == nil {
		return nil, err
	}
	if out.Repaired == nil {
		out.Repaired = []string{}
	}
	if q.AcceptHead {
		out.Repaired = append(out.Repaired, "took what is stored for the newest operation")
	}
	out.Repaired = append(out.Repaired, res.Done...)
	bad := out.fill(res.Report)
	if err != nil {
		return out, verb.Answered(err)
	}
	return out, bad
}

// rebuild replaces the index of the newest commit if the request says so.
func (q *FsckRequest) rebuild(ctx context.Context, s *verb.Service, out *Fscked) error {
	if !q.Rebuild {
		return nil
	}
	done := s.Host.Working("rebuilding the index")
	defer done()
	head, err := care.RebuildIndex(ctx, s.Repo)
	out.Repaired = []string{}
	if head.Defined() {
		out.Repaired = append(out.Repaired, "made the index of "+head.String())
	}
	return err
}

// fill copies a report. Damage is bad news.
func (out *Fscked) fill(report *care.FsckReport) error {
	out.OK, out.FsckReport = len(report.Errors) == 0, *report
	if !out.OK {
		return &verb.News{Outcome: operation.Corrupt}
	}
	return nil
}

const (
	// KeepOpsKey is the setting of how many operations stay, 0 if only gc itself collects; KeepOpsEnv is its variable.
	KeepOpsKey, KeepOpsEnv = "gc.keepOps", "MNEM_GC_KEEP_OPS"
	// DefaultGrace is how long operations are kept whatever their number.
	DefaultGrace = 14 * 24 * time.Hour
	maxGrace     = 100 * 366 * 24 * time.Hour // a century
)

// GCRequest asks for what nothing leads to to be removed.
type GCRequest struct {
	KeepOps int           `op:"keep,remote" default:"10000" doc:"how many of the newest operations to keep" note:" (MNEM_GC_KEEP_OPS; config: gc.keepOps)"`
	Grace   time.Duration `op:",remote" default:"336h" doc:"keep operations that are not older than this" note:" (MNEM_GC_GRACE; config: gc.grace)"`
	DryRun  bool          `op:",remote" doc:"count what would be removed and remove nothing"`
	verb.Actor
	verb.Params
}

func (q *GCRequest) Into(w *verb.Writing) { w.DryRun = q.DryRun }

func (q *GCRequest) Check() error {
	if q.KeepOps < 1 {
		return verb.Bad("keep", "at least 1 operation is kept")
	}
	if q.Grace < 0 || q.Grace > maxGrace {
		return verb.Bad("grace", "%s is not between 0 and 100 years", q.Grace)
	}
	return nil
}

// Configure takes what to keep from the configuration if the request does not say it.
func (q *GCRequest) Configure(setting func(variable, key string) (string, error)) error {
	if !q.Given("keep") {
		text, err := setting(KeepOpsEnv, KeepOpsKey)
		if err == nil && text != "" && text != "0" {
			q.KeepOps, err = ParseKeepOps(text)
		}
		if err != nil {
			return err
		}
	}
	if !q.Given("grace") {
		text, err := setting("MNEM_GC_GRACE", "gc.grace")
		if err == nil && text != "" {
			q.Grace, err = ParseGrace(text)
		}
		return err
	}
	return nil
}

// ParseKeepOps reads the setting KeepOpsKey.
func ParseKeepOps(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 || n == 0 && s != "0" {
		return 0, fmt.Errorf("%w: "+KeepOpsKey+": %q is not a number of operations", state.ErrInvalid, s)
	}
	return n, nil
}

// ParseGrace reads the setting gc.grace.
func ParseGrace(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 || d > maxGrace {
		return 0, fmt.Errorf("%w: gc.grace: %q is not a duration like 336h", state.ErrInvalid, s)
	}
	return d, nil
}

// GC removes what nothing leads to.
var GC = verb.Define(verb.Spec{
	Command: "gc", Right: verb.OwnRight, Group: "care", Effect: verb.Destroys, Idempotent: true, Hidden: true, // it runs by itself
	Title: "Remove unreachable data",
	Doc: "Remove what no ref reaches, neither now nor in a kept operation: the newest --keep ones, those of\n" +
		"the last --grace, and the one before these, so that everything that existed within --grace can be\n" +
		"brought back. Older operations leave the operation log and can be neither undone nor restored.\n" +
		"Commits, tags, sessions, stages and merges in progress that a ref reaches stay, with all they need.\n" +
		"If anything is damaged nothing is removed.\n\n" +
		"The age of an operation is by this machine's clock, whatever --time it and gc are given. If the clock\n" +
		"was wrong and operations lie in the future, --grace keeps them all.\n\n" +
		"It runs by itself after a write that makes the log twice as long as --keep, unless the config\n" +
		"key gc.keepOps is 0. After a write by a caller that may not run gc (a caller of a server, or an agent\n" +
		"that the policy does not allow it) --grace is then at least two weeks.",
	Example: "  mnem gc --dry-run\n  mnem gc\n  mnem gc --keep 1 --grace 0s",
}, func(ctx context.Context, s *verb.Service, q *GCRequest) (*core.GCResult, error) {
	progress, done := s.Host.Progress()
	defer done()
	return care.GC(ctx, s.From, care.GCOptions{
		Stamp: s.Commit.Stamp, KeepOps: q.KeepOps, Grace: q.Grace, DryRun: q.DryRun,
		Progress: func(what string, n int) { progress(what, n, 0) },
	})
})

// CollectAfter collects garbage after a write that makes it worth while, nil if there is none to
// remove. stamp says who does it.
func CollectAfter(
	ctx context.Context, r *core.Repo, opt care.GCOptions, stamp func() (state.Stamp, error),
) (*core.GCResult, error) {
	if due, err := care.GCDue(ctx, r, opt); err != nil || !due {
		return nil, nil // the write succeeded, and a later one tries again
	}
	var err error
	if opt.Stamp, err = stamp(); err != nil {
		return nil, nil
	}
	opt.Head = nil // the write has moved it
	opt.Command, opt.NoWait = []string{"gc", "--auto"}, true
	res, err := care.GC(ctx, r, opt)
	if err != nil || res.Blocks == 0 {
		return nil, err
	}
	return res, nil
}

// recordFormat is the version of the records that this program writes.
const recordFormat = 1

type versionRequest struct{}

// Versions are the versions of the program and of its formats.
type Versions struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
	Format   int    `json:"format"`
	Ranking  int    `json:"ranking"`
	Analyser int    `json:"analyser"`
}

// Version prints the versions.
var Version = verb.Define(verb.Spec{
	Command: "version", Right: verb.NoRight, Confined: true, Group: "start", Effect: verb.Reads, NoRepo: true, Hidden: true,
	Title: "Print version numbers",
	Doc: "Print the version of the program and of Go, and those of the record format, the ranking and the text\n" +
		"analysis: equal numbers give equal bytes.",
	Example: "  mnem version\n  mnem version --json",
}, func(context.Context, *verb.Service, *versionRequest) (*Versions, error) { return VersionsHere(), nil })

// VersionsHere returns the versions of this program.
func VersionsHere() *Versions {
	v := &Versions{
		Version: "devel", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH,
		Format: recordFormat, Ranking: retrieve.RankingVersion, Analyser: retrieve.AnalyserVersion,
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		if info.Main.Version != "" && info.Main.Version != "(devel)" {
			v.Version = info.Main.Version
		}
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				v.Revision = s.Value
			}
		}
	}
	return v
}

// Levels of findings, the best first.
const (
	LevelOK      = "ok"
	LevelNote    = "note"
	LevelWarning = "warning"
	LevelError   = "error"
)

// DoctorRequest asks whether all is set up well.
type DoctorRequest struct {
	Network bool       `op:"full" doc:"ask the models that are configured whether they answer"`
	Now     graph.Time `op:"-"` // by the caller's clock, whatever stamps say
}

// Finding is one thing that was looked at.
type Finding struct {
	Level   string    `json:"level" shape:"ok|note|warning|error"`
	Check   string    `json:"check"`
	Message string    `json:"message"`
	Fix     verb.Text `json:"fix"` // null if there is nothing to do
}

// Diagnosis lists the findings.
type Diagnosis struct {
	Findings []Finding `json:"findings"`
	Errors   int       `json:"errors"`
	Warnings int       `json:"warnings"`
}

// Doctor checks an open repository: its newest operation, HEAD and index. The command line does the checks that need no
// open repository, and those of the caller's machine.
var Doctor = verb.Define(verb.Spec{
	Command: "doctor", Right: verb.NoRight, Group: "care", Effect: verb.Reads, Local: true,
	Title: "Check the installation and say how to fix problems",
	Doc: "Look at the repository and its permissions, its store and index, the configuration, the policy,\n" +
		"the models that are configured, the clients that were integrated, and the space on the disk.\n" +
		"Each finding is ok, a note, a warning or an error, and comes with what to do about it. Nothing\n" +
		"is changed. Models are asked only with --full.\n\n" +
		"The exit code is 0 unless there is an error: 4 where stored bytes are damaged, else 1. What is\n" +
		"stored is not read from end to end: that is what 'mnem fsck' does.",
	Example: "  mnem doctor\n  mnem doctor --json",
}, doctor)

func doctor(ctx context.Context, s *verb.Service, q *DoctorRequest) (*Diagnosis, error) {
	d := &Diagnosis{Findings: []Finding{}}
	err := d.clock(ctx, s, q.Now)
	if err == nil {
		err = d.head(ctx, s)
	}
	switch {
	case err == nil || verb.HasAnswer(err):
		return d, err
	case errors.Is(err, store.ErrCorrupt):
		return d, d.Failed("store", "mnem fsck", err)
	}
	return d, d.Failed("store", "", err)
}

// Find notes a finding.
func (d *Diagnosis) Find(level, check, fix, format string, args ...any) {
	d.Add(Finding{level, check, fmt.Sprintf(format, args...), verb.Text(fix)})
}

// Add adds findings.
func (d *Diagnosis) Add(list ...Finding) {
	for _, f := range list {
		switch f.Level {
		case LevelError:
			d.Errors++
		case LevelWarning:
			d.Warnings++
		}
	}
	d.Findings = append(d.Findings, list...)
}

// Failed notes an error that a check ran into, with a fix or else the one that comes with it, and returns
// the news of damaged bytes, nil of all else.
func (d *Diagnosis) Failed(check, fix string, err error) error {
	if fix == "" {
		fix = verb.HintGiven(err)
	}
	d.Find(LevelError, check, fix, "%v", err)
	if errors.Is(err, store.ErrCorrupt) {
		return &verb.News{Outcome: operation.Corrupt}
	}
	return nil
}

// maxAhead is how far the newest operation may be ahead of the clock: time zones set wrongly, and the
// clocks of machines that share a repository, differ by less.
const maxAhead = 24 * time.Hour

// clock looks whether the newest operation is later than now. Those that follow are not before it
// then, and no grace ends.
func (d *Diagnosis) clock(ctx context.Context, s *verb.Service, now graph.Time) error {
	op, err := s.Repo.OpLog().Find(ctx, verb.NewestOp)
	if err != nil {
		return err
	}
	at := op.Operation.Time
	if at <= now+graph.Time(maxAhead.Microseconds()) {
		d.Find(LevelOK, "clock", "", "no operation is later than now")
		return nil
	}
	d.Find(LevelWarning, "clock", "set the clock of this machine right; where it is, 'mnem gc --grace 0s' "+
		"collects by number alone", "operation %d was recorded at %s, and now it is %s: gc keeps all "+
		"operations until then", op.Operation.Seq, at, now)
	return nil
}

func (d *Diagnosis) head(ctx context.Context, s *verb.Service) error {
	branch, at, err := s.Repo.Branch(ctx)
	if err != nil {
		return err
	}
	snap, err := s.Repo.At(ctx, at)
	if err != nil {
		return err
	}
	switch nodes, _, _, _ := snap.Sizes(); {
	case branch == "":
		d.Find(LevelNote, "head", "mnem switch NAME", "HEAD is on no branch: writes need --branch")
	case !at.Defined():
		d.Find(LevelNote, "head", "mnem remember TEXT", "nothing was committed yet")
	default:
		d.Find(LevelOK, "head", "", "branch %s has %d nodes", branch, nodes)
	}
	if !at.Defined() {
		return nil
	}
	stats, err := snap.IndexStats(ctx)
	switch {
	case err != nil:
		return d.Failed("index", "mnem fsck --rebuild", err)
	case !stats.Manifest.Defined():
		d.Find(LevelNote, "index", "mnem fsck --rebuild", "the newest commit has no index: the first "+
			"retrieval makes it")
	default:
		d.Find(LevelOK, "index", "", "%s", plain.Plural(stats.Segments, "segment"))
	}
	return nil
}

type statsRequest struct {
	Schema bool `op:",remote" doc:"list the types, properties and edge types that queries can refer to"`
	Limit  int  `op:",remote" default:"50" doc:"with --schema: at most {N} names in each list"`
	verb.AtRevision
	verb.Params
}

func (q *statsRequest) Check() error {
	if q.Given("limit") && !q.Schema {
		return verb.Between("%s needs %s", "limit", "schema")
	}
	return verb.CheckRange("limit", q.Limit, 1, maxSchemaNames)
}

// Stats is the size of a memory and of what keeps it.
type Stats struct {
	Commit     ipld.CID           `json:"commit" shape:"null"`
	Graph      ipld.CID           `json:"graph" shape:"null"`
	Nodes      Total              `json:"nodes"`
	Edges      Total              `json:"edges"`
	Marks      MarkTotal          `json:"marks"`
	Embeddings uint64             `json:"embeddings"`
	Agents     map[string]int     `json:"agents"` // commits by their agents, else authors
	NodeTypes  []memory.TypeCount `json:"node_types"`
	EdgeTypes  []memory.TypeCount `json:"edge_types"`
	Index      TextIndex          `json:"index"`
	Store      StoreSize          `json:"store"`
}

// Total is how many things there are, of each type too.
type Total struct {
	Total  uint64         `json:"total"`
	ByType map[string]int `json:"by_type"`
}

// MarkTotal is how many marks there are, of each state too.
type MarkTotal struct {
	Total   uint64              `json:"total"`
	ByState map[graph.State]int `json:"by_state"`
}

// StoreSize holds the sizes of the whole repository; bytes of blocks are without overhead.
type StoreSize struct {
	Bytes int64 `json:"bytes"` // of all blocks, including the index
	core.Sizes
	DiskBytes int64 `json:"disk_bytes"`
	Branches  int   `json:"branches"`
	Tags      int   `json:"tags"`
}

// StatsVerb counts what there is.
var StatsVerb = verb.Define(verb.Spec{
	Command: "stats", Right: verb.NoRight, Confined: true, Group: "care", Effect: verb.Reads,
	Answers: []any{Stats{}, Schema{}},
	Title:   "Count nodes, edges, commits, blocks and bytes",
	Doc: "Count the nodes and edges of a commit by type, its marks by state, the commits behind it by\n" +
		"agent (or author), its embeddings, the size of its index, and the operations, blocks and bytes\n" +
		"of the whole repository. It looks at every block.\n\n" +
		"--schema lists instead what --type, --edge and --where can name: node types, property names with\n" +
		"the kinds of their values and examples, edge types with the node types at their ends; each with its\n" +
		"count, most frequent first. Only visible nodes count, and examples never include what looks like a\n" +
		"credential.",
	Example: "  mnem stats\n  mnem stats --at HEAD~1 --json\n  mnem stats --schema --limit 5",
}, stats)

func stats(ctx context.Context, s *verb.Service, q *statsRequest) (any, error) {
	snap, err := s.At(ctx, q.At)
	if err != nil {
		return nil, err
	}
	if q.Schema {
		return schemaOf(ctx, s, snap, q.Limit)
	}
	out := &Stats{Commit: snap.CID(), Graph: snap.Graph()}
	progress, done := s.Host.Progress()
	defer done()
	if err := out.count(ctx, s.Repo, snap, progress); err != nil {
		return nil, err
	}
	index, err := snap.IndexStats(ctx)
	if err != nil {
		return nil, err
	}
	out.Index = *IndexOf(index)
	return out, out.Store.measure(ctx, s.Repo)
}

// count counts the contents of a commit, and the commits before it by author.
func (out *Stats) count(ctx context.Context, r *core.Repo, snap *core.Snapshot, progress func(string, int, int)) error {
	out.Nodes.Total, out.Edges.Total, out.Marks.Total, out.Embeddings = snap.Sizes()
	all := int(out.Nodes.Total + out.Edges.Total + out.Marks.Total)
	kinds, err := snap.Kinds(ctx, func(done int) { progress("counting", done, all) })
	if err != nil {
		return err
	}
	out.Nodes.ByType, out.Edges.ByType, out.Marks.ByState = kinds.Nodes, kinds.Edges, kinds.Marks
	out.NodeTypes, out.EdgeTypes = countsOfTypes(kinds.Nodes), countsOfTypes(kinds.Edges)
	out.Agents = make(map[string]int)
	if !snap.CID().Defined() {
		return nil
	}
	for e, err := range history.Log(ctx, r, snap.CID().String()) {
		if err != nil {
			return err
		}
		out.Agents[cmp.Or(e.Commit.Agent, e.Commit.Author)]++
	}
	return nil
}

func countsOfTypes(of map[string]int) (list []memory.TypeCount) {
	for _, typ := range slices.Sorted(maps.Keys(of)) {
		list = append(list, memory.TypeCount{Type: typ, Count: of[typ]})
	}
	return list
}

func (out *StoreSize) measure(ctx context.Context, r *core.Repo) error {
	sizes, err := r.Storage().Sizes(ctx)
	if err != nil {
		return err
	}
	refs, err := r.Refs(ctx)
	if err != nil {
		return err
	}
	for _, ref := range refs {
		switch {
		case strings.HasPrefix(string(ref.Name), graph.Heads):
			out.Branches++
		case strings.HasPrefix(string(ref.Name), graph.Tags):
			out.Tags++
		}
	}
	out.Sizes, out.Bytes = sizes, sizes.BlockBytes+sizes.DerivedBytes
	out.DiskBytes, err = r.Storage().DiskBytes()
	return err
}

// Schema lists the predicates, types and edges of a commit.
type Schema struct {
	Commit ipld.CID `json:"commit" shape:"null"`
	memory.Schema
}

// maxSchemaNames bounds each list of an answer.
const maxSchemaNames = 1000

func schemaOf(ctx context.Context, s *verb.Service, snap *core.Snapshot, limit int) (*Schema, error) {
	progress, done := s.Host.Progress()
	defer done()
	all, _, _, _ := snap.Sizes()
	got, err := memory.SchemaOf(ctx, snap, limit, func(n int) { progress("reading nodes", n, int(all)) })
	if err != nil {
		return nil, err
	}
	return &Schema{snap.CID(), *got}, nil
}

type replayRequest struct {
	Record string `op:",arg,required,remote" doc:"the name of a session or the CID of a receipt"`
}

// Replayed tells whether recorded answers are the same today.
type Replayed struct {
	Session         verb.Text   `json:"session"` // null for a single receipt
	Receipts        int         `json:"receipts"`
	Identical       *bool       `json:"identical"` // null where something was erased since
	FirstDifference *Difference `json:"first_difference"`
	Redacted        []Erased    `json:"redacted,omitempty"` // what was erased since
}

// Erased is one erased block that a receipt needs.
type Erased struct {
	CID ipld.CID `json:"cid"`
	commit.Redaction

	About string `json:"_about,omitempty"`
}

// Difference is the first thing that differs.
type Difference struct {
	Number  int      `json:"number"` // of the receipt, from 0
	Receipt ipld.CID `json:"receipt"`
	Item    *int     `json:"item"` // from 0; null for what is not of one item
	Field   string   `json:"field"`
	Old     string   `json:"old"`
	New     string   `json:"new"`
}

// Replay answers recorded requests again.
var Replay = verb.Define(verb.Spec{
	Command: "session replay", Right: verb.NoRight, Confined: true, Usage: "SESSION|RECEIPT", Effect: verb.Reads, Complete: "session",
	Title: "Answer recorded requests again and compare",
	Doc: "Answer every request that a session recorded, each at its own commit, or the one request of a\n" +
		"receipt, and compare the answers with the recorded ones, bit for bit. The exit code is 0 if all are\n" +
		"identical. It is 4 if an answer differs, if stored data is damaged, if a receipt needs a ranking\n" +
		"version that this program lacks, or if something the answer depends on was purged since: then the\n" +
		"comparison is impossible.",
	Example: "  mnem session replay review\n  mnem session replay review --json",
}, func(ctx context.Context, s *verb.Service, q *replayRequest) (*Replayed, error) {
	res, err := sessionpkg.Replay(ctx, s.Repo, q.Record)
	if err != nil {
		return nil, err
	}
	out := &Replayed{Session: verb.Text(res.Session), Receipts: res.Receipts, Identical: &res.Identical}
	for _, e := range res.Redacted {
		out.Identical = nil
		one := Erased{CID: e.CID, Redaction: *e.Record}
		if s.Human {
			one.About = e.Record.String()
		}
		out.Redacted = append(out.Redacted, one)
	}
	if d := res.First; d != nil {
		out.FirstDifference = &Difference{
			Number: d.Number, Receipt: d.Receipt, Field: d.Field, Old: d.Old, New: d.New,
		}
		if d.Item >= 0 {
			out.FirstDifference.Item = &d.Item
		}
	}
	if !res.Identical {
		return out, &verb.News{Outcome: operation.Mismatch}
	}
	return out, nil
})

// TextIndex describes the text index of one commit.
type TextIndex struct {
	Manifest ipld.CID       `json:"manifest" shape:"null"` // null if the first retrieval will make it
	Segments int            `json:"segments"`
	Nodes    int64          `json:"nodes"`
	Terms    int64          `json:"terms"` // of all fields, repeats counted
	Fields   []IndexedField `json:"fields"`
}

// IndexedField describes one text field over all nodes.
type IndexedField struct {
	Field string `json:"field"`
	Nodes int64  `json:"nodes"` // that have a term in it
	Terms int64  `json:"terms"`
}

// indexFields are the text fields in the order of their numbers.
var indexFields = []string{"summary", "context", "content", "props", "type", "cues"}

// IndexOf returns the form of an index.
func IndexOf(s view.IndexStats) *TextIndex {
	out := &TextIndex{Manifest: s.Manifest, Segments: s.Segments, Nodes: s.Nodes}
	for i, terms := range s.Terms {
		out.Terms += terms
		out.Fields = append(out.Fields, IndexedField{indexFields[i], s.Filled[i], terms})
	}
	return out
}
