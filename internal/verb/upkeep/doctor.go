package upkeep

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/plain"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/operation"
)

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
