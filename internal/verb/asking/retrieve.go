// Package asking has the verbs that answer questions: retrieve, recall and check, with their profiles, sessions and
// receipts.
package asking

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/rank"
	"github.com/mnem-project/mnem/internal/rank/complete"
	"github.com/mnem-project/mnem/internal/rank/stage"
	sessionpkg "github.com/mnem-project/mnem/internal/session"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/operation"
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
	Set        []string `op:",sets" doc:"set a parameter, {NAME=VALUE}; 'mnem retrieve --help parameters' lists them" note:" (repeatable)"`
	Profile    string   `op:",settable,remote" complete:"profile" doc:"take what no flag says from this {NAME}; see 'mnem config profile --help'" note:" (MNEM_PROFILE; config: retrieve.profile)"`
	Zone       string   `op:",set,remote" doc:"read dates in the query as days of this {ZONE}: a name like Europe/Berlin, or an offset like +02:00" note:" (TZ; config: zone; default: UTC)"`
	Session    string   `op:",remote,writes" complete:"session" doc:"answer in this session and record it" note:" (MNEM_SESSION)"`
	Follow     bool     `op:",remote,varies" doc:"with a session: answer from HEAD, not from its commit"`
	Receipt    bool     `op:",remote,writes" doc:"record the answer, without a session too"`
	Batch      string   `op:"" doc:"answer the queries in {FILE}, - for standard input, as JSON"`
	WithGlobal bool     `op:",wide" doc:"ask the user's own repository too, and say which each item came from"`
	ExitCode   bool     `op:"strict" doc:"exit with 8 if the verdict is unknown"`
	Explain    bool     `op:",remote,varies" doc:"tell how each item was found, and what did not fit"`
	verb.Actor

	SummaryCap *int      `op:"-"` // of the environment, nil if the request says it
	Draft      bool      `op:"-"` // whether the answer has its receipt, which is recorded later
	Made       verb.Made `op:"-"` // of the query
	Lines      []Line    `op:"-"` // of the batch, to be answered at once
	Lined      string    `op:"-"` // how errors call the file of the batch

	aside    bool             // whether it is the part of a request that the user's own repository answers
	global   verb.Runner      // set if that repository is asked too
	prepared retrieve.Request // that lines begin with
	models   *complete.Models
}

// Line is a line of a batch.
type Line struct {
	Number int
	Text   string
	Made   verb.Made
}

// RecallRequest is a RetrieveRequest that ranks by the kind of question.
type RecallRequest struct {
	RetrieveRequest `flags:"at type where since until include limit budget also session receipt explain unseen adjacency with-global format batch"`
	Intent          string `op:",remote" enum:"auto why when entity general" default:"auto" doc:"what the query asks for: {INTENT} is auto, why, when, entity or general"`
}

// Retrieve and Recall answer questions.
var (
	Retrieve = verb.Stream(verb.Spec{
		Command: "retrieve", Right: verb.NoRight, Confined: true, Usage: "[QUERY…] [flags]", Group: "read", Effect: verb.Reads, Pure: true,
		Title: "Answer a query from one commit within a token budget",
		Doc:   retrieveDoc, Example: retrieveExample,
		Batch: &verb.BatchSpec{Title: "Answer many requests", Lines: verb.LinesSpec{
			Flag: "batch", Required: true,
			Doc: "requests: objects with text and any parameter of retrieve",
		}},
	}, func(ctx context.Context, s *verb.Service, q *RetrieveRequest, emit func(*Answer) error) error {
		return ask(ctx, s, q, q, emit)
	})

	Recall = verb.Stream(verb.Spec{
		Command: "recall", Right: verb.NoRight, Confined: true, Usage: "[QUERY…] [flags]", Group: "read", Effect: verb.Reads, Pure: true,
		Title: "Answer a question by its kind: why, when, who or what",
		Doc:   recallDoc, Example: recallExample,
		Batch: &verb.BatchSpec{Title: "Recall for many questions", Lines: verb.LinesSpec{
			Flag: "batch", Required: true,
			Doc: "requests: objects with text and any parameter of retrieve",
		}},
	}, func(ctx context.Context, s *verb.Service, q *RecallRequest, emit func(*Answer) error) error {
		return ask(ctx, s, &q.RetrieveRequest, q, emit)
	})
)

