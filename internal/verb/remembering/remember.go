// Package remembering has the verbs of memories: what is remembered, reviewed and consolidated, its cues and
// half-lives.
package remembering

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/memory"
	rememberpkg "github.com/mnem-project/mnem/internal/memory/remember"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/editing"
	"github.com/mnem-project/mnem/ipld"
)

// withoutDiff is the part of remembering that looks for memories that resemble the text.
const withoutDiff = "diff"

// RememberRequest asks to store a text as a memory, or the memories of a batch; then the fields are the defaults of its
// lines.
type RememberRequest struct {
	rememberpkg.Request
	File    []string `op:"" not:"batch" doc:"{FILE} whose text is a memory" note:" (repeatable)"`
	Batch   string   `op:"" doc:"{FILE} of memories, one JSON object a line; - for standard input"`
	Vector  string   `op:"" not:"batch" doc:"{MODEL=@FILE}: the text as a model sees it, a JSON list of numbers"`
	Embed   string   `op:",remote,true=configured,alone" not:"vector" doc:"embed the text too, by {SPEC}" note:" (alone: MNEM_EMBED_MODEL; config: embed.model)" remote:"use the embedding model of the configuration too"`
	Without []string `op:",remote,comma" enum:"diff temporal entity keyword causal semantic" doc:"leave out these {PARTS}: diff, which looks for memories that resemble it, or the edges of a rule: temporal, entity, keyword, causal, semantic"`
	Set     []string `op:"" doc:"change how decisions are made, {NAME=VALUE}, instead of remembering: duplicateAbove (0.90), similarFrom (0.65), keep (false)" note:" (repeatable)"`
	Explain bool     `op:",remote" doc:"print what each edge is for"`
	Message string   `op:",short=m,remote" doc:"what the commit is about; default: what was done"`
	Expect  string   `op:",remote" doc:"the {CID} of the commit that the branch must be at, or \"none\" for a branch without one; else exit code 5"`
	verb.Actor
	verb.OnBranch
	verb.Signing
	verb.Secrets
	editing.StrictSecrets
	verb.Trial
	verb.Params

	Memories []rememberpkg.Request `op:"-"` // that were read
}

// Movable returns the type of the single memory to store, "" if the call names something in its repository, so that no
// other repository can store it.
func (q *RememberRequest) Movable() string {
	bound := []string{"set", "batch", "branch", "expect", "about", "property", "supersedes"}
	if slices.ContainsFunc(bound, q.Given) {
		return ""
	}
	return cmp.Or(q.Type, memory.Fact)
}

// KeptElsewhere notes in an answer that the user's own repository keeps the memory.
func (r *Remembered) KeptElsewhere() { r.Repository = verb.FromGlobal }

func (q *RememberRequest) Into(w *verb.Writing) { w.Message, w.Expect = q.Message, q.Expect }

// Remembered describes the result for one memory. It has the links if an explanation is requested.
type Remembered struct {
	rememberpkg.Remembered
	Repository string `json:"repository,omitempty" shape:"global"` // where another one keeps it than was asked
	// Settle is a command that records that it replaces one of the nearest, for the caller to decide; "" for none.
	Settle string `json:"settle,omitempty"`

	Text string `json:"_text,omitempty"` // as it was given
}

// RememberedAll describes the result of a call; it is printed after the memories.
type RememberedAll struct {
	Commit   ipld.CID                   `json:"commit"`
	Branch   string                     `json:"branch"`
	NoChange bool                       `json:"no_change"`
	DryRun   bool                       `json:"dry_run"`
	Actions  map[rememberpkg.Action]int `json:"actions"`
}

// RememberSettings is how decisions are made.
type RememberSettings struct {
	rememberpkg.Params
	Commit   ipld.CID `json:"commit" shape:"null"`
	NoChange bool     `json:"no_change"`
	DryRun   bool     `json:"dry_run"`
}

