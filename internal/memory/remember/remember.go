// Package remember writes memories: it finds what already says the same, decides whether a text is new,
// repeated or takes the place of another, links it by rule, and commits all of that at once.
package remember

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/guard"
	"github.com/mnem-project/mnem/internal/memory"
	"github.com/mnem-project/mnem/internal/memory/compare"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/ipld"
)

// Bounds of a request to remember, besides those of a memory.
const (
	// MaxBatch is how many memories one call remembers at most. They are decided and written as one commit, and the
	// decisions are in memory until then.
	MaxBatch = 10_000
	// MaxTimed is the largest batch in which a memory has a time. Each makes a trial commit, kept until the end, of
	// about 150 kB.
	MaxTimed = 1_000
	// MaxObserved bounds the other wordings and sources recorded for a memory; further ones add no information.
	MaxObserved = 64
	// manyRequests is from how many requests on deciding takes longer than other writers should wait:
	// each takes about a millisecond.
	manyRequests = 32
	// MaxTag and MaxEntity are the longest tag and entity in bytes. The node of either has a key that holds it.
	MaxTag    = 255
	MaxEntity = 255
)

// Action is the result for a memory.
type Action string

// The actions.
const (
	Added      Action = "added"      // a new memory
	Duplicate  Action = "duplicate"  // it was there; another wording or source is noted
	Updated    Action = "updated"    // likewise, and it has more tags, entities or importance now
	Superseded Action = "superseded" // a new or existing memory replaces others
	Conflict   Action = "conflict"   // a new memory that says the contrary of one that is there
)

// Request asks for one memory to be kept.
type Request struct {
	// 1 to MaxText scalars; blanks around it are cut
	Text string `op:",arg,required,remote" doc:"the memory"`
	// 1 to graph.MaxType bytes; "" for Fact
	Type string `op:",remote" doc:"{TYPE}: fact, decision, preference, insight, context, event, task or any other (default fact)"`
	// MinImportance to MaxImportance; 0 for DefaultImportance
	Importance int      `op:",remote" doc:"{N} from 1 to 5 (default 3)"`
	Tags       []string `op:"tag,remote" doc:"{TAG} (repeatable, at most 20)"`
	Cues       []string `op:"cue,remote" doc:"{WORDS} under which somebody may look for it, and which it does not have (repeatable, at most 12)"`
	Entities   []string `op:"entity,remote" doc:"{NAME} that it is about (repeatable, at most 50)"`
	Sources    []string `op:"source,remote" doc:"where it comes from: file:PATH, url:URL, conversation:ID, manual:WHO or any other {TEXT}" note:" (repeatable)"`
	// About is the subject, by its key or its full id, or by its name if that is the key or title of exactly one
	// Entity. If there is none, a node with the key is created; the prefix "key:" forces a key. Property is the
	// property of the subject that the memory states. It has one value, so a new value supersedes the old one.
	About    string `op:",remote" doc:"{KEY} or id of the subject, or the name of an entity; where there is none a node of the key is made"`
	Property string `op:",remote" doc:"{NAME} of the subject's property that it says, which has one value: an old one is superseded"`
	// Supersedes names memories that this one replaces, as core.Snapshot.Name reads names.
	Supersedes []string      `op:",remote" doc:"{NODE} that it takes the place of" note:" (repeatable)"`
	Expires    graph.OptTime `op:",remote" doc:"{TIME} from which it may be marked expired"`
	ValidFrom  graph.OptTime `op:",remoteonly" doc:"{TIME} from which it holds"`
	ValidTo    graph.OptTime `op:",remoteonly" doc:"{TIME} until which it holds"`
	// NoDiff adds the memory whatever resembles it, and looks for nothing that does.
	NoDiff bool
	// Time is when it is remembered; if absent, the time of the options. Records written for it have this time, and
	// recent memories are found relative to it.
	Time graph.OptTime
	// Vector is a dense embedding of the text, nil for none. The node gets it as an embedding; its field Node is
	// ignored.
	Vector *graph.EmbeddingChange
}

// WriteOptions say how memories are written.
type WriteOptions struct {
	core.CommitOptions // Base and Amend are refused; an empty Message is replaced by a description
	Links              LinkOptions
	batch              bool // of several memories
}

