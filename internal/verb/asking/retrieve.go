package asking

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/rank"
	"github.com/mnem-project/mnem/internal/rank/complete"
	"github.com/mnem-project/mnem/internal/rank/stage"
	sessionpkg "github.com/mnem-project/mnem/internal/session"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// RetrieveRequest asks a question, or each of the lines of a batch.
type RetrieveRequest struct {
	Query string `op:",arg,remote,words=65537" doc:"the question or words to look for"`
	verb.Parameters
	verb.AtRevision
	verb.Marks
	verb.QuestionModels
	verb.QueryVectors
	Profile    string `op:",remote" complete:"profile" doc:"take what no flag says from this {NAME}; see 'mnem help profile'" note:" (MNEM_PROFILE; config: retrieve.profile)"`
	Session    string `op:",remote,writes" complete:"session" doc:"answer in this session and record it" note:" (MNEM_SESSION)"`
	Follow     bool   `op:",remote,varies" doc:"with a session: answer from HEAD, not from its commit"`
	Receipt    bool   `op:",remote,writes" doc:"record the answer, without a session too"`
	Batch      string `op:"" doc:"answer the queries in {FILE}, - for standard input, as JSON"`
	WithGlobal bool   `op:"" doc:"ask the user's own repository too, and say which each item came from"`
	All        bool   `op:",remote" doc:"print every item in the order of ranks, however sure it is"`
	Explain    bool   `op:",remote,varies" doc:"tell how each item was found, and what did not fit"`
	verb.Actor

	whole      any         // the request itself, or the one that embeds it
	aside      bool        // whether it is the part of a request that the user's own repository answers
	global     verb.Runner // where that repository is asked too
	SummaryCap *int        `op:"-"` // of the environment, nil where the request says it
	Draft      bool        `op:"-"` // whether the answer has its receipt, which is recorded later
	base       retrieve.Request
	models     *complete.Models
}

// RecallRequest is a RetrieveRequest that is ranked by what the question asks for.
type RecallRequest struct {
	RetrieveRequest
	Intent string `op:",remote" enum:"auto why when entity general" default:"auto" doc:"what the query asks for: {INTENT} is auto, why, when, entity or general"`
}

// Retrieve and Recall answer questions.
var (
	Retrieve = verb.Stream(verb.Spec{
		Command: "retrieve", Right: verb.NoRight, Usage: "[QUERY…] [flags]", Group: "read", Effect: verb.Reads, Pure: true,
		Title: "Answer a query from one commit within a token budget",
		Doc:   retrieveDoc, Example: retrieveExample,
		Batch: &verb.BatchSpec{Title: "Answer many requests", Lines: verb.LinesSpec{
			Flag: "batch", Required: true,
			Doc: "requests: objects with text and any parameter of retrieve",
		}},
	}, ask)

	Recall = verb.Stream(verb.Spec{
		Command: "recall", Right: verb.NoRight, Usage: "[QUERY…] [flags]", Group: "read", Effect: verb.Reads, Pure: true,
		Title: "Answer a question by its kind: why, when, who or what",
		Doc:   recallDoc, Example: recallExample,
		Batch: &verb.BatchSpec{Title: "Recall for many questions", Lines: verb.LinesSpec{
			Flag: "batch", Required: true,
			Doc: "requests: objects with text and any parameter of retrieve",
		}},
	}, func(ctx context.Context, s *verb.Service, q *RecallRequest, emit func(*Answer) error) error {
		return ask(ctx, s, &q.RetrieveRequest, emit)
	})
)

// Configure takes the session, the profile and the length of texts from the environment and the
// configuration.
func (q *RetrieveRequest) Configure(setting func(variable, key string) (string, error)) error {
	if q.Given("session") && q.Session == "" {
		return verb.Bad("session", "want a name")
	}
	if q.Given("profile") && q.Profile == "" {
		return verb.Bad("profile", "want a name; see 'mnem profile list'")
	}
	var err error
	if q.Session == "" {
		if q.Session, err = setting("MNEM_SESSION", ""); err != nil {
			return err
		}
	}
	if q.Profile == "" {
		if q.Profile, err = q.profileOf(setting); err != nil {
			return err
		}
	}
	return q.ConfigureSummary(setting)
}

// ConfigureSummary takes the length of texts from the environment.
func (q *RetrieveRequest) ConfigureSummary(setting func(variable, key string) (string, error)) (err error) {
	if !q.Given("summary-cap") {
		q.SummaryCap, err = verb.SummaryCapOf(setting)
	}
	return err
}

// profileOf returns the profile that the environment or the configuration names, "" for none. The variable is
// about the project's repository.
func (q *RetrieveRequest) profileOf(setting func(variable, key string) (string, error)) (string, error) {
	const key = "retrieve.profile"
	variable := "MNEM_PROFILE"
	if q.aside {
		variable = ""
	}
	name, err := setting(variable, key)
	if err == nil && name != "" && !retrieve.ValidProfileName(name) {
		err = fmt.Errorf("%w: %s: %q is not the name of a profile", state.ErrInvalid, key, name)
	}
	return name, err
}

