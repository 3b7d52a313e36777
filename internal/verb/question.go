package verb

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/dates"
	"github.com/mnem-project/mnem/internal/base/zones"
	"github.com/mnem-project/mnem/internal/rank/complete"
	"github.com/mnem-project/mnem/internal/rank/stage"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// QuestionModels are the models that complete a question. Remote callers ask for those of the
// configuration alone, or for what asks no model.
type QuestionModels struct {
	Embed        string `op:",settable,remote,varies,true=configured,alone" doc:"rank by the embedding of the query too, made by {SPEC}" note:" (alone: MNEM_EMBED_MODEL; config: embed.model)" remote:"use the embedding model of the configuration too"`
	Rerank       string `op:",set,remote,varies,true=configured" doc:"judge the best items again by {SPEC}: $RERANKERS, or configured for that of the configuration" note:" (MNEM_RERANK_MODEL; config: rerank.model)" remote:"judge the best items again by the model of the configuration"`
	RerankTop    int    `op:",set,remote" default:"50" doc:"judge {N} items; 1 to 200"`
	Rewrite      string `op:",set,remote,varies,true=multi" enum:"multi hyde" doc:"let a model make such texts: {WAY} is multi or hyde" remote:"let the model of the configuration put the query into other words: multi, or true, or hyde for a made-up answer"`
	RewriteModel string `op:",set" doc:"let {SPEC} do it: $REWRITERS" note:" (config: rewrite.model)"`
	Rewrites     int    `op:",set,remote" default:"3" doc:"with rewrite=multi: {N} texts, 1 to 8"`

	// Kept is whether the vectors will be stored: then a failing model is retried more often.
	Kept bool `op:"-"`
	// Judge is the name of the model that reranks, once it is open, "" for none.
	Judge string `op:"-"`
}

// Configured is the value of a field that names a model for the one of the configuration.
const Configured = "configured"

// CheckModels refuses models that the request has no use for. asks says whether there is a query.
func (m *QuestionModels) CheckModels(given func(string) bool, asks bool) error {
	switch {
	case given("embed") && m.Embed == "":
		return Usagef("--embed=: want a model, or --embed alone for the configured one")
	case m.Embed != "" && !asks:
		return Usagef("--embed needs a query to embed; after --embed=SPEC, not --embed SPEC")
	case given("rerank") && m.Rerank == "":
		return Bad(Set+"rerank", "want a model, or %s", Configured)
	case given("rerank-top") && m.Rerank == "":
		return Between("%s is for %s", Set+"rerank-top", Set+"rerank")
	case m.Rerank != "" && !asks:
		return Between("%s needs a query to judge by", Set+"rerank")
	case given("rewrite") && m.Rewrite != retrieve.RewriteMulti && m.Rewrite != retrieve.RewriteHyde:
		return Bad(Set+"rewrite", "%q is not multi or hyde", m.Rewrite)
	case m.Rewrite != "" && given("also"):
		return Exclude("also", Set+"rewrite")
	case given("rewrite-model") && m.Rewrite == "":
		return Between("%s is for %s", Set+"rewrite-model", Set+"rewrite")
	case given("rewrites") && m.Rewrite != retrieve.RewriteMulti:
		return Between("%s is for %s=multi", Set+"rewrites", Set+"rewrite")
	case (m.Rewrite != "" || given("also")) && !asks:
		return Between("%s and %s need a query", "also", Set+"rewrite")
	}
	return CheckRange(Set+"rewrites", m.Rewrites, 1, retrieve.MaxRewrites)
}

// Open sets up the models of a request and opens them.
func (m *QuestionModels) Open(by Caller, r *retrieve.Request) (*complete.Models, error) {
	models, reranker, err := by.Models(m)
	if err != nil {
		return nil, err
	}
	if reranker != nil {
		m.Judge = reranker.Model()
		r.Rerank, r.RerankTop, r.Reranker = m.Judge, &m.RerankTop, reranker
	}
	r.Rewrite = m.Rewrite
	if e := models.Embedder; e != nil && m.Embed != "" {
		switch {
		case complete.HasVector(*r, e.Model()):
			return nil, Usagef("--embed and --vector both give the query as %q sees it", e.Model())
		case len(r.Vectors) == retrieve.MaxVectors:
			return nil, Bad("embed", "there are %d vectors already, the most that a query may have",
				retrieve.MaxVectors)
		}
	}
	return models, r.ValidateGiven()
}

// Made holds the results of models for one question: vectors, rewrites and scores.
type Made struct {
	Vectors  []retrieve.QueryVector
	Whole    []retrieve.WholeWords
	Rewrites []string
	Judged   *Judged
}