// Remember keeps memories.
var Remember = verb.Stream(verb.Spec{
	Command: "remember", Right: verb.OwnRight, Confined: true, Usage: "TEXT|-", Args: "[TEXT]", Group: "change", Effect: verb.Writes,
	Title: "Store a text as a memory, without losing another",
	Doc: "Store a text as a memory: one fact, in words that can be understood alone. \"-\" reads it from\n" +
		"standard input, --file from a file, each of several a memory. Everything is written in one commit.\n\n" +
		"Nothing is lost. A text that repeats an existing memory is counted on that memory, once for each\n" +
		"wording and source; the same words from the same source are not counted again, so a repeated call\n" +
		"writes nothing. A text that differs in a number, a name, a date, a negation or in who does what to\n" +
		"whom becomes a memory of its own, however similar both are; similar memories are printed with the\n" +
		"difference. Of one memory the nearest three earlier ones are printed, and if it may replace one, the\n" +
		"command that says so, or on a terminal the question. A memory is replaced only by that, by\n" +
		"--supersedes, or by --about with --property, which names a property that has one value: the old\n" +
		"memory is marked and keeps its text. A text that was forgotten or superseded becomes a new memory.\n\n" +
		"  added       a new memory\n" +
		"  duplicate   it exists already: another wording or source is counted on it\n" +
		"  updated     the same, and tags, entities or importance were added\n" +
		"  superseded  it replaced others\n" +
		"  conflict    a new memory that contradicts an existing one: both stay\n\n" +
		"Edges to tags, entities, causes and earlier memories are written by rule; --without RULE turns one\n" +
		"off, --explain gives the reason of each edge.\n\n" +
		"--batch reads one JSON object a line, with the members text, type, importance, tags,\n" +
		"entities, cues, source, about, property, expires, validFrom, validTo, time, supersedes, noDiff and\n" +
		"vector ({\"model\", \"values\"}); flags fill in what a line leaves out. All lines become one commit, or\n" +
		"none; at most 10,000. Lines with a time are decided one after another as by separate calls at their\n" +
		"times, at most 1,000: the resulting graph is the same.\n\n" +
		"--set changes settings in a commit of its own: the likeness from which a similar memory is reported,\n" +
		"the likeness above which a text without a difference is a duplicate, and with keep=true whether a\n" +
		"second value of a property keeps the first one, which then is a conflict.",
	Example: "  mnem remember 'Server alpha runs PostgreSQL 16' --tag infra --source manual:ana\n" +
		"  mnem remember 'Alice works at Globex' --about alice --property employer\n" +
		"  mnem remember --batch notes.jsonl --dry-run --json",
	Answers: []any{Remembered{}, RememberSettings{}}, Told: []any{RememberedAll{}},
	Batch: &verb.BatchSpec{Title: "Store many texts as memories", Lines: verb.LinesSpec{
		Flag: "batch", Required: true, Doc: "memories: objects with text and any parameter of remember",
	}},
}, remember)

func (q *RememberRequest) Check() error {
	named := len(q.File) > 0 || q.Batch != ""
	switch {
	case q.Set != nil && (q.Given("text") || named):
		return verb.Usagef("--set changes how decisions are made: remember in a command of its own")
	case q.Set == nil && q.Given("text") == named:
		return verb.Usagef("want a TEXT, - for standard input, --file or --batch, and one of them alone")
	case q.Given("importance") && q.Importance == 0:
		return verb.Bad("importance", "0, want 1 to 5")
	case slices.ContainsFunc(q.Without, func(part string) bool {
		return part != withoutDiff && !slices.Contains(rememberpkg.Rules(), rememberpkg.LinkRule(part))
	}):
		return verb.Bad("without", "%q: want diff, temporal, entity, keyword, causal or semantic", q.Without)
	case q.Vector != "" && len(q.File) > 1:
		return verb.Usagef("--vector: of which FILE?")
	}
	return nil
}

// prepare reads the memories, and lets the model see them: others may wait for the repository.
func (q *RememberRequest) Prepare(ctx context.Context, s *verb.Service, _ any) (err error) {
	if q.Set != nil {
		return nil
	}
	if q.Batch != "" {
		err = q.readLines(ctx, s.Caller)
	} else {
		err = q.readTexts(ctx, s.Caller)
	}
	if err != nil || q.Embed == "" || len(q.Memories) == 0 {
		return err
	}
	return q.embed(ctx, s.Caller)
}

func (q *RememberRequest) readTexts(ctx context.Context, by verb.Caller) (err error) {
	req := q.Request
	if q.Vector != "" {
		if req.Vector, err = readMemoryVector(ctx, by, q.Vector); err != nil {
			return err
		}
	}
	files := q.File
	if q.Given("text") {
		if files = []string{q.Text}; q.Text != "-" {
			q.Memories = []rememberpkg.Request{req}
			return nil
		}
	}
	for _, name := range files {
		if req.Text, err = readMemory(ctx, by, name); err != nil {
			return err
		}
		if !utf8.ValidString(req.Text) {
			return rememberHint(req.Validate()) // JSON would replace invalid bytes
		}
		q.Memories = append(q.Memories, req)
	}
	return nil
}

// readMemory reads a text. A text that is too long for a memory is refused later.
func readMemory(ctx context.Context, by verb.Caller, name string) (string, error) {
	in, shown, err := by.File(ctx, name)
	if err != nil {
		return "", err
	}
	defer func() { _ = in.Close() }() // only read from
	data, err := io.ReadAll(io.LimitReader(in, graph.MaxText+1))
	if err == nil && len(data) > graph.MaxText {
		err = verb.Hint(fmt.Errorf("%w: %s: more than %d characters", state.ErrInvalid, shown, memory.MaxText),
			"split it into memories that stand alone", "")
	}
	return string(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))), err
}

// readMemoryVector reads the vector that a value of the form MODEL=@FILE names.
func readMemoryVector(ctx context.Context, by verb.Caller, value string) (out *graph.EmbeddingChange, err error) {
	err = verb.EachVector(ctx, by, "vector", []string{value}, func(model string, list ipld.Value) error {
		req, err := rememberpkg.ParseRememberJSON(ipld.MapValue(
			ipld.Entry{Key: "text", Value: ipld.StringValue("")},
			ipld.Entry{Key: "vector", Value: ipld.MapValue(
				ipld.Entry{Key: "model", Value: ipld.StringValue(model)}, ipld.Entry{Key: "values", Value: list},
			)},
		), rememberpkg.Request{})
		out = req.Vector
		return err
	})
	return out, err
}