// check refuses fields that exclude each other or would do nothing.
func (q *RetrieveRequest) check() error {
	asks := q.Given("query") || q.Batch != ""
	recorded := q.Session != "" || q.Receipt
	switch {
	case q.All && q.Given("floor"):
		return verb.Exclude("all", "floor")
	case q.Follow && q.Given("at"):
		return verb.Exclude("follow", "at")
	case q.Follow && !recorded:
		return verb.Between("%s needs %s: without one, the answer is from HEAD anyway", "follow", "session")
	case q.Given("unseen") && !recorded:
		return verb.Between("%s needs %s: without one, nothing tells what was shown before", "unseen", "session")
	case q.Given("batch") && q.Batch == "":
		return verb.Bad("batch", "want a file, or - for standard input")
	case q.Batch != "" && q.Given("query"):
		return verb.Usagef("--batch and a query on the command line exclude each other")
	}
	for _, name := range []string{"author", "agent", "task", "time"} {
		if q.Given(name) && !recorded {
			return verb.Between("%s needs %s or %s: nothing is recorded without", name, "session", "receipt")
		}
	}
	if err := q.CheckModels(q.Given, asks); err != nil {
		return err
	}
	if q.WithGlobal {
		for _, name := range ofOne {
			if q.Given(name) {
				return verb.Exclude("with-global", name)
			}
		}
	}
	uses := q.FromStdin()
	if q.Batch == "-" {
		uses = append([]string{"--batch"}, uses...)
	}
	if q.Given("-") {
		uses = append([]string{"the query"}, uses...)
	}
	return verb.OneUse(uses)
}

// ofOne are fields that make no sense for the answer of two repositories.
var ofOne = []string{"batch", "explain", "exclude", "unseen", "order"}

// AskGlobal has the user's own repository asked too, for a caller that has given some fields, unless these make no
// sense then. It reports whether it is.
func (q *RetrieveRequest) AskGlobal(given []string) bool {
	q.WithGlobal = !slices.ContainsFunc(ofOne, func(name string) bool { return slices.Contains(given, name) })
	return q.WithGlobal
}

// prepare makes the request of a retrieval, and lets models complete that of a single question: others
// may wait for the repository.
func (q *RetrieveRequest) Prepare(ctx context.Context, s *verb.Service, req any) (err error) {
	q.whole = req
	if err = q.check(); err != nil {
		return err
	}
	if q.WithGlobal {
		if q.global, err = s.Host.Global(); err != nil {
			return err
		}
	}
	if q.base, err = q.Request(s.Spec, req); err != nil {
		return err
	}
	if err = q.Read(ctx, s.Host, &q.base); err != nil {
		return err
	}
	q.base.Text, q.base.Profile = q.Query, q.Profile
	if q.WithGlobal {
		return q.base.ValidateGiven() // each repository has models of its own
	}
	q.base, q.models, err = q.completed(ctx, s.Host)
	return err
}

// Request returns the request that the fields of the table and the marks make of req, which is q or has
// it. What they do not say is left to profiles.
func (q *RetrieveRequest) Request(spec *verb.Spec, req any) (r retrieve.Request, err error) {
	if err = spec.SetParameters(req, &r); err != nil {
		return r, err
	}
	if r.Marks, err = q.States(); err != nil {
		return r, err
	}
	if r.Format == "" {
		r.Format = retrieve.FormatBrief
	}
	given := Decides(&q.Parameters.Params)
	if q.All {
		r.Floor = retrieve.FloorRest
		given = append(given, "floor")
	}
	if q.SummaryCap != nil {
		r.SummaryCap = q.SummaryCap
		given = append(given, "summaryCap")
	}
	r = r.Explicitly(given...)
	return r, r.ValidateGiven()
}

// Decides returns the parameters that profiles may set and that fields of the request set.
func Decides(p *verb.Params) (given []string) {
	for _, param := range retrieve.ProfileParams() {
		if p.Given(retrieve.FlagName(param)) {
			given = append(given, param)
		}
	}
	return given
}

// completed returns the request with what models are to do, and of a single question with what they did.
func (q *RetrieveRequest) completed(
	ctx context.Context, host verb.Host,
) (r retrieve.Request, models *complete.Models, err error) {
	r = q.base
	if models, err = q.Open(host, &r); err == nil && q.Batch == "" {
		r, err = models.Complete(ctx, r)
	}
	return r, models, err
}

// InJSON reports whether answers are printed as JSON for people too.
func (q *RetrieveRequest) InJSON() bool { return q.Batch != "" }

// ReadsOnce reports whether questions come from standard input, which nothing gives again.
func (q *RetrieveRequest) ReadsOnce() bool { return q.Batch == "-" }

