package outlining

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/plain"
	"github.com/mnem-project/mnem/internal/base/text"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/outline"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/editing"
	"github.com/mnem-project/mnem/internal/verb/reading"
	"github.com/mnem-project/mnem/internal/view/distill"
	"github.com/mnem-project/mnem/ipld"
)

const (
	maxMapDepth  = 8
	maxMapTokens = 100_000
	maxCompared  = 20_000 // digests that a comparison reads
	digestTitle  = 80     // characters of a text that stand for it
	maxExpired   = 20
	nearBits     = 8  // by which the hash of a text may differ from the one that is looked for
	nearShown    = 20 // of these texts
)

// ScopeRules says what makes a scope.
type ScopeRules struct {
	By []string `op:",remote" doc:"group memories by {RULE}: edge:TYPE, prop:NAME, type or community; the first rule that applies names a memory's home (default: edge:part-of, edge:in, edge:about)" note:" (repeatable)" remote:"what makes a scope: edge:TYPE, prop:NAME, type or community"`
}

func (q *ScopeRules) recipe() (distill.Recipe, error) {
	r, err := distill.ParseRules(q.By)
	if err != nil {
		return r, verb.Bad("by", "%w", err)
	}
	return r, nil
}

type digestView struct {
	*outline.Digests
	snap   *core.Snapshot
	labels *reading.Labels
}

// digestsAt returns the digests of a revision. What is not kept is made, and not kept.
func digestsAt(ctx context.Context, s *verb.Service, rev string, rules ScopeRules) (*digestView, error) {
	recipe, err := rules.recipe()
	if err != nil {
		return nil, err
	}
	snap, err := s.At(ctx, rev)
	if err != nil {
		return nil, err
	}
	return digestsOf(ctx, snap, recipe)
}

func digestsOf(ctx context.Context, snap *core.Snapshot, recipe distill.Recipe) (*digestView, error) {
	d, err := outline.Open(ctx, snap, recipe, outline.DigestOptions{})
	return &digestView{d, snap, reading.NewLabels(snap)}, err
}

// see shows what no mark hides.
func (v *digestView) see() reading.Visible { return reading.Visible{Snapshot: v.snap} }

// find returns the digest of a name, as 'mnem map' prints them. It is nil for a memory that is no scope,
// whose id is returned then.
func (v *digestView) find(ctx context.Context, name string) (*distill.Digest, graph.ID, error) {
	scope, label, ok := distill.ParseID(name)
	if !ok {
		id, err := v.see().Find(ctx, name)
		if at := strings.LastIndexByte(name, '/'); at >= 0 && errors.As(err, new(*state.NotFoundError)) { // NAME/DIGITS
			if _, digits, is := distill.ParseID(distill.Root + name[at:]); is {
				if inner, innerErr := v.see().Find(ctx, name[:at]); innerErr == nil {
					id, label, err = inner, digits, nil
				}
			}
		}
		if err != nil {
			return nil, id, err
		}
		scope = id
	}
	d, err := v.scoped(ctx, scope, label)
	if err != nil || d != nil {
		return d, scope, err
	}
	if label == "" && scope.IsZero() {
		return nil, scope, nil
	}
	if label == "" {
		above, err := v.Above(ctx, scope)
		if err != nil || len(above) > 0 {
			return nil, scope, err
		}
	}
	return nil, scope, &state.NotFoundError{What: "digest", Name: name}
}

// scoped returns a digest of a scope, or of the circle of scopes that a node is in.
func (v *digestView) scoped(ctx context.Context, scope graph.ID, label string) (*distill.Digest, error) {
	d, _, err := v.Find(ctx, v.Blocks, scope, label)
	if err != nil || d != nil || scope.IsZero() {
		return d, err
	}
	home, err := distill.ScopeOf(ctx, v.Reader, scope)
	if err != nil || home.IsZero() || home == scope {
		return nil, err
	}
	d, _, err = v.Find(ctx, v.Blocks, home, label)
	return d, err
}

// name is the shortest name of a digest that finds it again.
func (v *digestView) name(ctx context.Context, scope graph.ID, label string) (string, error) {
	id := distill.DigestID(scope, label)
	if scope.IsZero() {
		return id, nil
	}
	key, err := v.labels.Key(ctx, scope)
	switch {
	case err != nil:
		return id, err
	case key == "" || opaque(string(key)):
		if n, err := v.labels.Node(ctx, scope); n == nil || err != nil {
			return id, err // of a scope that is no node
		}
		key = verb.Text(scope.String()[:shortID])
	}
	if label != "" {
		return string(key) + "/" + label, nil
	}
	return string(key), nil
}