// Judged holds the scores that a reranker gave texts.
type Judged struct {
	Of     [sha256.Size]byte // see Want.sum
	Scores []int64
	Failed bool
	At     ipld.CID // the commit that the texts are of
}

// Want is the error of a run that needs to know what the caller's model says of texts.
type Want struct {
	Query string   `json:"query,omitempty"` // that they are judged by
	Texts []string `json:"texts"`
	At    ipld.CID `json:"at"` // the commit that they are of
	// State is where the run has come to, for the next one to go on from.
	State json.RawMessage `json:"state,omitempty"`
}

func (w *Want) Error() string {
	return fmt.Sprintf("a model is to be asked about %d texts", len(w.Texts))
}

// Until has the repository answer a prepared request, and again after each run that ends with a *Want, which answer
// has answered into the request.
func (s *Service) Until(
	ctx context.Context, req any, emit func(any) error, answer func(ctx context.Context, want *Want) error,
) error {
	for {
		var want *Want
		if err := s.Call(ctx, req, emit); !errors.As(err, &want) {
			return err
		}
		if err := answer(ctx, want); err != nil {
			return err
		}
	}
}

// sum tells queries with their texts apart.
func (w *Want) sum() [sha256.Size]byte {
	data, _ := json.Marshal([]any{w.Query, w.Texts}) // they have a JSON form
	return sha256.Sum256(data)
}

// MadeFrom returns what models added to a request.
func MadeFrom(before, after *retrieve.Request) Made {
	return Made{Vectors: after.Vectors[len(before.Vectors):], Whole: after.Whole[len(before.Whole):], Rewrites: after.Rewrites}
}

// AddTo adds to a request what models made of it.
func (m *Made) AddTo(r *retrieve.Request) {
	r.Vectors = append(slices.Clip(r.Vectors), m.Vectors...)
	r.Whole = append(slices.Clip(r.Whole), m.Whole...)
	r.Rewrites = m.Rewrites
}

// Judging sets what models are to do for a request, as Open does. The reranker says what is known of made, and puts what
// is not into want.
func (m *QuestionModels) Judging(r *retrieve.Request, made *Made, want *Want) {
	r.Rewrite = m.Rewrite
	if m.Judge != "" {
		r.Rerank, r.RerankTop, r.Reranker = m.Judge, &m.RerankTop, judged{m.Judge, made, want}
	}
}

// Judge has a reranker judge what a run wants.
func (m *Made) Judge(ctx context.Context, by retrieve.Reranker, want *Want) error {
	scores, err := by.Rerank(ctx, want.Query, want.Texts)
	if ctx.Err() != nil {
		return fmt.Errorf("rerank: %w", context.Cause(ctx))
	}
	m.Judged = &Judged{Of: want.sum(), Scores: scores, Failed: err != nil, At: want.At}
	return nil
}

// judged is a reranker that says what is known.
type judged struct {
	model string
	made  *Made
	want  *Want
}

func (j judged) Model() string { return j.model }

func (j judged) Rerank(_ context.Context, query string, texts []string) ([]int64, error) {
	want := Want{Query: query, Texts: texts}
	switch known := j.made.Judged; {
	case known == nil || known.Of != want.sum():
		*j.want = want
		return nil, j.want
	case known.Failed:
		return nil, errors.New("the model failed")
	default:
		return known.Scores, nil
	}
}

// QueryVectors are vectors of a query in files of this machine.
type QueryVectors struct {
	Vector []string `op:"" doc:"rank by this {MODEL=@FILE} too: the query's vector, a list of numbers, or an object of terms" note:" (repeatable)"`

	// What is in the files, once they were read.
	Dense  []retrieve.QueryVector  `op:"-"`
	Terms  []retrieve.SparseVector `op:"-"`
	Loaded bool                    `op:"-"`
}

// Load reads the files, once.
func (q *QueryVectors) Load(ctx context.Context, by Caller) error {
	if q.Loaded {
		return nil
	}
	q.Loaded = true
	return EachVector(ctx, by, "vector", q.Vector, func(model string, v ipld.Value) error {
		if v.Kind() == ipld.Map {
			vector, err := retrieve.ParseSparseVector(model, v)
			q.Terms = append(q.Terms, vector)
			return err
		}
		vector, err := retrieve.ParseQueryVector(model, v)
		q.Dense = append(q.Dense, vector)
		return err
	})
}

// FromStdin returns the fields that standard input is named for.
func (q *QueryVectors) FromStdin() (uses []string) {
	for _, v := range q.Vector {
		if model, ok := strings.CutSuffix(v, "=@-"); ok {
			uses = append(uses, "--vector "+model)
		}
	}
	return uses
}

