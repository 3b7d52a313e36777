// Package upkeep has the verbs that check, count and clean a repository, and erase from it.
package upkeep

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/operation"
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

// VersionRequest asks for the versions of the program.
type VersionRequest struct{}

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
}, func(context.Context, *verb.Service, *VersionRequest) (*Versions, error) { return VersionsHere(), nil })

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