// Difference is one difference between a given text, A, and a memory, B. Besides the kinds of package compare there are
// type, subject, entities and validity.
type Difference struct {
	Kind compare.Kind `json:"kind"`
	A    string       `json:"new"`
	B    string       `json:"old"`
}

// Kinds of differences that texts do not show.
const (
	DiffersType     compare.Kind = "type"
	DiffersSubject  compare.Kind = "subject"
	DiffersEntities compare.Kind = "entities"
	DiffersValidity compare.Kind = "validity"
)

// Suggestion is a suggested action for a memory that resembles a new one.
type Suggestion string

// The suggestions.
const (
	SuggestSupersede  Suggestion = "supersede"  // the same with another number, unit or date
	SuggestContradict Suggestion = "contradict" // the contrary
	SuggestKeep       Suggestion = "keep"       // another fact
)

// Similar is a memory that resembles a new one.
type Similar struct {
	ID      graph.ID     `json:"id"`
	Summary string       `json:"summary"`
	Text    int64        `json:"similarity"` // of the texts, 0 to 65,536 in units of 2^-16
	Cosine  *int64       `json:"cosine"`     // of the vectors, in the same units; nil if either has none, or it is 0
	Differs []Difference `json:"differs"`
	Suggest Suggestion   `json:"suggest"`
}

// cosine returns the likeness of the vectors, 0 if either has none.
func (s *Similar) cosine() int64 {
	if s.Cosine == nil {
		return 0
	}
	return *s.Cosine
}

// Remembered describes the result for one memory.
type Remembered struct {
	ID       graph.ID `json:"id"`
	Action   Action   `json:"action" shape:"added|superseded|conflict|updated|duplicate"`
	Type     string   `json:"type"`
	Commit   ipld.CID `json:"commit" shape:"null"` // as the Result has it
	NoChange bool     `json:"no_change"`           // likewise
	DryRun   bool     `json:"dry_run"`             // for callers to set
	// Superseded are the memories marked superseded, in the order of the request, then those of the property.
	Superseded []graph.ID `json:"superseded"`
	Similar    []Similar  `json:"similar"` // the most alike first, at most MaxSimilar; empty for a Duplicate
	// Nearest are the nearest earlier memories on the same subject, nearest first, at most memory.MaxNearest; none if
	// one call has several memories. Settle is the one among them that this memory may replace, zero for none.
	Nearest []memory.Nearest `json:"nearest,omitempty"`
	Settle  graph.ID         `json:"-"`
	// Edges counts the edges that were written with it by type; Links are these in the order of writing.
	Edges      map[string]int `json:"edges"`
	Links      []WrittenLink  `json:"links,omitempty"`
	Candidates []Candidate    `json:"candidates"`
	Warnings   []Quality      `json:"warnings"`
	Importance int            `json:"importance"` // as the node says it, 1 to 5
	Effective  int64          `json:"effective"`  // at the time of the call, in units of 2^-16: memory.Effective

	made *known // by the commit, as written, nil if it must be read
}

// Result describes the result of a call.
type Result struct {
	*core.CommitResult
	Memories []Remembered // in the order of the requests
}

// Remember keeps one memory: see RememberAll.
func (m *Writer) Remember(ctx context.Context, opt WriteOptions, req Request) (*Result, error) {
	return m.RememberAll(ctx, opt, []Request{req})
}