// Configure takes the session, the profile and the length of texts from the environment and the configuration.
func (q *RetrieveRequest) Configure(setting func(variable, key string) (string, error)) error {
	if q.Given("session") && q.Session == "" {
		return verb.Bad("session", "want a name")
	}
	if q.Given("profile") && q.Profile == "" {
		return verb.Bad("profile", "want a name; see 'mnem config profile'")
	}
	var err error
	if q.Session == "" {
		q.Session, err = setting("MNEM_SESSION", "")
	}
	if q.Profile == "" && err == nil {
		q.Profile, err = q.profileOf(setting)
	}
	if q.Zone == "" && err == nil {
		q.Zone, err = setting(verb.ZoneVariable, verb.ZoneKey)
	}
	if err != nil {
		return err
	}
	return q.ConfigureSummary(setting)
}

// TakeAlong implements verb.TakesAlong: the caller's zone decides. An unknown zone is not sent.
func (q *RetrieveRequest) TakeAlong(setting func(variable, key string) (string, error)) error {
	if q.Zone != "" {
		return nil
	}
	zone, err := setting(verb.ZoneVariable, verb.ZoneKey)
	if err == nil && verb.CheckZone(zone) == nil {
		q.Zone = zone
	}
	return err
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

func (q *RetrieveRequest) check() error {
	asks := q.Given("query") || q.Batch != ""
	recorded := q.Session != "" || q.Receipt
	switch {
	case q.Given("zone") && verb.CheckZone(q.Zone) != nil:
		return verb.Bad(verb.Set+"zone", "%w", verb.CheckZone(q.Zone))
	case q.Follow && q.Given("at"):
		return verb.Exclude("follow", "at")
	case q.Follow && !recorded:
		return verb.Between("%s needs %s: without one, the answer is from HEAD anyway", "follow", "session")
	case q.Given("unseen") && !recorded:
		return verb.Between("%s needs %s: without one, nothing tells what was shown before", "unseen", "session")
	case q.Given("batch") && q.Batch == "":
		return verb.Bad("batch", "want a file, or - for standard input")
	case q.Batch != "" && q.ExitCode:
		return verb.Exclude("batch", "strict")
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
	if len(uses) > 1 {
		return verb.Usagef("standard input is named twice: for %s", strings.Join(uses, " and "))
	}
	return nil
}

// ofOne are fields that make no sense for the answer of two repositories.
var ofOne = []string{"batch", "explain", "exclude", "unseen", "order"}

// AskGlobal adds the user's own repository to the question, unless fields that the caller has given exclude that. It
// reports whether it did.
func (q *RetrieveRequest) AskGlobal(given []string) bool {
	q.WithGlobal = !slices.ContainsFunc(ofOne, func(name string) bool { return slices.Contains(given, name) })
	return q.WithGlobal
}

// Prepare reads the vectors, and has models complete a single question.
func (q *RetrieveRequest) Prepare(ctx context.Context, s *verb.Service, req any) (err error) {
	if err = q.check(); err != nil {
		return err
	}
	if q.WithGlobal {
		if q.global, err = s.Caller.Global(); err != nil {
			return err
		}
	}
	if err = q.Load(ctx, s.Caller); err != nil {
		return err
	}
	r, err := q.base(s.Spec, req)
	if err != nil {
		return err
	}
	if q.WithGlobal {
		return r.ValidateGiven() // each repository has its own models
	}
	before := r
	if q.models, err = q.Open(s.Caller, &r); err != nil {
		return err
	}
	if q.prepared = r; q.Batch != "" {
		return nil
	}
	r, err = q.models.Complete(ctx, r)
	q.Made = verb.MadeFrom(&before, &r)
	return err
}

// base returns the request of the question, or the defaults of the lines, without the additions of models.
func (q *RetrieveRequest) base(spec *verb.Spec, req any) (retrieve.Request, error) {
	r, err := q.Request(spec, req)
	r.Text, r.Profile, r.Vectors, r.Sparse = q.Query, q.Profile, q.Dense, q.Terms
	return r, err
}

// Request returns the request from the fields of req, which is q or embeds it, and from the marks. Fields that are not
// given are left to profiles.
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

// InJSON reports whether answers are printed as JSON for people too.
func (q *RetrieveRequest) InJSON() bool { return q.Batch != "" }

// ReadsOnce reports whether questions come from standard input, which nothing gives again.
func (q *RetrieveRequest) ReadsOnce() bool { return q.Batch == "-" }

func ask(ctx context.Context, s *verb.Service, q *RetrieveRequest, req any, emit func(*Answer) error) error {
	a := &asking{q: q, host: s.Host, repo: s.Repo, by: s.Commit.Stamp, session: q.Session}
	a.human = s.Human && q.Batch == "" // lines are answered in JSON
	if q.Session == "" && q.Receipt {
		a.session = sessionpkg.DefaultSession
	}
	base, err := q.base(s.Spec, req)
	if err != nil {
		return err
	}
	if q.Batch == "" {
		q.Judging(&base, &q.Made, &a.want)
		q.Made.AddTo(&base)
		answer, err := a.answer(ctx, complete.Query{Request: base}, &q.Made)
		if err != nil {
			return err
		}
		return cmp.Or(emit(answer), q.outcome(answer))
	}
	for i := range q.Lines {
		line := &q.Lines[i]
		r := base
		q.Judging(&r, &line.Made, &a.want)
		query, err := parseLine([]byte(line.Text), r)
		var answer *Answer
		if err == nil {
			line.Made.AddTo(&query.Request)
			answer, err = a.answer(ctx, query, &line.Made)
		}
		if err != nil {
			return &graph.LineError{File: q.Lined, Line: line.Number, Err: err}
		}
		if err := emit(answer); err != nil {
			return err
		}
	}
	return nil
}

// outcome returns the error that sets an answer's exit code, nil for none.
func (q *RetrieveRequest) outcome(answer *Answer) error {
	if q.ExitCode && answer.Verdict == retrieve.Unknown {
		return &verb.News{Outcome: operation.Unknown}
	}
	return nil
}

type asking struct {
	q       *RetrieveRequest
	host    verb.Host
	repo    *core.Repo
	human   bool
	session string // where answers are recorded, "" for nowhere
	by      state.Stamp
	want    verb.Want // scores that the reranker must give
}

// retrieve answers one request and records it if there is a session. The reranker's scores belong to one commit, and so
// does the answer.
func (a *asking) retrieve(ctx context.Context, req retrieve.Request, trace *stage.Trace, judged *verb.Judged) (
	snap *core.Snapshot, answer *retrieve.Answer, receipt ipld.CID, err error,
) {
	if judged != nil {
		snap, err = a.repo.At(ctx, judged.At)
	} else {
		snap, err = a.snapshot(ctx)
	}
	if err != nil {
		return nil, nil, receipt, verb.CommitHint(err)
	}
	if err = verb.InZone(a.host, a.q.Zone, &req); err != nil {
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
	if a.want.Texts != nil {
		a.want.At = snap.CID()
		return nil, nil, receipt, &a.want
	}
	if a.session != "" {
		receipt, err = sessionpkg.Record(ctx, a.repo, a.session, answer, a.by)
	}
	return snap, answer, receipt, err
}

func (a *asking) answer(ctx context.Context, line complete.Query, made *verb.Made) (*Answer, error) {
	var trace *stage.Trace
	if a.q.Explain {
		trace = &stage.Trace{Clock: a.host.Clock()}
	}
	snap, found, receipt, err := a.retrieve(ctx, line.Request, trace, made.Judged)
	if err != nil {
		return nil, err
	}
	out := AnswerOf(found, line)
	out.Receipt = receipt
	for _, v := range made.Vectors {
		if err = a.tellUnembedded(ctx, out, snap, v.Model); err != nil {
			return nil, err
		}
	}
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

// Unembedded is the code of the warning that nodes have no vector by the model that embedded a query. It describes the
// repository and not the computation of the answer: receipts do not have it.
const Unembedded retrieve.Code = "unembedded"

// tellUnembedded adds the number of nodes without a vector by a model to an answer, if there are any. It then replaces
// the warning no_vectors.
func (a *asking) tellUnembedded(ctx context.Context, out *Answer, s *core.Snapshot, model string) error {
	lack, of, err := rank.Unembedded(ctx, s, model)
	if err != nil || lack == 0 {
		return err
	}
	remedy := "'mnem embed'"
	if spec := a.q.Embed; spec != "" && spec != verb.Configured {
		remedy = "'mnem embed --model " + spec + "'"
	}
	if _, newest, err := a.repo.Branch(ctx); err == nil && newest != s.CID() {
		remedy += " embeds the newest commit"
	}
	out.Warnings = slices.DeleteFunc(out.Warnings, func(w AnswerWarning) bool { return w.Code == retrieve.NoVectors })
	out.Warnings = append(out.Warnings, AnswerWarning{
		Code: Unembedded, Message: fmt.Sprintf("%d of %d memories have no vector yet", lack, of), Remedy: remedy,
	})
	return nil
}

// snapshot returns the snapshot for the next request: the requested revision, else the session's commit, else HEAD.
func (a *asking) snapshot(ctx context.Context) (*core.Snapshot, error) {
	if a.session == "" {
		return a.repo.Snapshot(ctx, a.q.At)
	}
	entry, err := sessionpkg.Session(ctx, a.repo, a.session)
	missing := errors.As(err, new(*state.NotFoundError))
	switch {
	case missing && a.session == sessionpkg.DefaultSession:
		return a.repo.Snapshot(ctx, a.q.At) // made when the receipt is recorded
	case missing:
		return nil, verb.Hint(err, "begin it with 'mnem session start NAME'", "")
	case err != nil:
		return nil, err
	case a.q.Given("at") || a.q.Follow || entry.Record.Follow:
		return a.repo.Snapshot(ctx, a.q.At)
	}
	return a.repo.At(ctx, entry.Record.Commit)
}

func parseLine(text []byte, base retrieve.Request) (q complete.Query, err error) {
	v, err := ipld.ParseJSON(text)
	if err == nil {
		q, err = complete.ParseRequestJSON(v, base)
	}
	return q, err
}

func (q *RetrieveRequest) Drives() bool { return q.Batch != "" || q.WithGlobal || q.Judge != "" }

// Drive asks the repository in several runs.
func (q *RetrieveRequest) Drive(ctx context.Context, s *verb.Service, req any, emit func(any) error) error {
	switch {
	case q.WithGlobal:
		return q.together(ctx, s, req, emit)
	case q.Batch != "":
		return q.batch(ctx, s, req, emit)
	}
	return q.judge(ctx, s, req, &q.Made, emit)
}

// maxJudged is how often a reranker is asked about one question: the nodes that a session has shown may change in
// between.
const maxJudged = 4

// judge runs the request, and again after the reranker has judged the candidates that the run names.
func (q *RetrieveRequest) judge(
	ctx context.Context, s *verb.Service, req any, made *verb.Made, emit func(any) error,
) error {
	n := 0
	return s.Until(ctx, req, emit, func(ctx context.Context, want *verb.Want) error {
		if n++; n > maxJudged {
			return fmt.Errorf("%w: what there is to judge changed %d times", store.ErrBusy, maxJudged)
		}
		return made.Judge(ctx, q.prepared.Reranker, want)
	})
}

// maxLines is how many lines of a batch are answered in one run.
const maxLines = 64

// batch answers the requests of a file, one JSON object a line, in order. As many lines as there are without waiting
// for more are answered in one run, and before more are read, so that a program may talk through a pipe. A line that
// cannot be read or answered ends it, with the file and line in the error.
func (q *RetrieveRequest) batch(ctx context.Context, s *verb.Service, req any, emit func(any) error) error {
	most := maxLines
	if q.Judge != "" {
		most = 1
	}
	return verb.EachLine(ctx, s.Caller, q.Batch, func(n int, text []byte) error {
		line, err := parseLine(text, q.prepared)
		if err != nil {
			return err
		}
		r, err := q.models.Complete(ctx, line.Request)
		q.Lines = append(q.Lines, Line{n, string(text), verb.MadeFrom(&line.Request, &r)})
		return err
	}, func(shown string, waits bool) error {
		if len(q.Lines) == 0 || len(q.Lines) < most && !waits {
			return nil
		}
		q.Lined = shown
		err := q.judge(ctx, s, req, &q.Lines[0].Made, emit)
		q.Lines = nil
		return err
	})
}

// ofProject are fields that are about the project's repository alone.
var ofProject = []string{
	"session", "receipt", "follow", "author", "agent", "task", "time", "at", "profile", "with-global", "altitude", "-",
}

// together asks the project's repository and the user's own, and merges the answers into one list. Only the project's
// answer is recorded.
func (q *RetrieveRequest) together(ctx context.Context, s *verb.Service, req any, emit func(any) error) error {
	project, to := q.copied(req)
	to.WithGlobal, to.ExitCode = false, false
	if err := to.Prepare(ctx, s, project); err != nil {
		return err
	}
	ours, theirs := new(Answer), new(Answer)
	err := to.Drive(ctx, s, project, func(res any) error {
		ours = res.(*Answer)
		return nil
	})
	if err != nil {
		return fmt.Errorf("%s repository: %w", verb.FromProject, err)
	}
	err = q.global(ctx, s.Spec, q.ofGlobal(req), func(res any) error {
		theirs = res.(*Answer)
		return nil
	})
	if err != nil && verb.OutcomeOf(ctx, err) != operation.NotFound { // it has no commit yet, so nothing to say
		return fmt.Errorf("%s repository: %w", verb.FromGlobal, err)
	}
	first, second := part(verb.FromProject, ours), part(verb.FromGlobal, theirs)
	limit := retrieve.DefaultLimit
	if n := to.prepared.Limit; n != nil {
		limit = *n
	} else { // a profile may say more
		limit = max(limit, len(ours.Items), len(theirs.Items))
	}
	budget := ours.TokensBudget
	if budget > 0 { // the budget that the project's digests leave; the user's own are not requested
		budget = max(1, budget-ours.digestTokens())
	}
	list := complete.Together(limit, budget, first, second)
	ours.join(list, theirs, []complete.Part{first, second})
	return cmp.Or(emit(ours), q.outcome(ours))
}

// part returns an answer as a part of several, whose scores count as much as its best item covers the question.
func part(name string, a *Answer) complete.Part {
	p := complete.Part{Name: name, Share: complete.FullShare}
	for i := range a.Items {
		p.Items = append(p.Items, a.Items[i].Item)
	}
	if a.Verdict != "" {
		p.Share = complete.ShareOf(a.Covered)
	}
	return p
}

// copied returns a copy of the request, which req is or embeds, and of its part that asks.
func (q *RetrieveRequest) copied(req any) (any, *RetrieveRequest) {
	clone := reflect.New(reflect.TypeOf(req).Elem())
	clone.Elem().Set(reflect.ValueOf(req).Elem())
	return clone.Interface(), clone.Interface().(interface{ question() *RetrieveRequest }).question()
}

func (q *RetrieveRequest) ofGlobal(req any) any {
	clone, to := q.copied(req)
	to.Session, to.Profile, to.At = "", "", "HEAD"
	to.Receipt, to.Follow, to.WithGlobal, to.ExitCode, to.aside = false, false, false, false, true
	to.Actor = verb.Actor{}
	to.Forget(ofProject)
	return clone
}

func (q *RetrieveRequest) question() *RetrieveRequest { return q }

func (out *Answer) join(list *complete.Joint, theirs *Answer, parts []complete.Part) {
	answers := []*Answer{{Items: out.Items, Commit: out.Commit, Warnings: out.Warnings}, theirs}
	out.Items, out.Warnings, out.TokensUsed = nil, nil, list.Used+out.digestTokens()
	out.Dropped += theirs.Dropped + list.Left
	out.DroppedBy.Budget += theirs.DroppedBy.Budget + list.Left
	out.DroppedBy.Duplicate += theirs.DroppedBy.Duplicate
	out.Candidates += theirs.Candidates
	if theirs.Verdict.Surer(out.Verdict) {
		out.Verdict, out.Because, out.Missing, out.Covered = theirs.Verdict, theirs.Because, theirs.Missing, theirs.Covered
	}
	for i, a := range answers {
		name := parts[i].Name
		out.Repositories = append(out.Repositories, Scope{name, a.Commit, parts[i].Share, list.Counts[i]})
		for _, w := range a.Warnings {
			w.Repository = name
			out.Warnings = append(out.Warnings, w)
		}
	}
	for _, it := range list.Items {
		item := answers[it.Part].Items[it.At]
		item.Repository = parts[it.Part].Name
		item.Item = it.Item
		out.Items = append(out.Items, item)
	}
}
