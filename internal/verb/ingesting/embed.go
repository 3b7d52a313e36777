package ingesting

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/plain"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/ipld"
)

type embedRequest struct {
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

func (q *embedRequest) Into(w *verb.Writing) {
	w.Message, w.Expect, w.DryRun = q.Message, q.Expect, q.DryRun
}

func (q *embedRequest) Check() error {
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
func (q *embedRequest) ReadsOnly() bool { return q.DryRun }

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
func (q *embedRequest) Prepare(_ context.Context, s *verb.Service, _ any) (err error) {
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

func (q *embedRequest) describe() {
	q.By = EmbedModel{q.model.Model(), q.model.Dim(), q.model.MaxText()}
}

func (q *embedRequest) Drives() bool { return true }

// Drive has the repository return the texts to embed and store their vectors, a chunk in each run.
func (q *embedRequest) Drive(ctx context.Context, s *verb.Service, req any, emit func(any) error) error {
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

func embedNodes(ctx context.Context, s *verb.Service, q *embedRequest) (*Embedded, error) {
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

const (
	// EmbedChunk is the largest number of nodes that are embedded before their vectors are stored. It bounds the loss
	// by an interrupt, and the memory.
	EmbedChunk = 256
	// embedAhead is how many of the nodes to embed are passed to a run.
	embedAhead = 4 * EmbedChunk
	// embedStages begins the names of stages that keep what runs of embed did until it is committed.
	embedStages = "embed/"
	// embedBytes bounds the texts of one chunk, unless one text alone is longer.
	embedBytes = 16 << 20
	// embedNumbers bounds the dimensions of the vectors kept at once, 8 bytes each.
	embedNumbers = 8 << 20
)

// embedRun is one run that embeds the nodes of a commit and commits the vectors.
type embedRun struct {
	repo   *core.Repo
	asked  embedRequest
	stamp  state.Stamp
	by     EmbedModel
	strict bool // whether the branch must not move during the run
	EmbedState
}

// EmbedState is the state of a run between two requests to the model.
type EmbedState struct {
	Out   Embedded
	At    ipld.CID   // the commit whose texts are embedded and that the next commit builds on
	Stage string     // the name of the stage of the branch and model
	Kept  bool       // whether that stage holds anything, of this run or one before
	Moved bool       // whether the branch has moved since that stage began
	Dims  int        // of the embeddings that the model has in that commit, 0 for none
	Todo  []graph.ID // ascending
	Later int        // how many more there are to do after Todo
	Asked []graph.ID // whose texts the model is asked about
	Done  int        // of the nodes to embed
	Total int
}

// embedItem is a node, its text, and in the end its vector.
type embedItem struct {
	id     graph.ID
	vector []int8
}

// dim returns the number of dimensions of vectors, 0 while it is unknown.
func (r *embedRun) dim() int { return cmp.Or(r.by.Dim, r.Dims) }

// next returns the texts of the next chunk for the model, none when all are done. Each chunk is stored before the next:
// in a stage, unless it is the only one. A run after an interrupt continues from the stage.
func (r *embedRun) next(ctx context.Context) (texts []string, err error) {
	r.Total = max(r.Total, len(r.Todo)+r.Later)
	for len(r.Todo) > 0 && len(texts) == 0 {
		room := EmbedChunk
		if n := r.asked.Limit; n > 0 {
			room = min(room, n-r.Out.Embedded)
		}
		if room == 0 {
			break
		}
		if texts, err = r.read(ctx, room); err != nil {
			return nil, err
		}
	}
	return texts, nil
}

func (r *embedRun) finish(ctx context.Context) error {
	r.Out.Remaining = len(r.Todo) + r.Later
	if !r.Kept {
		return nil
	}
	return r.commitKept(ctx)
}

// read takes the next nodes from those to do, with their texts.
func (r *embedRun) read(ctx context.Context, room int) (texts []string, err error) {
	s, err := r.repo.At(ctx, r.At)
	if err != nil {
		return nil, err
	}
	r.Asked = nil
	size := 0
	for len(r.Todo) > 0 && len(texts) < room && size < embedBytes {
		text, ok, err := s.EmbedText(ctx, r.Todo[0])
		if err != nil {
			return nil, err
		}
		if r.wants(text, ok) {
			r.Asked, texts = append(r.Asked, r.Todo[0]), append(texts, text)
			size += len(text)
		} else {
			r.Done++
		}
		r.Todo = r.Todo[1:]
	}
	return texts, nil
}

// wants reports whether to embed a text, and counts a node that is skipped. ok is not set for a node that no longer
// exists, which counts nowhere.
func (r *embedRun) wants(text string, ok bool) bool {
	switch {
	case !ok:
		return false
	case strings.TrimSpace(text) == "":
		r.Out.Skipped++
		return false
	case len(text) > r.by.MaxText:
		r.Out.TooLong++
		return false
	}
	return true
}

// take stores the model's vectors of the texts, nil for a text without one.
func (r *embedRun) take(ctx context.Context, vectors [][]int8) error {
	if len(vectors) != len(r.Asked) {
		return fmt.Errorf("%w: %d vectors for %d texts", state.ErrInvalid, len(vectors), len(r.Asked))
	}
	r.Done += len(vectors)
	var found []embedItem
	for i, v := range vectors {
		if v == nil {
			r.Out.Skipped++
			continue
		}
		if err := r.checkDims(len(v)); err != nil {
			return err
		}
		found = append(found, embedItem{r.Asked[i], v})
	}
	return r.keepAll(ctx, found)
}

// checkDims refuses vectors that could not be compared with those that are there already, unless
// these are all to be replaced.
func (r *embedRun) checkDims(n int) error {
	anew := r.asked.All && len(r.asked.Type) == 0 && r.asked.Limit == 0
	if r.Dims == 0 || r.Dims == n || anew {
		return nil
	}
	return verb.Hint(fmt.Errorf("%w: the model %s gives vectors of %s, but those that are committed have %d",
		state.ErrInvalid, r.by.Name, plain.Plural(n, "dimension"), r.Dims),
		"is this the model that made them? if so, 'mnem embed --all' makes all again",
		"is this the model that made them? if so, embed with all makes all again")
}

func (st *EmbedState) progress(set func(what string, done, total int), done int) {
	set(fmt.Sprintf("embedded %d/%d:", st.Done+done, st.Total), st.Done+done, st.Total)
}

// keepAll commits vectors at once if they are the only ones, else stores them in the stage.
func (r *embedRun) keepAll(ctx context.Context, items []embedItem) error {
	if len(items) == 0 {
		return nil
	}
	most := max(1, embedNumbers/len(items[0].vector))
	last := len(r.Todo)+r.Later == 0 || r.asked.Limit > 0 && r.Out.Embedded+len(items) >= r.asked.Limit
	if last && !r.Kept && len(items) <= most {
		return r.commit(items, func(opt core.CommitOptions) (*core.CommitResult, error) {
			if at := r.At; opt.Expect == nil {
				opt.Base = &at
			}
			return r.repo.Commit(ctx, r.changes(items), opt)
		})
	}
	for part := range slices.Chunk(items, most) {
		if err := r.keep(ctx, part); err != nil {
			return err
		}
	}
	return nil
}

func (r *embedRun) keep(ctx context.Context, items []embedItem) error {
	at := r.At
	opt := core.StageOptions{Stamp: r.stamp, Stage: r.Stage, Branch: r.Out.Branch, Base: &at}
	if _, err := r.repo.Stages().Add(ctx, r.changes(items), opt); err != nil {
		return err
	}
	r.Out.Embedded += len(items)
	r.Kept = true
	return nil
}

func (r *embedRun) commitKept(ctx context.Context) error {
	err := r.commit(nil, func(opt core.CommitOptions) (*core.CommitResult, error) {
		return r.repo.Stages().Commit(ctx, r.Stage, opt)
	})
	if err == nil {
		r.Kept = false
	}
	return err
}

func (r *embedRun) commit(items []embedItem, do func(core.CommitOptions) (*core.CommitResult, error)) error {
	opt := core.CommitOptions{
		Stamp: r.stamp, Branch: r.Out.Branch,
		Message: cmp.Or(r.asked.Message, "embed with "+r.by.Name),
	}
	if at := r.At; r.strict {
		opt.Expect = &at
	}
	res, err := do(opt)
	if err != nil {
		return err
	}
	r.At = res.Commit
	r.Out.Embedded += len(items)
	if !res.NoChange {
		r.Out.Commits++
	}
	return nil
}

func (r *embedRun) changes(items []embedItem) state.Changes {
	var list []graph.Change
	for _, it := range items {
		list = append(list, graph.Change{Embedding: state.EmbeddingOf(it.id, r.by.Name, it.vector)})
	}
	return core.Each(list)
}

func (st *EmbedState) failed(err error) error {
	if !st.Kept {
		return err
	}
	made := plain.Plural(st.Out.Embedded, "embedding") + " made and kept: the same "
	return verb.Hint(err, fmt.Sprintf("%scommand goes on from there and commits all; "+
		"'mnem commit --stage %s -m MESSAGE' commits what is there", made, st.Stage),
		fmt.Sprintf("%scall goes on from there and commits all; commit with stage %s commits what is there",
			made, st.Stage))
}