// RememberAll stores memories, at most MaxBatch, in one commit, or in none if nothing is new. If one is refused, none
// is stored. Each is decided as if those before it were stored.
//
// It never loses a statement. A text that repeats an existing memory, in the same or in other words, is recorded on
// that memory as an observation, with the other words and the source; tags, entities and importance are added to, never
// removed. A text that differs in anything that compare.Compare counts becomes its own memory, and similar memories are
// reported. A superseded memory stays unchanged, with a mark. A text that was forgotten or superseded becomes a new
// memory; the old one stays hidden.
//
// If a request has a time, each is decided as if those before it were committed at their times, one by one: the result
// is the same graph that single calls make.
//
// Decisions are a function of the commit, the requests and the options; core.Repo.Decide says when they are made. An
// error about a request is a *RequestError; in a batch it has the request's position.
func (m *Writer) RememberAll(ctx context.Context, opt WriteOptions, reqs []Request) (*Result, error) {
	switch {
	case opt.Base != nil || opt.Amend:
		return nil, state.Invalidf("remembering takes no base and amends nothing: it decides on the newest " +
			"commit")
	case len(reqs) > MaxBatch:
		return nil, state.Invalidf("batch: %d memories, limit %d: remember them in several", len(reqs),
			MaxBatch)
	}
	if err := opt.Links.Validate(); err != nil {
		return nil, err
	}
	opt.batch = len(reqs) > 1
	timed := slices.ContainsFunc(reqs, func(r Request) bool { return r.Time.Given })
	if timed && len(reqs) > MaxTimed {
		return nil, state.Invalidf("batch: %d memories, limit %d where one has a time: remember them in several",
			len(reqs), MaxTimed)
	}
	drafts := make([]*Draft, len(reqs))
	for i := range reqs {
		d, err := reqs[i].draft(opt.Stamp)
		if err != nil {
			return nil, refused(reqs, i, err)
		}
		if len(reqs) <= state.BulkChanges || opt.Secrets.Strict {
			if err := opt.Secrets.Refuse(d.secrets()); err != nil {
				return nil, refused(reqs, i, err)
			}
		}
		drafts[i] = d
	}
	long, err := m.takesLong(ctx, opt.Branch, len(reqs))
	if err != nil {
		return nil, err
	}
	plan := m.plan
	if timed {
		plan, long = m.planEach, true
	}
	res := new(Result)
	res.CommitResult, err = memory.Decide(ctx, m.r, opt.CommitOptions, long,
		func(s *core.Snapshot) (d *core.Decision, err error) {
			d, res.Memories, err = plan(ctx, s, opt, reqs, drafts)
			return d, err
		})
	if err == nil { // a caller whose ctx ended still learns what was committed
		err = m.weigh(context.WithoutCancel(ctx), res, opt.Stamp)
	}
	if err != nil {
		return nil, err
	}
	return res, nil
}

// takesLong reports whether deciding about n requests takes longer than other writers should wait:
// they are many, or the index that their likes are looked up in is still to be made.
func (m *Writer) takesLong(ctx context.Context, branch string, n int) (bool, error) {
	if n >= manyRequests {
		return true, nil
	}
	s, err := memory.Head(ctx, m.r, branch)
	if err != nil {
		return false, err
	}
	nodes, _, _, _ := s.Sizes()
	index, err := s.IndexStats(ctx)
	return nodes > 0 && !index.Manifest.Defined(), err
}

func (m *Writer) weigh(ctx context.Context, res *Result, by state.Stamp) error {
	for i := range res.Memories {
		res.Memories[i].Commit, res.Memories[i].NoChange = res.Commit, res.NoChange
	}
	s, err := m.r.At(ctx, res.Commit)
	if err != nil || !res.Commit.Defined() {
		return err
	}
	opt := memory.ImportanceOptions{}
	if opt.HalfLives, err = memory.HalfLivesAt(ctx, s); err != nil {
		return err
	}
	for i := range res.Memories {
		r := &res.Memories[i]
		var now memory.Effective
		if r.made != nil {
			now, err = memory.ImportanceOf(ctx, s, r.made.node(by.Time), by.Time, opt)
			r.made = nil
		} else {
			now, err = memory.Importance(ctx, s, r.ID, by.Time, opt)
		}
		if err != nil {
			return err
		}
		r.Effective = now.Value
	}
	return nil
}

// RequestError says which parameter of a request to remember was refused, and why.
// errors.Is(err, state.ErrInvalid) holds.
type RequestError struct {
	Item   int // from 1 in a batch, 0 for a single request
	Param  string
	Reason string
}

func (e *RequestError) Error() string {
	if e.Item > 0 {
		return fmt.Sprintf("memory %d: %s: %s", e.Item, e.Param, e.Reason)
	}
	return e.Param + ": " + e.Reason
}

// Is reports whether target is state.ErrInvalid.
func (e *RequestError) Is(target error) bool { return target == state.ErrInvalid }

func badRequest(param, format string, args ...any) error {
	return &RequestError{Param: param, Reason: fmt.Sprintf(format, args...)}
}

// refused says of a batch which request an error is about.
func refused(reqs []Request, i int, err error) error {
	if len(reqs) == 1 {
		return err
	}
	if e, ok := err.(*RequestError); ok {
		at := *e
		at.Item = i + 1
		return &at
	}
	return fmt.Errorf("memory %d: %w", i+1, err)
}

