package verb

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/rank/complete"
	"github.com/mnem-project/mnem/internal/rank/stage"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// Asker is what questions need of a host.
type Asker interface {
	// Models opens the models that a question names. The reranker is nil for none, and for one that
	// asks no model.
	Models(m *QuestionModels) (*complete.Models, retrieve.Reranker, error)
	// File opens a file that a field names, standard input for a hyphen, and returns what errors call it.
	File(ctx context.Context, name string) (in io.ReadCloser, shown string, err error)
	// Clock returns the time since any fixed moment, for explanations.
	Clock() func() time.Duration
	// Shown counts how often answers showed nodes, where that is counted.
	Shown(ctx context.Context, nodes map[graph.ID]int64)
	// Global returns what runs verbs on the user's own repository.
	Global() (Runner, error)
}

// Runner runs a verb on a repository, and gives each answer to emit.
type Runner func(ctx context.Context, v *Spec, req any, emit func(any) error) error

// QuestionModels are the models that complete a question. Remote callers ask for those of the
// configuration alone, or for what asks no model.
type QuestionModels struct {
	Embed        string `op:",remote,varies,true=configured,alone" doc:"rank by the embedding of the query too, made by {SPEC}" note:" (alone: MNEM_EMBED_MODEL; config: embed.model)" remote:"use the embedding model of the configuration too"`
	Rerank       string `op:",remote,varies,true=configured" doc:"judge the best items anew by {SPEC}: $RERANKERS, or configured for that of the configuration" note:" (MNEM_RERANK_MODEL; config: rerank.model)" remote:"judge the best items anew by the model of the configuration"`
	RerankTop    int    `op:",remote" default:"50" doc:"judge {N} items; 1 to 200"`
	Rewrite      string `op:",remote,varies,true=multi" enum:"multi hyde" doc:"let a model make such texts: {WAY} is multi or hyde" remote:"let the model of the configuration put the query into other words: multi, or true, or hyde for a made-up answer"`
	RewriteModel string `op:"" doc:"let {SPEC} do it: $REWRITERS" note:" (config: rewrite.model)"`
	Rewrites     int    `op:",remote" default:"3" doc:"with --rewrite multi: {N} texts, 1 to 8"`

	// Kept is whether what is embedded is to be kept: then a model that fails is asked more often.
	Kept bool `op:"-"`
}

// Configured is the value of a field that names a model for the one of the configuration.
const Configured = "configured"

// CheckModels refuses models that are named in vain. asks says whether there is a query.
func (m *QuestionModels) CheckModels(given func(string) bool, asks bool) error {
	switch {
	case given("embed") && m.Embed == "":
		return Usagef("--embed=: want a model, or --embed alone for the configured one")
	case m.Embed != "" && !asks:
		return Usagef("--embed needs a query to embed; after --embed=SPEC, not --embed SPEC")
	case given("rerank") && m.Rerank == "":
		return Bad("rerank", "want a model, or %s", Configured)
	case given("rerank-top") && m.Rerank == "":
		return Between("%s is for %s", "rerank-top", "rerank")
	case m.Rerank != "" && !asks:
		return Between("%s needs a query to judge by", "rerank")
	case given("rewrite") && m.Rewrite != retrieve.RewriteMulti && m.Rewrite != retrieve.RewriteHyde:
		return Bad("rewrite", "%q is not multi or hyde", m.Rewrite)
	case m.Rewrite != "" && given("also"):
		return Exclude("also", "rewrite")
	case given("rewrite-model") && m.Rewrite == "":
		return Between("%s is for %s", "rewrite-model", "rewrite")
	case given("rewrites") && m.Rewrite != retrieve.RewriteMulti:
		return Between("%s is for %s multi", "rewrites", "rewrite")
	case (m.Rewrite != "" || given("also")) && !asks:
		return Between("%s and %s need a query", "also", "rewrite")
	}
	return CheckRange("rewrites", m.Rewrites, 1, retrieve.MaxRewrites)
}