func (v *digestView) title(ctx context.Context, d *distill.Digest) (string, error) {
	switch {
	case d.Kind() == distill.Root:
		return "", nil
	case d.Name != "" && d.Label == "" && !distill.IsCommunity(d.Name):
		return d.Name, nil
	case d.Label == "" && d.Name == "":
		if title, err := v.factTitle(ctx, d.Scope); title != "" || err != nil {
			return title, err
		}
	}
	if w, _, err := v.written(ctx, d); err != nil {
		return "", err
	} else if w != nil {
		return oneLine(w.Text), nil
	}
	for _, said := range d.Text {
		if said.Fact != d.Scope { // a scope without a text of its own has its key for one
			return oneLine(said.Text), nil
		}
	}
	return "", nil
}

// factTitle is the beginning of what a memory that is seen says.
func (v *digestView) factTitle(ctx context.Context, id graph.ID) (string, error) {
	for _, snap := range v.labels.Snapshots() {
		if shown, err := (reading.Visible{Snapshot: snap}).Node(ctx, id); !shown || err != nil {
			return "", err
		}
	}
	n, err := v.labels.Node(ctx, id)
	if n == nil || err != nil {
		return "", err
	}
	title := n.Summary
	if title == "" && !opaque(n.Key) {
		title = n.Key
	}
	return oneLine(title), nil
}

// clip cuts a text at a number of characters, clipLine one whose blanks and ends of lines become single blanks.
func clip(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}

func clipLine(s string, most int) string { return clip(strings.Join(strings.Fields(s), " "), most) }

func oneLine(s string) string { return clipLine(s, digestTitle) }

// DigestRow is a digest in a list.
type DigestRow struct {
	ID     verb.Text `json:"id"`   // for good
	Name   verb.Text `json:"name"` // shorter, if there is such a name
	Kind   string    `json:"kind"`
	Title  verb.Text `json:"title"`
	Facts  int       `json:"facts"`
	Tokens int       `json:"tokens"` // of the facts
	Source string    `json:"source"`
}

// DigestAnswer is one digest.
type DigestAnswer struct {
	Level int `json:"level"` // 0 for a memory, 1 for scopes and clusters, 2 for the whole
	DigestRow
	Sem     string             `json:"sem"`
	Text    []distill.Sentence `json:"text"`
	Written *distill.Written   `json:"written"` // by a model, of this very source; null for none
	Above   []verb.Text        `json:"above"`   // the digests that a memory is in, the nearest first
	Expired []graph.ID         `json:"expired"` // facts below whose validity has ended, the first of them
	Refused int                `json:"refused"` // sentences left out since they may hold a credential
}

// answer describes a digest, or a memory as its own digest. It is nil for the empty memory.
func (v *digestView) answer(ctx context.Context, of *mapRow, id graph.ID, now graph.Time) (*DigestAnswer, error) {
	switch {
	case of != nil:
		return v.fill(ctx, of.digest, now)
	case id.IsZero():
		return nil, nil
	}
	return v.fact(ctx, id, now)
}

// lines are the first ones of a digest that fit into a budget, which it takes their tokens from.
func (d *DigestAnswer) lines(budget *int) (list []string) {
	if d == nil {
		return nil
	}
	add := func(format string, args ...any) {
		line := fmt.Sprintf(format, args...)
		n := distill.Tokens(line + "\n")
		if n > *budget {
			*budget = 0 // what follows is left out too
			return
		}
		*budget -= n
		list = append(list, line)
	}
	if d.Written != nil {
		for line := range strings.SplitSeq(d.Written.Text, "\n") {
			add("%s", text.EscapeLine(line))
		}
		add("written by %s", text.EscapeLine(d.Written.Model))
	} else {
		for _, s := range d.Text {
			add("[%.8s] %s", s.Fact, text.EscapeLine(s.Text))
		}
	}
	for _, name := range d.Above {
		add("in %s", text.EscapeLine(string(name)))
	}
	if len(d.Expired) > 0 {
		ids := fmt.Sprintf("%.8s", d.Expired)
		add("expired: %s", ids[1:len(ids)-1])
	}
	if d.Refused > 0 {
		add("left out since they may hold a credential: %s", plain.Plural(d.Refused, "sentence"))
	}
	add("source %s", d.Source)
	return list
}

func (v *digestView) fact(ctx context.Context, id graph.ID, now graph.Time) (*DigestAnswer, error) {
	f, err := v.Reader.Fact(ctx, id)
	if err != nil {
		return nil, err
	}
	above, err := v.Above(ctx, id)
	if err != nil {
		return nil, err
	}
	name, err := v.name(ctx, id, "")
	if err != nil {
		return nil, err
	}
	title, err := v.factTitle(ctx, id)
	if err != nil {
		return nil, err
	}
	sem, err := distill.SemOf(f.Text)
	if err != nil {
		return nil, err
	}
	out := &DigestAnswer{DigestRow: DigestRow{
		ID: verb.Text(id.String()), Name: verb.Text(name), Kind: "entity", Title: verb.Text(title), Facts: 1,
		Tokens: distill.Tokens(f.Text), Source: distill.FactSource(v.Recipe, f.Text).String(),
	}, Sem: sem.String(), Text: []distill.Sentence{{Fact: id, Text: f.Text}}}
	if f.Until.Given && f.Until.Time <= now {
		out.Expired = []graph.ID{id}
	}
	for _, d := range above {
		name, err := v.name(ctx, d.Scope, d.Label)
		if err != nil {
			return nil, err
		}
		out.Above = append(out.Above, verb.Text(name))
	}
	return out, nil
}