// Validate returns a *RequestError unless the request keeps every rule that can be seen without a memory.
func (r Request) Validate() error {
	_, err := r.draft(state.Stamp{})
	return err
}

// draft checks a single request and returns its draft, without an id.
func (r *Request) draft(by state.Stamp) (*Draft, error) {
	d := &Draft{Request: *r, Created: by.Time, Agent: by.Agent, Task: by.Task}
	d.Text, d.Property = strings.Trim(r.Text, memory.Blanks), strings.Trim(r.Property, memory.Blanks)
	if r.Time.Given {
		d.Created = r.Time.Time
	}
	d.Type = cmp.Or(d.Type, memory.Fact)
	d.Importance = cmp.Or(d.Importance, memory.DefaultImportance)
	if err := d.check(); err != nil {
		return nil, err
	}
	var err error
	if d.Tags, err = nameList("tags", r.Tags, memory.MaxTags, MaxTag); err != nil {
		return nil, err
	}
	if d.Entities, err = nameList("entities", r.Entities, memory.MaxEntities, MaxEntity); err != nil {
		return nil, err
	}
	if d.Cues, err = nameList("cues", r.Cues, graph.MaxCues, graph.MaxCue); err != nil {
		return nil, err
	}
	if r.About != "" {
		if d.About, err = subjectRef(r.About); err != nil {
			return nil, badRequest("about", "%v", err)
		}
		d.literal = strings.HasPrefix(r.About, "key:")
	}
	if r.Property != "" && d.Property == "" {
		return nil, badRequest("property", "blank: name what the memory says of its subject")
	}
	if err := d.checkProperty(); err != nil {
		return nil, err
	}
	if r.Vector != nil {
		if d.Vector, err = graph.NewDense(r.Vector.Model, r.Vector.Vector, [32]byte{}); err != nil {
			return nil, badRequest("vector", "%v", err)
		}
	}
	return d, nil
}

// subjectRef reads the name of a subject. "key:" or "id:" may precede the name of a node.
func subjectRef(name string) (graph.Ref, error) {
	if id, ok := strings.CutPrefix(name, "id:"); ok {
		n, err := graph.ParseID(id)
		return graph.Ref{ID: n}, err
	}
	return graph.ParseRef(strings.TrimPrefix(name, "key:"))
}

func (d *Draft) check() error {
	if !utf8.ValidString(d.Text) {
		return badRequest("text", "not UTF-8")
	}
	if d.Text == "" {
		return badRequest("text", "empty: say what to remember")
	}
	if n := utf8.RuneCountInString(d.Text); n > memory.MaxText {
		return badRequest("text", "%d characters, limit %d: split it into memories that stand alone",
			n, memory.MaxText)
	}
	if err := graph.CheckText("text", d.Text, 1, graph.MaxText); err != nil {
		return badRequest("text", "%v", err)
	}
	if err := graph.CheckText("type", d.Type, 1, graph.MaxType); err != nil ||
		strings.ContainsRune(d.Type, 0) {
		return badRequest("type", "want 1 to %d bytes of UTF-8 without NUL", graph.MaxType)
	}
	if d.Importance < memory.MinImportance || d.Importance > memory.MaxImportance {
		return badRequest("importance", "%d, want %d to %d", d.Importance, memory.MinImportance,
			memory.MaxImportance)
	}
	if len(d.Sources) > graph.MaxSources {
		return badRequest("source", "%d sources, limit %d", len(d.Sources), graph.MaxSources)
	}
	for _, s := range d.Sources {
		if err := graph.CheckText("source", s, 1, graph.MaxSource); err != nil {
			return badRequest("source", "want 1 to %d bytes of UTF-8", graph.MaxSource)
		}
	}
	if d.ValidFrom.Given && d.ValidTo.Given && d.ValidTo.Time <= d.ValidFrom.Time {
		return badRequest("valid-to", "%s is not after valid-from %s", d.ValidTo, d.ValidFrom)
	}
	return nil
}

// ownEdges are types of edges with a meaning of their own here: no property is called so.
var ownEdges = []string{
	memory.EdgeAbout, memory.EdgeObserved, memory.EdgeTagged, memory.EdgeMentions, memory.EdgeFollows, memory.EdgeNear, memory.EdgeCauses,
	memory.EdgeEnables, memory.EdgePrevents, memory.EdgeSimilar, memory.EdgeAlias,
}

