package ingesting

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/ipld"
)

// EmbedRequest asks for embeddings of nodes.
type EmbedRequest struct {
	Model   string   `op:"" doc:"what embeds: {SPEC} is $EMBEDDERS" note:" (MNEM_EMBED_MODEL; config: embed.model)"`
	Stale   bool     `op:",remote" doc:"embed nodes too whose text has changed since"`
	All     bool     `op:",remote" not:"stale" doc:"embed all nodes again"`
	Type    []string `op:",remote" doc:"only nodes of this {TYPE}" note:" (repeatable)"`
	Limit   int      `op:",remote" doc:"make at most {N} embeddings; 0 for no limit"`
	DryRun  bool     `op:",remote" doc:"print how many nodes have embeddings, how many would be embedded, and whether a process makes these; make none"`
	Message string   `op:",short=m,remote" doc:"what the commit is about (default: \"embed with MODEL\")"`
	Expect  string   `op:",remote" doc:"the {CID} of the commit that the branch must be at; else exit code 5"`
	verb.Actor
	verb.OnBranch
	verb.Signing
	verb.Params

	By      EmbedModel  `op:"-"` // the embedding model
	State   *EmbedState `op:"-"` // the state after the previous run, nil for the first
	Vectors [][]int8    `op:"-"` // of the texts that it asked about

	model verb.Embedder
	later []graph.ID // to do, after those of State
}

// EmbedModel describes a model.
type EmbedModel struct {
	Name    string
	Dim     int // 0 while it is not known
	MaxText int // bytes
}

func (q *EmbedRequest) Into(w *verb.Writing) {
	w.Message, w.Expect, w.DryRun = q.Message, q.Expect, q.DryRun
}

func (q *EmbedRequest) Check() error {
	if q.Limit < 0 {
		return verb.Bad("limit", "%d is less than 0", q.Limit)
	}
	return nil
}

// Embedded describes a run, made or planned.
type Embedded struct {
	Model     string   `json:"model"`
	Dim       *int     `json:"dim"` // null while it is not known
	Branch    string   `json:"branch"`
	Commit    ipld.CID `json:"commit"`    // the branch's newest
	Commits   int      `json:"commits"`   // made
	Embedded  int      `json:"embedded"`  // nodes whose embedding was made
	Stale     int      `json:"stale"`     // that keep an embedding of an older text
	Unchanged int      `json:"unchanged"` // nodes that keep an embedding of their text
	Skipped   int      `json:"skipped"`   // without anything to embed
	TooLong   int      `json:"too_long"`  // with a text longer than the model takes
	Remaining int      `json:"remaining"` // left for another run by the limit
	DryRun    bool     `json:"dry_run"`

	// Status has what --dry-run adds without --all, --stale and --limit.
	Status *EmbedStatus `json:"status,omitempty"`
}

// EmbedStatus counts the embeddings of a branch, and says whether the missing ones are being made.
type EmbedStatus struct {
	Nodes    int  `json:"nodes"`
	Vectors  int  `json:"vectors"`   // nodes with an embedding by the model, of an older text too
	Missing  int  `json:"missing"`   // nodes with a text and without an embedding: 'mnem embed' makes these
	Resumes  bool `json:"resumes"`   // whether the next run goes on from one that was interrupted
	ByItself bool `json:"by_itself"` // whether the process that has the repository open embeds them unasked
	Running  bool `json:"running"`   // whether it does so now
}

// ReadsOnly implements the verb's effect: a status changes nothing.
func (q *EmbedRequest) ReadsOnly() bool { return q.DryRun }