// session is the one that answers are recorded in, "" for none.
func (q *RetrieveRequest) session() string {
	if q.Session == "" && q.Receipt {
		return sessionpkg.DefaultSession
	}
	return q.Session
}

// ask answers a question or those of a batch.
func ask(ctx context.Context, s *verb.Service, q *RetrieveRequest, emit func(*Answer) error) error {
	a := &asking{q: q, spec: s.Spec, host: s.Host, repo: s.Repo, by: s.Commit.Stamp, shown: map[graph.ID]int64{}}
	a.session, a.at, a.human = q.session(), q.At, s.Human && q.Batch == "" // lines are answered in JSON
	defer func() { s.Host.Shown(ctx, a.shown) }()
	switch {
	case q.WithGlobal:
		return a.together(ctx, emit)
	case q.Batch != "":
		return a.batch(ctx, emit)
	}
	answer, err := a.answer(ctx, complete.Query{Request: q.base})
	if err != nil {
		return err
	}
	return emit(answer)
}

// asking answers requests from one repository.
type asking struct {
	q       *RetrieveRequest
	spec    *verb.Spec
	host    verb.Host
	repo    *core.Repo
	human   bool
	session string // where answers are recorded, "" for nowhere
	by      state.Stamp
	at      string
	shown   map[graph.ID]int64
}

// retrieve answers one request and records it if there is a session.
func (a *asking) retrieve(ctx context.Context, req retrieve.Request, trace *stage.Trace) (
	snap *core.Snapshot, answer *retrieve.Answer, receipt ipld.CID, err error,
) {
	if snap, err = a.snapshot(ctx); err != nil {
		return nil, nil, receipt, verb.CommitHint(err)
	}
	if err = verb.FromNow(a.host, &req); err != nil {
		return nil, nil, receipt, err
	}
	if a.session != "" {
		if req, err = sessionpkg.Unseen(ctx, a.repo, a.session, snap, req); err != nil {
			return nil, nil, receipt, verb.ExcludeHint(err)
		}
	}
	answer, err = rank.RetrieveTraced(ctx, snap, req, trace)
	if err != nil {
		return nil, nil, receipt, verb.ProfileHint(verb.ExcludeHint(err))
	}
	for i := range answer.Items {
		a.shown[answer.Items[i].ID]++
	}
	if a.session != "" {
		receipt, err = sessionpkg.Record(ctx, a.repo, a.session, answer, a.by)
	}
	return snap, answer, receipt, err
}

// answer answers a question, or a line of a batch.
func (a *asking) answer(ctx context.Context, line complete.Query) (*Answer, error) {
	var trace *stage.Trace
	if a.q.Explain {
		trace = &stage.Trace{Clock: a.host.Clock()}
	}
	snap, found, receipt, err := a.retrieve(ctx, line.Request, trace)
	if err != nil {
		return nil, err
	}
	out := AnswerOf(found, line)
	out.Receipt = receipt
	if a.q.Draft {
		if out.Draft, err = sessionpkg.Draft(found); err != nil {
			return nil, err
		}
	}
	if a.q.Explain {
		err = out.explain(ctx, snap, found, trace, a.human)
	}
	return out, err
}

// snapshot returns what the next request is answered from: the revision that is asked for, else the
// session's commit, else HEAD.
func (a *asking) snapshot(ctx context.Context) (*core.Snapshot, error) {
	if a.session == "" {
		return a.repo.Snapshot(ctx, a.at)
	}
	entry, err := sessionpkg.Session(ctx, a.repo, a.session)
	var missing *state.NotFoundError
	switch {
	case errors.As(err, &missing) && a.session == sessionpkg.DefaultSession:
		return a.repo.Snapshot(ctx, a.at) // made when the receipt is recorded
	case errors.As(err, &missing):
		return nil, verb.Hint(err, "begin it with 'mnem session start NAME'", "")
	case err != nil:
		return nil, err
	case a.q.Given("at") || a.q.Follow || entry.Record.Follow:
		return a.repo.Snapshot(ctx, a.at)
	}
	return a.repo.At(ctx, entry.Record.Commit)
}

// batch answers the requests of a file, one JSON object a line, in order. Each answer is given before
// the next line is read, so that a program may talk through a pipe. A line that cannot be read or
// answered ends it, with the file and line in the error.
func (a *asking) batch(ctx context.Context, emit func(*Answer) error) error {
	return verb.EachLine(ctx, a.host, a.q.Batch, func(line []byte) (func() error, error) {
		v, err := ipld.ParseJSON(line)
		if err != nil {
			return nil, err
		}
		q, err := complete.ParseRequestJSON(v, a.q.base)
		if err != nil {
			return nil, err
		}
		if q.Request, err = a.q.models.Complete(ctx, q.Request); err != nil {
			return nil, err
		}
		answer, err := a.answer(ctx, q)
		return func() error { return emit(answer) }, err
	})
}