func (d *Draft) checkProperty() error {
	switch {
	case d.Property == "":
		return nil
	case d.About.IsZero():
		return badRequest("property", "goes with a subject: say which one with about")
	case slices.Contains(ownEdges, d.Property):
		return badRequest("property", "%q is the name of an edge that memories have anyway", d.Property)
	case graph.CheckLine("property", d.Property, 1, graph.MaxType) != nil:
		return badRequest("property", "want 1 to %d bytes of UTF-8 without control characters",
			graph.MaxType)
	}
	return nil
}

// nameList returns names without blanks around them, in bytewise order, each once.
func nameList(param string, list []string, most, longest int) ([]string, error) {
	if len(list) > most {
		return nil, badRequest(param, "%d, limit %d", len(list), most)
	}
	var out []string
	for _, s := range list {
		s = strings.Trim(s, memory.Blanks)
		if err := graph.CheckLine(param, s, 1, longest); err != nil {
			return nil, badRequest(param, "want 1 to %d bytes of UTF-8 without control characters each",
				longest)
		}
		out = append(out, s)
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// Writer remembers in one repository. It is safe for concurrent use, together with any other Writer of the same
// repository: writes depend on stored memories, so they are decided under the write lock, as core.Repo.Decide says.
type Writer struct {
	r  *core.Repo
	mu sync.Mutex // guards what follows
	// recent caches the newest commits.
	recent map[ipld.CID]*added
}

// New returns a Writer over an open repository, which stays the caller's to close.
func New(r *core.Repo) *Writer { return &Writer{r: r} }

func (m *Writer) plan(
	ctx context.Context, s *core.Snapshot, opt WriteOptions, reqs []Request, drafts []*Draft,
) (*core.Decision, []Remembered, error) {
	p, err := m.newPlanner(ctx, s, opt)
	if err != nil {
		return nil, nil, err
	}
	for i := range reqs {
		if err := p.remember(&reqs[i], drafts[i]); err != nil {
			return nil, nil, refused(reqs, i, err)
		}
	}
	return &core.Decision{Changes: p.changes(), Message: p.message()}, p.out, nil
}

// planEach decides like plan, but each request sees the ones before it. Rules look up words, names and times in a
// commit, so each request that others follow is committed first: in a trial commit that no other process sees.
func (m *Writer) planEach(
	ctx context.Context, s *core.Snapshot, opt WriteOptions, reqs []Request, drafts []*Draft,
) (*core.Decision, []Remembered, error) {
	by := state.Stamp{
		Author: opt.Author, Agent: opt.Agent, Task: opt.Task, Time: opt.Time, Command: opt.Command,
	}
	for _, rule := range guard.Rules() { // the guard checks the whole result later
		by.Secrets.Allow = append(by.Secrets.Allow, rule.ID)
	}
	w := m
	if len(reqs) > 1 {
		r, err := s.Trial(ctx, opt.Branch, by)
		if err != nil {
			return nil, nil, err
		}
		w = New(r)
	}
	var changes []graph.Change
	var out []Remembered
	for i := range reqs {
		by.Time = drafts[i].Created
		one := WriteOptions{core.CommitOptions{Stamp: by, Branch: opt.Branch}, opt.Links, opt.batch}
		decide := func(s *core.Snapshot) (*core.Decision, error) {
			d, made, err := w.plan(ctx, s, one, reqs[i:i+1], drafts[i:i+1])
			if err != nil {
				return nil, refused(reqs, i, err)
			}
			for _, c := range d.Changes {
				c.Time = graph.At(by.Time)
				changes = append(changes, c)
			}
			for i := range made {
				made[i].made = nil // those after it may change it
			}
			out = append(out, made...)
			return d, nil
		}
		var err error
		if i+1 < len(reqs) {
			_, err = memory.Decide(ctx, w.r, one.CommitOptions, false, decide)
		} else {
			if i > 0 {
				s, err = memory.Head(ctx, w.r, opt.Branch)
			}
			if err == nil {
				_, err = decide(s)
			}
		}
		if err != nil {
			return nil, nil, err
		}
	}
	return &core.Decision{Changes: changes, Message: (&planner{out: out}).message()}, out, nil
}