func (v *digestView) row(ctx context.Context, d *distill.Digest) (DigestRow, error) {
	name, err := v.name(ctx, d.Scope, d.Label)
	if err != nil {
		return DigestRow{}, err
	}
	title, err := v.title(ctx, d)
	return DigestRow{
		ID: verb.Text(d.ID()), Name: verb.Text(name), Kind: d.Kind(), Title: verb.Text(title), Facts: d.Facts, Tokens: d.Tokens,
		Source: d.Source.String(),
	}, err
}

func (v *digestView) fill(ctx context.Context, d *distill.Digest, now graph.Time) (*DigestAnswer, error) {
	out := &DigestAnswer{Level: d.Level(), Sem: d.Sem.String(), Text: d.Text}
	var err error
	if out.DigestRow, err = v.row(ctx, d); err != nil {
		return nil, err
	}
	if out.Written, out.Refused, err = v.written(ctx, d); err != nil {
		return nil, err
	}
	out.Refused += d.Refused
	out.Expired, err = distill.Expired(ctx, v.Blocks, d, now, maxExpired)
	return out, err
}

// below are the links of the digests right below one.
func (v *digestView) below(d *distill.Digest) (links []ipld.CID) {
	for _, k := range d.Kids {
		links = append(links, k.Link)
	}
	for _, e := range d.Entries {
		if e.Link.Defined() {
			links = append(links, e.Link)
		}
	}
	return links
}

// Resolved is a digest, or a memory, with a hash.
type Resolved struct {
	ID       verb.Text `json:"id"`
	Name     verb.Text `json:"name"`
	Kind     string    `json:"kind"`
	Title    verb.Text `json:"title"`
	Sem      string    `json:"sem"`
	Distance int       `json:"distance"` // the bits that differ
}

// resolve adds what has a hash to an answer.
func (v *digestView) resolve(ctx context.Context, out *MapAnswer, hash string) error {
	out.Found = []Resolved{}
	if len(hash) == 2*len(distill.Source{}) {
		return v.sourced(ctx, out, hash)
	}
	sem, err := strconv.ParseUint(hash, 16, 64)
	if err != nil || len(hash) != 16 {
		return verb.Usagef("%q is no hash: want 16 or 64 hex digits", clip(hash, digestTitle))
	}
	list, _, err := v.Near(ctx, distill.Sem(sem), nearBits)
	if err != nil {
		return err
	}
	out.More = max(0, len(list)-nearShown)
	for _, n := range list[:min(len(list), nearShown)] {
		if err := v.resolved(ctx, out, n); err != nil {
			return err
		}
	}
	return nil
}

func (v *digestView) sourced(ctx context.Context, out *MapAnswer, hash string) error {
	source, ok := distill.ParseSource(hash)
	if !ok {
		return verb.Usagef("%q is no source: want 64 hex digits", clip(hash, digestTitle))
	}
	n, ok, err := v.Sourced(ctx, source)
	if err != nil || !ok {
		return err
	}
	if !n.Fact.IsZero() {
		f, err := v.Reader.Fact(ctx, n.Fact)
		if err != nil {
			return err
		}
		if n.Sem, err = distill.SemOf(f.Text); err != nil {
			return err
		}
	}
	return v.resolved(ctx, out, n)
}

func (v *digestView) resolved(ctx context.Context, out *MapAnswer, n distill.Neighbour) error {
	r := Resolved{ID: verb.Text(n.ID), Name: verb.Text(n.ID), Kind: "entity", Sem: n.Sem.String(), Distance: n.Distance}
	var err error
	if !n.Fact.IsZero() {
		title, err := v.factTitle(ctx, n.Fact)
		if err != nil {
			return err
		}
		name, err := v.name(ctx, n.Fact, "")
		r.Title, r.Name = verb.Text(title), verb.Text(name)
		out.Found = append(out.Found, r)
		return err
	}
	scope, label, _ := distill.ParseID(n.ID)
	d, _, err := v.Find(ctx, v.Blocks, scope, label)
	if err == nil && d == nil {
		err = fmt.Errorf("%w: digest %s is not where it belongs", store.ErrCorrupt, n.ID)
	}
	if err != nil {
		return err
	}
	row, err := v.row(ctx, d)
	r.Kind, r.Name, r.Title, r.Sem = row.Kind, row.Name, row.Title, d.Sem.String()
	out.Found = append(out.Found, r)
	return err
}