func (q *RememberRequest) readLines(ctx context.Context, by verb.Caller) error {
	return verb.EachLine(ctx, by, q.Batch, func(_ int, line []byte) error {
		v, err := ipld.ParseJSON(line)
		if err != nil {
			return err
		}
		req, err := rememberpkg.ParseRememberJSON(v, q.Request)
		if err == nil {
			err = req.Validate()
		}
		if err == nil && len(q.Memories) == rememberpkg.MaxBatch {
			err = fmt.Errorf("%w: more than %d memories: remember them in several batches",
				state.ErrInvalid, rememberpkg.MaxBatch)
		}
		q.Memories = append(q.Memories, req)
		return err
	}, nil)
}

// embed adds the vectors of the texts. A model that fails fails the verb, before anything was written.
func (q *RememberRequest) embed(ctx context.Context, by verb.Caller) error {
	models, _, err := by.Models(&verb.QuestionModels{Embed: q.Embed, Kept: true})
	if err != nil {
		return err
	}
	err = rememberpkg.See(q.Memories, models.Embedder.Model(), func(texts []string) ([][]int8, error) {
		return models.Embedder.Embed(ctx, "", texts)
	})
	return rememberHint(err)
}

func remember(ctx context.Context, s *verb.Service, q *RememberRequest, emit func(any) error) error {
	if q.Set != nil {
		out, err := setRemember(ctx, s, q.Set)
		if err != nil {
			return err
		}
		return emit(out)
	}
	opt := rememberpkg.WriteOptions{CommitOptions: s.Commit}
	for _, part := range q.Without {
		if part != withoutDiff {
			opt.Links.Off = append(opt.Links.Off, rememberpkg.LinkRule(part))
			continue
		}
		for i := range q.Memories {
			q.Memories[i].NoDiff = true
		}
	}
	if m := s.Commit.Meaning; m != nil && len(q.Memories) <= state.MeaningNodes {
		see := func(texts []string) ([][]int8, error) { return m.Vectors(ctx, texts) }
		if err := rememberpkg.See(q.Memories, m.Model(), see); err != nil {
			return rememberHint(err)
		}
	}
	res, err := rememberpkg.New(s.Repo).RememberAll(ctx, opt, q.Memories)
	if err != nil {
		return rememberHint(err)
	}
	all := &RememberedAll{
		Commit: res.Commit, Branch: res.Branch, NoChange: res.NoChange, DryRun: s.DryRun,
		Actions: map[rememberpkg.Action]int{},
	}
	for i := range res.Memories {
		out := &Remembered{Remembered: res.Memories[i]}
		if !out.Remembered.Settle.IsZero() && !s.DryRun {
			out.Settle = fmt.Sprintf("mnem mark superseded %s --by %s", out.Remembered.Settle, out.ID)
		}
		if out.DryRun = s.DryRun; s.DryRun && !res.NoChange {
			out.Commit = ipld.CID{} // its time would be another
		}
		if !q.Explain {
			out.Links = nil
		}
		if s.Human {
			out.Text = q.Memories[i].Text
		}
		if err := emit(out); err != nil {
			return err
		}
		all.Actions[out.Action]++
	}
	if !s.Human {
		return nil
	}
	return emit(all)
}

func rememberHint(err error) error {
	var bad *rememberpkg.RequestError
	var missing *state.NotFoundError
	switch {
	case errors.As(err, &bad) && bad.Param == "text":
		return err
	case errors.As(err, &missing) && missing.What != "node":
		return err // a branch
	}
	return editing.MarkHint(err)
}

func setRemember(ctx context.Context, s *verb.Service, values []string) (*RememberSettings, error) {
	opt := s.Commit
	opt.Message = cmp.Or(opt.Message, "change how memories are remembered")
	p, res, err := rememberpkg.ChangeParams(ctx, s.Repo, opt, func(p *rememberpkg.Params) error {
		for _, value := range values {
			if err := setRememberParam(p, value); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &RememberSettings{p, res.Commit, res.NoChange, s.DryRun}, nil
}

func setRememberParam(p *rememberpkg.Params, set string) error {
	name, value, _ := strings.Cut(set, "=")
	names := []string{"duplicateAbove", "similarFrom", "keep"}
	switch i := slices.Index(names, name); i {
	case 0, 1:
		x, err := strconv.ParseFloat(value, 64)
		if err != nil || !(x > 0 && x <= 1) {
			return verb.Usagef("--set %s: want a number above 0 and at most 1", set)
		}
		*[]*int64{&p.DuplicateAbove, &p.SimilarFrom}[i] = int64(math.RoundToEven(float64(x * (1 << 16))))
	case 2:
		b, err := strconv.ParseBool(value)
		if err != nil {
			return verb.Usagef("--set %s: want true or false", set)
		}
		p.Keep = b
	default:
		return verb.Usagef("--set %s: there are duplicateAbove, similarFrom and keep", set)
	}
	return nil
}
