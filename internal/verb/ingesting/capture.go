package ingesting

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/mnem-project/mnem/internal/agent/capture"
	"github.com/mnem-project/mnem/internal/ingest"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/ipld"
)

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