// EachVector reads values of the form MODEL=@FILE, and what is in the files.
func EachVector(
	ctx context.Context, by Caller, field string, values []string,
	use func(model string, v ipld.Value) error,
) error {
	var models []string
	for _, s := range values {
		model, path, ok := strings.Cut(s, "=@")
		if !ok || model == "" || path == "" {
			return BadValue(field, s, "want MODEL=@FILE, with - for standard input")
		}
		if slices.Contains(models, model) {
			return Bad(field, "two vectors of the model %q", model)
		}
		models = append(models, model)
		in, shown, err := by.File(ctx, path)
		if err != nil {
			return err
		}
		data, err := io.ReadAll(io.LimitReader(in, graph.MaxLine+1))
		_ = in.Close() // only read from
		if err == nil && len(data) > graph.MaxLine {
			err = graph.Fieldf("", "more than %d bytes", graph.MaxLine)
		}
		var v ipld.Value
		if err == nil {
			v, err = ipld.ParseJSON(data)
		}
		if err == nil {
			err = use(model, v)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", shown, err)
		}
	}
	return nil
}

// ExcludeHint says what to do about a node to exclude that there is none of.
func ExcludeHint(err error) error {
	if missing, ok := errors.AsType[*state.NotFoundError](err); ok && missing.What == "node" {
		return NodeHint(fmt.Errorf("exclude: %w", err))
	}
	return err
}

// ProfileHint says what to do about a profile that there is none of, or that contradicts itself.
func ProfileHint(err error) error {
	if pe, ok := errors.AsType[*retrieve.ProfileError](err); ok {
		flags := make([]string, len(pe.Params))
		for i, param := range pe.Params {
			flags[i] = retrieve.FlagName(param)
		}
		return Hint(err, fmt.Sprintf("set what goes with it too, or take it out: 'mnem config profile %s --unset %s'",
			pe.Name, strings.Join(flags, " --unset ")), "")
	}
	if errors.Is(err, retrieve.ErrNoProfile) {
		return Hint(err, "see 'mnem config profile', or make it with 'mnem config profile NAME PARAMETER=VALUE'", "")
	}
	return err
}

// SummaryCapOf reads the variable that stands for a parameter, nil for none.
func SummaryCapOf(setting func(variable, key string) (string, error)) (*int, error) {
	s, err := setting(summaryCapEnv, "")
	if s == "" || err != nil {
		return nil, err
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		return nil, Usagef("%s: %q is not a number of characters", summaryCapEnv, s)
	}
	return &n, nil
}

// What answers call the repositories that are asked together.
const (
	FromProject = "project"
	FromGlobal  = "global"
)

// The variable and the key that name the zone of days in questions.
const (
	ZoneVariable = "TZ"
	ZoneKey      = "zone"
)

// CheckZone refuses a name that is no zone.
func CheckZone(name string) error {
	if _, err := zones.Find(name); err != nil {
		return fmt.Errorf("%w: %w", state.ErrInvalid, err)
	}
	return nil
}

const dayMicros = 24 * 60 * 60 * 1_000_000

// InZone lets the dates of a request's text be days of a zone. Relative ones count from today, unless the request has a
// now: a time at which a day of UTC begins is that day in every zone. A zone that is not known is an error only if the
// text has a date; no other text depends on the clock or the zone.
func InZone(host Host, zone string, r *retrieve.Request) error {
	relative := stage.CountsFromNow(*r)
	if !relative && len(stage.ReadDates(*r).Ranges) == 0 || len(r.Days) > 0 {
		return nil
	}
	z, err := zones.Find(zone)
	if err != nil {
		return Bad(ZoneKey, "%w", err)
	}
	if relative && !r.Now.Given {
		now, err := host.Now()
		if err != nil {
			return err
		}
		r.Now = graph.At(now)
	}
	if at := int64(r.Now.Time); r.Now.Given && at%dayMicros != 0 {
		r.Now.Time = graph.Time(z.Day(at) * dayMicros)
	}
	r.Days = daysOf(z, stage.ReadDates(*r).Ranges)
	return nil
}

// daysOf returns the times of days in a zone, given as days of UTC; nil if they are the same.
func daysOf(z *zones.Zone, list []dates.Range) []retrieve.DateRange {
	differ := false
	end := func(at, none int64) graph.OptTime {
		if at == none {
			return graph.OptTime{}
		}
		begin := z.Begin(at / dayMicros)
		differ = differ || begin != at
		return graph.At(min(max(graph.Time(begin), graph.MinTime), graph.MaxTime))
	}
	var out []retrieve.DateRange
	for _, r := range list {
		out = append(out, retrieve.DateRange{From: end(r.From, dates.NoFrom), To: end(r.To, dates.NoTo)})
	}
	if !differ {
		return nil
	}
	return out
}