// Embed gives nodes embeddings.
var Embed = verb.Define(verb.Spec{
	Command: "embed", Right: verb.OwnRight,
	Usage: "[flags]", Group: "change", Effect: verb.Writes, Idempotent: true, Long: true,
	Title: "Compute embeddings of nodes for retrieval by meaning",
	Doc: "Give the nodes of a branch's newest commit embeddings by a model, and commit these. A node's\n" +
		"text is its context, summary, content, cues and properties that are strings. Nodes that have an\n" +
		"embedding of the model are left alone, unless --stale adds those whose text has changed since,\n" +
		"or --all takes all.\n\n" +
		"The model is a SPEC: minilm (built in, for English: what is written is embedded by it already,\n" +
		"unless embed.model is off or another one), hash (built in: finds other forms and misspellings of\n" +
		"words), static:DIR (a directory with tokenizer.json and model.safetensors), or of a server:\n" +
		"$REMOTE_EMBEDDERS. Servers are told the texts. A model at another address than its\n" +
		"provider's own is MODEL@URL, as ollama:nomic-embed-text@http://gpu:11434. Keys come from the variables\n" +
		"that 'mnem help environment' lists alone. A relative DIR is looked for in the working directory.\n\n" +
		"All embeddings become one commit. Other commands can work at the same time, through this one.\n" +
		fmt.Sprintf("If there are more than %d nodes, each %d, in the order of their ids, are kept in a stage of the\n", EmbedChunk, EmbedChunk) +
		"branch and model: after an interrupt or a failure the same command continues there and asks for\n" +
		"nothing again. If the branch moves during the run, the embeddings are merged onto it, unless\n" +
		"--expect is given; if it moved after an interrupted run, what that run kept is committed first.\n\n" +
		"--dry-run changes nothing. It prints how many embeddings are missing, and whether the process that\n" +
		"has the repository open ('mnem hold', a server) makes them by itself.\n\n" +
		"Nodes in which the model finds nothing are skipped, each time, as are texts of more than 1 MiB.\n" +
		"'mnem retrieve --embed' asks by these embeddings.",
	Example: "  mnem embed --model hash\n" +
		"  mnem embed --model hash --stale --type Person --limit 100\n" +
		"  mnem embed --model hash --all --dry-run\n" +
		"  mnem embed --model hash --dry-run --json",
}, embedNodes)

// Prepare opens the model.
func (q *EmbedRequest) Prepare(_ context.Context, s *verb.Service, _ any) (err error) {
	set, done := s.Host.Progress()
	defer done()
	q.model, err = s.Caller.Embedder(q.Model, func(done, _ int) {
		if q.State != nil {
			q.State.progress(set, done)
		}
	})
	if err == nil {
		q.describe()
	}
	return err
}

func (q *EmbedRequest) describe() {
	q.By = EmbedModel{q.model.Model(), q.model.Dim(), q.model.MaxText()}
}

func (q *EmbedRequest) Drives() bool { return true }

// Drive has the repository return the texts to embed and store their vectors, a chunk in each run.
func (q *EmbedRequest) Drive(ctx context.Context, s *verb.Service, req any, emit func(any) error) error {
	return s.Until(ctx, req, emit, func(ctx context.Context, want *verb.Want) (err error) {
		q.State = new(EmbedState)
		if err = json.Unmarshal(want.State, q.State); err != nil {
			return err
		}
		todo := append(q.State.Todo, q.later...)
		q.State.Todo, q.later = todo[:min(len(todo), embedAhead)], todo[min(len(todo), embedAhead):]
		if q.State.Later = len(q.later); len(want.Texts) == 0 {
			q.Vectors = nil
			return nil
		}
		if q.Vectors, err = q.model.Vectors(ctx, want.Texts); err != nil {
			return q.State.failed(err)
		}
		q.describe()
		return nil
	})
}

func embedNodes(ctx context.Context, s *verb.Service, q *EmbedRequest) (*Embedded, error) {
	run := &embedRun{repo: s.From, stamp: s.Commit.Stamp, asked: *q, strict: s.Commit.Expect != nil, by: q.By}
	if q.State == nil {
		run.Out = Embedded{Model: run.by.Name, DryRun: q.DryRun}
		if err := run.begin(ctx, s.Commit.Branch, s.Commit.Expect); err != nil {
			return nil, err
		}
	} else {
		run.EmbedState = *q.State
		if err := run.take(ctx, q.Vectors); err != nil {
			return nil, run.failed(err)
		}
	}
	if q.DryRun {
		run.foretell()
	} else if texts, err := run.next(ctx); err != nil {
		return nil, run.failed(err)
	} else if len(texts) > 0 || len(run.Todo) == 0 && run.Later > 0 {
		want := &verb.Want{Texts: texts, At: run.At}
		if want.State, err = json.Marshal(run.EmbedState); err != nil {
			return nil, err
		}
		return nil, want
	} else if err := run.finish(ctx); err != nil {
		return nil, run.failed(err)
	}
	run.Out.Commit = run.At
	if dim := run.dim(); dim > 0 {
		run.Out.Dim = &dim
	}
	return &run.Out, nil
}

