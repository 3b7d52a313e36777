package asking

import (
	"cmp"
	"context"
	"math"
	"strconv"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/core"
	checkpkg "github.com/mnem-project/mnem/internal/memory/check"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/operation"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// CheckRequest asks whether the memory may be relied on for an answer, or for other thresholds.
type CheckRequest struct {
	Query           string `op:",arg,required,remote,words=65537" doc:"the question or words to look for"`
	verb.Parameters `table:"types where validAt now"`
	verb.AtRevision
	verb.Marks
	Gate          string   `op:",remote" enum:"lexical semantic fused" doc:"judge by {GATE}: lexical, semantic or fused; default lexical, with vectors fused"`
	Nearest       int      `op:",remote" default:"3" doc:"list {N} memories beside the best; 0 to 9"`
	Threshold     []string `op:",remote" doc:"use another threshold this once: {NAME=X} with coverage, evidence (bits), lead, weak-coverage or weak-evidence" note:" (repeatable)"`
	Embed         string   `op:",remote,true=configured,alone" doc:"judge by the embedding of the query too, made by {SPEC}" note:" (alone: MNEM_EMBED_MODEL; config: embed.model)" remote:"use the embedding model of the configuration too"`
	Vector        []string `op:"" doc:"judge by this {MODEL=@FILE} too: the query's embedding" note:" (repeatable)"`
	Calibrate     string   `op:",writes" doc:"find thresholds on the labelled questions in {FILE}, - for standard input"`
	Reset         bool     `op:",writes" doc:"go back to the built-in thresholds"`
	DryRun        bool     `op:"" doc:"with --calibrate or --reset: write nothing"`
	Message       string   `op:",short=m" doc:"what the change is about"`
	Expect        string   `op:"" doc:"the {CID} of the commit that the branch must be at, or \"none\" for a branch without one; else exit code 5"`
	verb.Actor    `op:"local"`
	verb.OnBranch `op:"local"`
	verb.Signing

	Dense    []retrieve.QueryVector `op:"-"` // what is in the files of Vector
	Embeds   bool                   `op:"-"` // whether a model embeds
	Made     verb.Made              `op:"-"` // of the query
	Labelled []Labelled             `op:"-"` // questions to calibrate on
	File     string                 `op:"-"` // that these are from
}

// Labelled is a question to calibrate on.
type Labelled struct {
	checkpkg.Labelled
	Made verb.Made
}

func (q *CheckRequest) Into(w *verb.Writing) { w.Message, w.Expect = q.Message, q.Expect }

// ReadsOnly is whether no thresholds are to be kept.
func (q *CheckRequest) ReadsOnly() bool { return q.Calibrate == "" && !q.Reset || q.DryRun }

// Checked says whether the memory may be relied on.
type Checked struct {
	Commit     ipld.CID            `json:"commit" shape:"null"`
	Query      string              `json:"query"`
	Verdict    checkpkg.Verdict    `json:"verdict" shape:"STRONG|WEAK|MISS"`
	Gate       checkpkg.Gate       `json:"gate" shape:"lexical|semantic|fused"`
	Item       *checkpkg.Memory    `json:"item"`    // null for MISS
	Signals    *checkpkg.Signals   `json:"signals"` // of the best memory, null where there is none
	Missing    []checkpkg.Missing  `json:"missing"` // of it; empty for STRONG
	Nearest    []NearItem          `json:"nearest"`
	ReadAs     []retrieve.Reading  `json:"read_as,omitempty"`
	Thresholds checkpkg.Thresholds `json:"thresholds"`
}

// NearItem is one of the next memories.
type NearItem struct {
	checkpkg.Memory
	Coverage int64 `json:"coverage"`
	Evidence int64 `json:"evidence"`
	Score    int64 `json:"score"`
}

// ThresholdsReset is what became of thresholds that were taken away.
type ThresholdsReset struct {
	ThresholdsKept
	Thresholds checkpkg.Thresholds `json:"thresholds"`
}

// ThresholdsKept is the commit that thresholds are kept with.
type ThresholdsKept struct {
	Commit ipld.CID  `json:"commit" shape:"null"` // that was made, null for none
	Branch verb.Text `json:"branch"`
	DryRun bool      `json:"dry_run"`
}

// Calibrated is what labelled questions say about thresholds.
type Calibrated struct {
	ThresholdsKept
	Gate         checkpkg.Gate         `json:"gate" shape:"lexical|semantic|fused"`
	Answerable   int                   `json:"answerable"`
	Unanswerable int                   `json:"unanswerable"`
	Now          checkpkg.CurvePoint   `json:"now"`
	Chosen       *checkpkg.CurvePoint  `json:"chosen,omitempty"` // missing where no thresholds keep both bounds
	Curve        []checkpkg.CurvePoint `json:"curve"`
}

// Check judges whether the memory may be relied on, and finds the thresholds that decide it.
var Check = verb.Define(verb.Spec{
	Command: "check", Right: verb.NoRight, Usage: "QUERY… [flags]", Args: "[QUERY…]", Group: "read", Effect: verb.Reads,
	Title: "Judge whether the memory can answer a question",
	Doc: "Find the memory that answers a question, or that states the same as a statement, and judge it:\n\n" +
		"  STRONG  it holds what is asked, lacks nothing important and stands out from the next best\n" +
		"  WEAK    it is related, but something is missing; the missing part is named\n" +
		"  MISS    nothing better than chance; the nearest memories are listed\n\n" +
		"The judgement uses words and no model. Coverage is the share of the question's words found within\n" +
		"two adjacent sentences; rarer words count more. Evidence is how many bits the match exceeds chance\n" +
		"by. Lead is the distance to the next memory. STRONG requires every name, number, quoted phrase and\n" +
		"date of the question, and no word that is unknown to the memory. A name alone proves nothing, and a\n" +
		"sentence that asks a question asserts nothing. Memories marked stale or contradicted are never STRONG.\n\n" +
		"STRONG means that the memory was found, not that it is true. With --vector or --embed, similarity\n" +
		"of embeddings counts too. --gate fused (then the default) is STRONG by words, or by vectors if no\n" +
		"name, number, phrase or date is missing; --gate semantic uses vectors alone.\n\n" +
		"--calibrate fits the thresholds to questions of your own: one JSON object a line with question,\n" +
		"answerable (true or false) and, if known, evidence (the keys or ids that hold the answer). It prints\n" +
		"the curve of possible thresholds and stores in the memory, as one commit, those with the most\n" +
		"correct STRONG verdicts that call at most .05 of the unanswerable questions and at most .2 of the\n" +
		"answerable ones STRONG wrongly, with one standard error to spare. --dry-run only prints. --reset\n" +
		"restores the built-in thresholds. Thresholds merge, revert and branch with the memory.\n\n" +
		"A check reads as much as one retrieval of twenty items and writes nothing. Every verdict exits 0.",
	Example: "  mnem check 'who owns billing?'\n" +
		"  mnem check 'does Alice own billing' --json\n" +
		"  mnem check 'when did the migration end?' --type Decision --nearest 5\n" +
		"  mnem check 'charged twice' --embed=hash\n" +
		"  mnem check 'who owns billing?' --threshold coverage=0.7\n" +
		"  mnem check --calibrate questions.jsonl --dry-run",
	Answers: []any{Checked{}, Calibrated{}, ThresholdsReset{}},
}, check)

// ofReset are the fields that say nothing to a memory that takes its thresholds away.
var ofReset = []string{
	"at", "gate", "nearest", "threshold", "type", "where", "valid-at", "include", "marks", "vector", "embed",
	"now",
}

// Check refuses fields that exclude each other or would do nothing.
func (q *CheckRequest) Check() error {
	switch {
	case q.Given("calibrate") && q.Calibrate == "":
		return verb.Bad("calibrate", "want a file, or - for standard input")
	case q.Calibrate != "" && q.Reset:
		return verb.Exclude("calibrate", "reset")
	case (q.Calibrate != "" || q.Reset) && q.Given("query"):
		return verb.Usagef("a query, and --calibrate or --reset, exclude each other")
	case q.Calibrate == "" && !q.Reset && !q.Given("query"):
		return verb.Usagef("want a question: mnem check 'who owns billing?'")
	case q.Given("embed") && q.Embed == "":
		return verb.Usagef("--embed=: want a model, or --embed alone for the configured one")
	case q.Calibrate != "" && len(q.Vector) > 0:
		return verb.Between("%s is of one query: with %s use %s", "vector", "calibrate", "embed")
	case q.Calibrate != "" && len(q.Threshold) > 0:
		return verb.Between("%s and %s exclude each other: it finds them", "threshold", "calibrate")
	case q.Calibrate != "" && q.Given("nearest"):
		return verb.Between("%s does nothing with %s", "nearest", "calibrate")
	}
	for _, name := range ofReset {
		if q.Reset && q.Given(name) {
			return verb.Between("%s is of a question: %s takes the memory's own thresholds away", name, "reset")
		}
	}
	for _, name := range []string{
		"dry-run", "message", "expect", "branch", "author", "agent", "task", "time",
	} {
		if q.Calibrate == "" && !q.Reset && q.Given(name) {
			return verb.Between("%s needs %s or %s: a check writes nothing", name, "calibrate", "reset")
		}
	}
	uses := (&verb.QueryVectors{Vector: q.Vector}).FromStdin()
	if q.Calibrate == "-" {
		uses = append([]string{"--calibrate"}, uses...)
	}
	if q.Given("-") {
		uses = append([]string{"the query"}, uses...)
	}
	return verb.OneUse(uses)
}

// Prepare reads vectors and the questions of a calibration, and lets the model see each question.
func (q *CheckRequest) Prepare(ctx context.Context, s *verb.Service, req any) error {
	vectors := &verb.QueryVectors{Vector: q.Vector}
	if err := vectors.Load(ctx, s.Caller); err != nil {
		return err
	}
	q.Dense = vectors.Dense
	c, err := q.request(s.Spec, req)
	if err != nil || q.Reset {
		return err
	}
	r := c.Request
	models, err := (&verb.QuestionModels{Embed: q.Embed}).Open(s.Caller, &r)
	if err != nil {
		return err
	}
	q.Embeds = models.Embedder != nil
	made := func(text string) (verb.Made, error) {
		one := r
		one.Text = text
		after, err := models.Complete(ctx, one)
		return verb.MadeFrom(&one, &after), err
	}
	if q.Calibrate == "" {
		q.Made, err = made(q.Query)
		return err
	}
	list, err := q.readLabelled(ctx, s.Caller)
	if err != nil {
		return err
	}
	set, done := s.Host.Progress()
	defer done()
	for i, one := range list {
		m, err := made(one.Question)
		if err != nil {
			return &graph.LineError{File: q.File, Line: one.Line, Err: err}
		}
		if q.Labelled = append(q.Labelled, Labelled{one, m}); q.Embeds {
			set("questions embedded:", i+1, len(list))
		}
	}
	return nil
}

// request makes the request of a check, without what models add.
func (q *CheckRequest) request(spec *verb.Spec, req any) (c checkpkg.Request, err error) {
	c = checkpkg.Request{Gate: checkpkg.Gate(q.Gate), Nearest: &q.Nearest}
	if err = spec.SetParameters(req, &c.Request); err != nil {
		return c, err
	}
	if c.Request.Marks, err = q.States(); err != nil {
		return c, err
	}
	c.Request.Vectors = q.Dense
	return c, c.Request.ValidateGiven()
}

func (q *CheckRequest) readLabelled(ctx context.Context, by verb.Caller) (list []checkpkg.Labelled, err error) {
	in, name, err := by.File(ctx, q.Calibrate)
	if err != nil {
		return nil, err
	}
	defer func() { _ = in.Close() }() // only read from
	q.File = name
	if list, err = checkpkg.ReadLabelled(in, name); err != nil {
		return nil, err
	}
	return list, checkpkg.CheckLabelled(list, name)
}

func check(ctx context.Context, s *verb.Service, q *CheckRequest) (any, error) {
	switch {
	case q.Reset:
		t := checkpkg.DefaultThresholds()
		kept, err := keepThresholds(ctx, s, q, &t, "reset the thresholds of check")
		return verb.OneOf(&ThresholdsReset{kept, t}, err)
	case q.Calibrate != "":
		return verb.OneOf(calibrate(ctx, s, q))
	}
	c, err := q.request(s.Spec, q)
	if err != nil {
		return nil, err
	}
	c.Request.Text = q.Query
	q.Made.AddTo(&c.Request)
	snap, err := s.Repo.Snapshot(ctx, q.At)
	if err != nil {
		return nil, verb.CommitHint(err)
	}
	if c.Thresholds, err = q.override(ctx, snap); err != nil {
		return nil, err
	}
	if err := verb.FromNow(s.Host, &c.Request); err != nil {
		return nil, err
	}
	res, err := checkpkg.Check(ctx, snap, c)
	if err != nil {
		return nil, err
	}
	return checkedOf(c.Request.Text, res), nil
}

// override returns the memory's thresholds with those of the request in their place, nil if it has none.
func (q *CheckRequest) override(ctx context.Context, s *core.Snapshot) (*checkpkg.Thresholds, error) {
	if len(q.Threshold) == 0 {
		return nil, nil
	}
	t, _, err := checkpkg.ThresholdsAt(ctx, s)
	if err != nil {
		return nil, err
	}
	for _, given := range q.Threshold {
		name, value, _ := strings.Cut(given, "=")
		to := thresholdField(&t, name)
		if to == nil {
			return nil, verb.BadValue("threshold", given, "want coverage, evidence, lead, weak-coverage or weak-evidence, "+
				"as in coverage=0.7")
		}
		x, err := strconv.ParseFloat(value, 64)
		if err != nil || !(x >= 0 && x <= maxThreshold) {
			return nil, verb.BadValue("threshold", given, "want a number of 0 to 1, of evidence 0 to %d bits", maxThreshold)
		}
		*to = int64(math.RoundToEven(float64(x * 65536)))
	}
	return &t, nil
}

// maxThreshold is the largest number that any threshold may be.
const maxThreshold = 64

func thresholdField(t *checkpkg.Thresholds, name string) *int64 {
	switch name {
	case "coverage":
		return &t.Coverage
	case "evidence":
		return &t.Evidence
	case "lead":
		return &t.Lead
	case "weak-coverage":
		return &t.WeakCoverage
	case "weak-evidence":
		return &t.WeakEvidence
	}
	return nil
}

// keepThresholds keeps thresholds with the memory, unless there are none or nothing is to be written.
func keepThresholds(
	ctx context.Context, s *verb.Service, q *CheckRequest, t *checkpkg.Thresholds, message string,
) (ThresholdsKept, error) {
	out := ThresholdsKept{DryRun: q.DryRun}
	if t == nil || q.DryRun {
		return out, nil
	}
	opt := s.Commit
	opt.Message = cmp.Or(opt.Message, message)
	res, err := checkpkg.SetThresholds(ctx, s.Repo, *t, opt)
	if err != nil {
		return out, err
	}
	if out.Branch = verb.Text(res.Branch); !res.NoChange {
		out.Commit = res.Commit
	}
	return out, nil
}

// calibrate finds thresholds on labelled questions.
func calibrate(ctx context.Context, s *verb.Service, q *CheckRequest) (*Calibrated, error) {
	at := q.At
	if s.Commit.Branch != "" && !q.Given("at") {
		at = s.Commit.Branch // what is measured is what the thresholds are kept with
	}
	snap, err := s.Repo.Snapshot(ctx, at)
	if err != nil {
		return nil, verb.CommitHint(err)
	}
	c, err := q.request(s.Spec, q)
	if err != nil {
		return nil, err
	}
	set, done := s.Host.Progress()
	defer done()
	made, list := make(map[string]*verb.Made), make([]checkpkg.Labelled, len(q.Labelled))
	for i := range q.Labelled {
		list[i] = q.Labelled[i].Labelled
		made[list[i].Question] = &q.Labelled[i].Made
	}
	got, err := checkpkg.CalibrateOn(ctx, snap, list, checkpkg.CalibrateRequest{
		Check: c, Embeds: q.Embeds, File: q.File,
		Complete: func(_ context.Context, r retrieve.Request) (retrieve.Request, error) {
			made[r.Text].AddTo(&r)
			return r, nil
		},
		Now:      func(r *retrieve.Request) error { return verb.FromNow(s.Host, r) },
		Progress: func(n, total int) { set("questions:", n, total) },
	})
	if err != nil {
		return nil, err
	}
	out := &Calibrated{
		Gate: got.Gate, Answerable: got.Now.Answerable, Unanswerable: got.Now.Unanswerable, Now: got.Now,
		Chosen: got.Calibration.Chosen, Curve: got.Calibration.Curve,
	}
	var t *checkpkg.Thresholds
	if out.Chosen != nil {
		t = &out.Chosen.Thresholds
	}
	if out.ThresholdsKept, err = keepThresholds(ctx, s, q, t, "calibrate check on "+q.File); err != nil {
		return nil, err
	}
	if t == nil {
		return out, &verb.News{Outcome: operation.Failed}
	}
	return out, nil
}

// checkedOf returns the form of a judgement.
func checkedOf(query string, r *checkpkg.Result) *Checked {
	out := &Checked{
		Commit: r.Commit, Query: query, Verdict: r.Verdict, Gate: r.Gate, ReadAs: r.Readings, Thresholds: r.Thresholds,
	}
	if r.Signals != nil {
		out.Signals, out.Missing = &r.Signals.Signals, r.Signals.Missing
	}
	if r.Best != nil {
		out.Item = &r.Best.Memory
	}
	for _, e := range r.Nearest {
		out.Nearest = append(out.Nearest, NearItem{e.Memory, e.Coverage, e.Evidence, e.Score})
	}
	return out
}
