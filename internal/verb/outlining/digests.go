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
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/outline"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/reading"
	"github.com/mnem-project/mnem/internal/view/distill"
	"github.com/mnem-project/mnem/ipld"
)

const (
	maxMapDepth   = 8
	maxMapTokens  = 100_000
	maxCompared   = 20_000 // digests that a comparison reads
	digestTitle   = 80     // characters of a text that stand for it
	maxExpired    = 20
	maxNearBits   = 32
	maxNearShown  = 1000
	maxDigestRows = 1000
)

// ScopeRules is of verbs that read digests.
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

// digestView reads digests of one commit and names what is in them.
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

func digestsOf(
	ctx context.Context, snap *core.Snapshot, recipe distill.Recipe,
) (*digestView, error) {
	d, err := outline.Open(ctx, snap, recipe, outline.DigestOptions{})
	return &digestView{d, snap, reading.NewLabels(snap)}, err
}

// find returns the digest of a name, as 'mnem map' prints them. It is nil for a memory that is no scope,
// whose id is returned then.
func (v *digestView) find(ctx context.Context, name string) (*distill.Digest, graph.ID, error) {
	scope, label, ok := distill.ParseID(name)
	if !ok {
		id, err := (reading.Visible{Snapshot: v.snap}).Find(ctx, name)
		var missing *state.NotFoundError
		if errors.As(err, &missing) { // NAME/DIGITS
			if at := strings.LastIndexByte(name, '/'); at >= 0 {
				if _, digits, is := distill.ParseID(distill.Root + name[at:]); is {
					if inner, innerErr := (reading.Visible{Snapshot: v.snap}).Find(ctx, name[:at]); innerErr == nil {
						id, label, err = inner, digits, nil
					}
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
	if label == "" && !scope.IsZero() {
		above, err := v.Above(ctx, scope)
		if err != nil || len(above) > 0 {
			return nil, scope, err
		}
	}
	if label == "" && scope.IsZero() {
		return nil, scope, nil
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

// title says in a few words what a digest is of.
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
	if w, _, err := v.written(ctx, d); w != nil || err != nil {
		if err != nil {
			return "", err
		}
		return clip(strings.Join(strings.Fields(w.Text), " "), digestTitle), nil
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
		m, err := snap.Mark(ctx, graph.OnNode, id)
		if err != nil || m != nil && !(reading.Visible{}).Shows(m) {
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

// clip cuts a text at a number of characters.
func clip(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}

// DigestRequest asks for one digest.
type DigestRequest struct {
	Name  string `op:"digest,arg,remote" doc:"root, or a scope, cluster or memory as 'mnem map' names it (default: root)"`
	Limit int    `op:",remote" default:"50" doc:"at most {N} children and facts each"`
	Now   string `op:",remote" doc:"{TIME} by which validity has ended, RFC 3339 or YYYY-MM-DD (default: now)"`
	verb.AtRevision
	ScopeRules
}

// DigestRow is a digest in a list.
type DigestRow struct {
	ID     verb.Text `json:"id"`   // for good
	Name   verb.Text `json:"name"` // shorter, where there is one
	Kind   string    `json:"kind"`
	Title  verb.Text `json:"title"`
	Facts  int       `json:"facts"`
	Tokens int       `json:"tokens"` // of the facts
	Source string    `json:"source"`
}

// DigestFact is a memory below a digest.
type DigestFact struct {
	ID    graph.ID  `json:"id"`
	Key   verb.Text `json:"key"`
	Title verb.Text `json:"title"`
}

// DigestAnswer is one digest.
type DigestAnswer struct {
	Commit ipld.CID `json:"commit" shape:"null"`
	Level  int      `json:"level"` // 0 for a memory, 1 for scopes and clusters, 2 for the whole
	DigestRow
	Sem      string             `json:"sem"`
	Text     []distill.Sentence `json:"text"`
	Written  *distill.Written   `json:"written"` // by a model, of this very source; null for none
	Above    []verb.Text        `json:"above"`   // the digests that it is in, the nearest first
	Children []DigestRow        `json:"children"`
	Members  []DigestFact       `json:"members"` // facts right below
	More     int                `json:"more"`    // children and facts that are not listed
	Expired  []graph.ID         `json:"expired"` // facts below whose validity has ended, the first of them
	Refused  int                `json:"refused"` // sentences left out since they may hold a credential
	Now      graph.Time         `json:"now"`
}

// DigestVerb shows one digest.
var DigestVerb = verb.Define(verb.Spec{
	Command: "digest", Right: verb.NoRight, Usage: "[DIGEST] [flags]", Group: "read", Effect: verb.Reads,
	Title: "Show the digest of a scope, of a cluster, or of the whole memory",
	Doc: "Show a digest: its sentences, each with the memory that it is from, what is below it, and\n" +
		"what of it has expired. DIGEST is root, a name that 'mnem map' prints, or a memory, by key or\n" +
		"id, of which the digests are listed that it is in.\n\n" +
		"A digest is of its commit, and never older: 'source' is the hash of what it is made from. A text that a\n" +
		"model wrote of that source is shown in place of the sentences: 'mnem digest-write' writes one.",
	Example: "  mnem digest\n  mnem digest svc/billing\n  mnem digest root/31 --at HEAD~1 --json",
}, oneDigest)

// Check refuses what is out of bounds.
func (q *DigestRequest) Check() error {
	_, err := q.recipe()
	return cmp.Or(verb.CheckRange("limit", q.Limit, 1, maxDigestRows), err)
}

func oneDigest(ctx context.Context, s *verb.Service, q *DigestRequest) (*DigestAnswer, error) {
	now, err := s.Now(q.Now)
	if err != nil {
		return nil, err
	}
	v, err := digestsAt(ctx, s, q.At, q.ScopeRules)
	if err != nil {
		return nil, err
	}
	d, id, err := v.find(ctx, cmp.Or(q.Name, distill.Root))
	if err != nil {
		return nil, err
	}
	out := &DigestAnswer{Commit: v.snap.CID(), Now: now}
	switch {
	case d != nil:
		return out, v.fill(ctx, out, d, q.Limit)
	case id.IsZero():
		out.ID, out.Name, out.Kind, out.Level = distill.Root, distill.Root, distill.Root, 2
		return out, nil // of nothing
	}
	return out, v.fact(ctx, out, id)
}

// fact fills in an answer about a memory, which is its own digest.
func (v *digestView) fact(ctx context.Context, out *DigestAnswer, id graph.ID) error {
	f, err := v.Reader.Fact(ctx, id)
	if err != nil {
		return err
	}
	above, err := v.Above(ctx, id)
	if err != nil {
		return err
	}
	name, err := v.name(ctx, id, "")
	if err != nil {
		return err
	}
	title, err := v.factTitle(ctx, id)
	if err != nil {
		return err
	}
	sem, err := distill.SemOf(f.Text)
	if err != nil {
		return err
	}
	out.DigestRow = DigestRow{
		ID: verb.Text(id.String()), Name: verb.Text(name), Kind: "entity", Title: verb.Text(title), Facts: 1,
		Tokens: distill.Tokens(f.Text), Source: distill.FactSource(v.Recipe, f.Text).String(),
	}
	out.Sem = sem.String()
	out.Text = []distill.Sentence{{Fact: id, Text: f.Text}}
	if f.Until.Given && f.Until.Time <= out.Now {
		out.Expired = []graph.ID{id}
	}
	return v.names(ctx, out, above)
}

func (v *digestView) names(ctx context.Context, out *DigestAnswer, above []*distill.Digest) error {
	for _, d := range above {
		name, err := v.name(ctx, d.Scope, d.Label)
		if err != nil {
			return err
		}
		out.Above = append(out.Above, verb.Text(name))
	}
	return nil
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

// fill fills in an answer about a digest.
func (v *digestView) fill(ctx context.Context, out *DigestAnswer, d *distill.Digest, limit int) error {
	var err error
	if out.DigestRow, err = v.row(ctx, d); err != nil {
		return err
	}
	out.Level, out.Sem, out.Text, out.Refused = d.Level(), d.Sem.String(), d.Text, d.Refused
	written, refused, err := v.written(ctx, d)
	if err != nil {
		return err
	}
	out.Written, out.Refused = written, out.Refused+refused
	for _, below := range v.below(d) {
		if len(out.Children) == limit {
			out.More++
			continue
		}
		child, err := distill.Read(ctx, v.Blocks, below)
		if err != nil {
			return err
		}
		row, err := v.row(ctx, child)
		if err != nil {
			return err
		}
		out.Children = append(out.Children, row)
	}
	for _, e := range d.Entries {
		if e.Link.Defined() {
			continue
		}
		if len(out.Members) == limit {
			out.More++
			continue
		}
		id := e.Key.ID()
		title, err := v.factTitle(ctx, id)
		if err != nil {
			return err
		}
		key, err := v.labels.Key(ctx, id)
		if err != nil {
			return err
		}
		out.Members = append(out.Members, DigestFact{id, key, verb.Text(title)})
	}
	if out.Expired, err = distill.Expired(ctx, v.Blocks, d, out.Now, maxExpired); err != nil {
		return err
	}
	return v.names(ctx, out, nil)
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

// ResolveRequest asks what has a hash.
type ResolveRequest struct {
	Hash     string `op:",arg=required,remote" doc:"16 hex digits of a hash of a text, or 64 of a source"`
	Distance int    `op:",remote" default:"8" doc:"at most so many {BITS} may differ; 0 for none"`
	Limit    int    `op:",remote" default:"20" doc:"at most {N} of them"`
	verb.AtRevision
	ScopeRules
}

// Resolved is a digest, or a memory, with a hash.
type Resolved struct {
	ID       verb.Text `json:"id"`
	Name     verb.Text `json:"name"`
	Kind     string    `json:"kind"`
	Title    verb.Text `json:"title"`
	Sem      string    `json:"sem"`
	Distance int       `json:"distance"`
}

// ResolveAnswer is what has a hash, the nearest first.
type ResolveAnswer struct {
	Commit ipld.CID   `json:"commit" shape:"null"`
	Found  []Resolved `json:"found"`
	Read   int        `json:"read"` // hashes that were compared
	More   int        `json:"more"`
}

// ResolveVerb finds digests by hash.
var ResolveVerb = verb.Define(verb.Spec{
	Command: "resolve", Right: verb.NoRight, Usage: "HASH [flags]", Group: "read", Effect: verb.Reads, Pure: true,
	Title: "Find digests and memories by a hash of what they say",
	Doc: "Find what has a hash: 64 hex digits are a source, which one digest or memory has; 16 are the\n" +
		"hash of a text ('sem'), of which texts that are alike differ in few bits. 'mnem digest' prints\n" +
		"both. The nearest come first.",
	Example: "  mnem resolve 3f0c9a5d1e22b874\n  mnem resolve 3f0c9a5d1e22b874 --distance 0 --json",
}, resolveHash)

// Check refuses what is out of bounds.
func (q *ResolveRequest) Check() error {
	_, err := q.recipe()
	return cmp.Or(verb.CheckRange("distance", q.Distance, 0, maxNearBits),
		verb.CheckRange("limit", q.Limit, 1, maxNearShown), err)
}

func resolveHash(ctx context.Context, s *verb.Service, q *ResolveRequest) (*ResolveAnswer, error) {
	v, err := digestsAt(ctx, s, q.At, q.ScopeRules)
	if err != nil {
		return nil, err
	}
	out := &ResolveAnswer{Commit: v.snap.CID()}
	if len(q.Hash) == 2*len(distill.Source{}) {
		return out, v.sourced(ctx, out, q.Hash)
	}
	sem, err := strconv.ParseUint(q.Hash, 16, 64)
	if err != nil || len(q.Hash) != 16 {
		return nil, verb.Usagef("%q is no hash: want 16 or 64 hex digits", clip(q.Hash, digestTitle))
	}
	list, read, err := v.Near(ctx, distill.Sem(sem), q.Distance)
	if err != nil {
		return nil, err
	}
	out.Read, out.More = read, max(0, len(list)-q.Limit)
	for _, n := range list[:min(len(list), q.Limit)] {
		if err := v.resolved(ctx, out, n); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (v *digestView) sourced(ctx context.Context, out *ResolveAnswer, hash string) error {
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

// resolved adds what has a hash to an answer.
func (v *digestView) resolved(ctx context.Context, out *ResolveAnswer, n distill.Neighbour) error {
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

// sortRows puts larger digests first.
func sortRows(list []mapRow) {
	slices.SortStableFunc(list, func(a, b mapRow) int {
		return cmp.Or(cmp.Compare(b.digest.Facts, a.digest.Facts), cmp.Compare(a.digest.ID(), b.digest.ID()))
	})
}