// begin plans a run. If the branch has moved since an interrupted run, it first commits that run's vectors.
func (r *embedRun) begin(ctx context.Context, branch string, expect *ipld.CID) error {
	if err := r.plan(ctx, branch, expect); err != nil || !r.Moved {
		return err
	}
	if err := r.commitKept(ctx); err != nil {
		return err
	}
	// An expectation was met, and the branch is at that commit now.
	return r.plan(ctx, branch, nil)
}

func (r *embedRun) plan(ctx context.Context, branch string, expect *ipld.CID) error {
	info, err := verb.TargetBranch(ctx, r.repo, branch)
	if err != nil {
		return err
	}
	if expect != nil && *expect != info.Commit {
		return &state.ExpectError{Want: *expect, Have: info.Commit}
	}
	if !info.Commit.Defined() {
		return verb.Hint(&state.NotFoundError{What: verb.NoCommitYet, Name: info.Name},
			"make the first with 'mnem commit -m MESSAGE FILE'", "make the first with commit")
	}
	r.Out.Branch, r.At = info.Name, info.Commit
	r.Stage = embedStages + graph.NodeID("embed "+info.Name+" "+r.by.Name).String()
	st, err := r.repo.Stages().Status(ctx, r.Stage)
	if err != nil {
		return err
	}
	r.Kept, r.Moved = st.Staged, st.Staged && st.Base != info.Commit && !r.asked.DryRun
	if r.Moved {
		return nil // stored vectors are committed first
	}
	return r.look(ctx)
}

// look finds the nodes to embed, and the model's properties.
func (r *embedRun) look(ctx context.Context) error {
	s, err := r.repo.At(ctx, r.At)
	if err != nil {
		return err
	}
	now := s
	if r.Kept {
		if now, err = r.repo.Stages().Snapshot(ctx, r.Stage); err != nil {
			return err
		}
	}
	for n, err := range now.Embeddings(ctx, r.by.Name) {
		if err != nil {
			return err
		}
		again := r.asked.All
		if again && r.Kept { // except those that an interrupted run has done
			done, err := now.EmbeddedSince(ctx, s, n.ID, r.by.Name)
			if err != nil {
				return err
			}
			again = !done
		}
		if r.Dims == 0 {
			r.Dims = n.Dims
		}
		if len(r.asked.Type) > 0 && !slices.Contains(r.asked.Type, n.Type) {
			continue
		}
		switch {
		case again, n.State == core.EmbeddingMissing,
			n.State == core.EmbeddingStale && r.asked.Stale:
			r.Todo = append(r.Todo, n.ID)
		case n.State == core.EmbeddingStale:
			r.Out.Stale++
		default:
			r.Out.Unchanged++
		}
	}
	if r.asked.DryRun {
		return r.dropBlank(ctx, s)
	}
	return nil
}

// dropBlank counts the nodes whose texts no model would be asked about.
func (r *embedRun) dropBlank(ctx context.Context, s *core.Snapshot) error {
	rest := r.Todo[:0]
	for _, id := range r.Todo {
		text, ok, err := s.EmbedText(ctx, id)
		if err != nil {
			return err
		}
		if r.wants(text, ok) {
			rest = append(rest, id)
		}
	}
	r.Todo = rest
	return nil
}

// foretell fills in the result of a run, except for parts that need the model.
func (r *embedRun) foretell() {
	r.Out.Embedded = len(r.Todo)
	if n := r.asked.Limit; n > 0 {
		r.Out.Embedded = min(n, len(r.Todo))
	}
	r.Out.Remaining = len(r.Todo) - r.Out.Embedded
	if r.asked.All || r.asked.Stale || r.asked.Limit > 0 {
		return // it says what would be done, not how things are
	}
	st := &EmbedStatus{Vectors: r.Out.Unchanged + r.Out.Stale, Missing: len(r.Todo), Resumes: r.Kept}
	st.Nodes = st.Vectors + st.Missing + r.Out.Skipped + r.Out.TooLong
	if b := r.repo.Embeddings().Background(); b.Model == r.by.Name {
		st.ByItself, st.Running = true, b.Running
	}
	r.Out.Status = st
}