func sortRows(list []mapRow) {
	slices.SortStableFunc(list, func(a, b mapRow) int {
		return cmp.Or(cmp.Compare(b.digest.Facts, a.digest.Facts), cmp.Compare(a.digest.ID(), b.digest.ID()))
	})
}

// DigestWritten reports the write of a text.
type DigestWritten struct {
	ID       verb.Text        `json:"id"`
	Name     verb.Text        `json:"name"`
	Source   string           `json:"source"`
	Model    string           `json:"model"`
	Tokens   int              `json:"tokens"`
	Dropped  int              `json:"dropped"` // texts of digests that are not there any more
	Branch   string           `json:"branch"`
	NoChange bool             `json:"no_change"`
	DryRun   bool             `json:"dry_run"`
	Warnings editing.Warnings `json:"warnings,omitempty"`
}

func (q *mapRequest) writeDigest(ctx context.Context, s *verb.Service) (*MapAnswer, error) {
	v, err := digestsToWrite(ctx, s, q.ScopeRules)
	if err != nil {
		return nil, err
	}
	d, err := v.toWrite(ctx, q.Write)
	if err != nil {
		return nil, digestHint(err)
	}
	one := outline.DigestText{
		Scope: d.Scope, Label: d.Label, Source: d.Source,
		Text: strings.TrimRight(cmp.Or(q.Text, q.Scope), "\n"), Model: cmp.Or(s.Commit.Agent, s.Commit.Author),
	}
	res, err := outline.WriteDigests(ctx, s.Repo, v.Recipe, []outline.DigestText{one}, s.Commit)
	if err != nil {
		return nil, digestHint(err)
	}
	name, err := v.name(ctx, d.Scope, d.Label)
	out := &DigestWritten{
		ID: verb.Text(d.ID()), Name: verb.Text(name), Source: d.Source.String(), Model: one.Model,
		Tokens: distill.Tokens(one.Text), Dropped: res.Dropped, Branch: res.Branch, NoChange: res.NoChange, DryRun: s.DryRun,
		Warnings: editing.WarningsOf(res.Secrets),
	}
	answer := &MapAnswer{Written: out}
	if !s.DryRun || res.NoChange { // else its time would be another
		answer.Commit = res.Commit
	}
	return answer, err
}

// toWrite returns the digest that a text is given to, by its name or its source.
func (v *digestView) toWrite(ctx context.Context, name string) (*distill.Digest, error) {
	of := name
	if source, ok := distill.ParseSource(name); ok {
		n, ok, err := v.Sourced(ctx, source)
		if err == nil && !ok {
			err = &outline.DigestSourceError{Name: "with the source " + name, Want: source}
		}
		if err != nil {
			return nil, err
		}
		of = n.ID
	}
	d, id, err := v.find(ctx, of)
	switch {
	case err != nil || d != nil:
		return d, err
	case id.IsZero():
		return nil, verb.Usagef("the memory is empty: there is nothing to write about")
	}
	return nil, verb.Usagef("%s is a memory and no scope: it says what it says itself", clip(name, digestTitle))
}

// digestsToWrite returns the digests of the branch that is written to, kept where they may be.
func digestsToWrite(ctx context.Context, s *verb.Service, rules ScopeRules) (*digestView, error) {
	recipe, err := rules.recipe()
	if err != nil {
		return nil, err
	}
	info, err := verb.TargetBranch(ctx, s.Repo, s.Commit.Branch)
	if err != nil {
		return nil, err
	}
	if !info.Commit.Defined() {
		return nil, verb.CommitHint(&state.NotFoundError{What: verb.NoCommitYet, Name: info.Name})
	}
	snap, err := s.Repo.At(ctx, info.Commit)
	if err != nil {
		return nil, err
	}
	d, err := outline.Open(ctx, snap, recipe, outline.DigestOptions{Keep: !s.DryRun})
	return &digestView{d, snap, reading.NewLabels(snap)}, err
}

func digestHint(err error) error {
	var changed *outline.DigestSourceError
	if !errors.As(err, &changed) {
		return err
	}
	return verb.Hint(err, "'mnem map SCOPE' prints what the digest says now, and its source: write of that",
		"ask for the digest again, and write of what it says now")
}

// written returns the text that a model wrote of a digest, nil for none, and how many were left out since they
// may hold a credential.
func (v *digestView) written(ctx context.Context, d *distill.Digest) (*distill.Written, int, error) {
	w, refused, err := outline.ReadDigestText(ctx, v.snap, d.Source)
	if refused {
		return nil, 1, nil
	}
	return w, 0, err
}