// Open sets what models are to do for a request, and opens them.
func (m *QuestionModels) Open(host Host, r *retrieve.Request) (*complete.Models, error) {
	models, reranker, err := host.Models(m)
	if err != nil {
		return nil, err
	}
	if reranker != nil {
		r.Rerank, r.RerankTop, r.Reranker = reranker.Model(), &m.RerankTop, reranker
	}
	r.Rewrite = m.Rewrite
	if e := models.Embedder; e != nil {
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

// QueryVectors are vectors of a query in files of this machine.
type QueryVectors struct {
	Vector []string `op:"" doc:"rank by this {MODEL=@FILE} too: the query's embedding" note:" (repeatable)"`
	Sparse []string `op:"" doc:"rank by this {MODEL=@FILE} too: the query's learned-sparse vector" note:" (repeatable)"`

	// What is in the files, once they were read.
	Dense  []retrieve.QueryVector  `op:"-"`
	Terms  []retrieve.SparseVector `op:"-"`
	Loaded bool                    `op:"-"`
}

// Read adds the vectors to a request.
func (q *QueryVectors) Read(ctx context.Context, host Host, r *retrieve.Request) error {
	if !q.Loaded {
		if err := q.load(ctx, host); err != nil {
			return err
		}
	}
	r.Vectors, r.Sparse, q.Loaded = q.Dense, q.Terms, true
	return nil
}

func (q *QueryVectors) load(ctx context.Context, host Host) error {
	err := EachVector(ctx, host, "vector", q.Vector, func(model string, v ipld.Value) error {
		vector, err := retrieve.ParseQueryVector(model, v)
		q.Dense = append(q.Dense, vector)
		return err
	})
	if err != nil {
		return err
	}
	return EachVector(ctx, host, "sparse", q.Sparse, func(model string, v ipld.Value) error {
		vector, err := retrieve.ParseSparseVector(model, v)
		q.Terms = append(q.Terms, vector)
		return err
	})
}

// FromStdin returns the fields that standard input is named for.
func (q *QueryVectors) FromStdin() (uses []string) {
	for _, list := range []struct {
		field  string
		values []string
	}{{"--vector ", q.Vector}, {"--sparse ", q.Sparse}} {
		for _, v := range list.values {
			if model, ok := strings.CutSuffix(v, "=@-"); ok {
				uses = append(uses, list.field+model)
			}
		}
	}
	return uses
}

// EachVector reads values of the form MODEL=@FILE, and what is in the files.
func EachVector(
	ctx context.Context, host Host, field string, values []string,
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
		in, shown, err := host.File(ctx, path)
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

// OneUse refuses to read standard input for two things.
func OneUse(uses []string) error {
	if len(uses) > 1 {
		return Usagef("standard input is named twice: for %s", strings.Join(uses, " and "))
	}
	return nil
}

// FromNow lets the dates of a request count from today where it names no day itself and has such dates:
// nothing else may depend on the clock.
func FromNow(host Host, r *retrieve.Request) error {
	if r.Now.Given || !stage.CountsFromNow(*r) {
		return nil
	}
	now, err := host.Now()
	r.Now = graph.At(now)
	return err
}

// ExcludeHint says what to do about a node to exclude that there is none of.
func ExcludeHint(err error) error {
	var missing *state.NotFoundError
	if errors.As(err, &missing) && missing.What == "node" {
		return NodeHint(fmt.Errorf("exclude: %w", err))
	}
	return err
}

// ProfileHint says what to do about a profile that there is none of, or that contradicts itself.
func ProfileHint(err error) error {
	var pe *retrieve.ProfileError
	if errors.As(err, &pe) {
		flags := make([]string, len(pe.Params))
		for i, param := range pe.Params {
			flags[i] = retrieve.FlagName(param)
		}
		return Hint(err, fmt.Sprintf("set what goes with it too, or take it out: 'mnem profile unset %s %s'",
			pe.Name, strings.Join(flags, " ")), "")
	}
	if errors.Is(err, retrieve.ErrNoProfile) {
		return Hint(err, "see 'mnem profile list', or make it with 'mnem profile set NAME'", "")
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
