package remember

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/adjacency"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/memory"
	"github.com/mnem-project/mnem/internal/memory/compare"
	"github.com/mnem-project/mnem/internal/rank"
	"github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/ipld"
)

// planner decides about the requests of one commit, one after the other: docs/internals/memories.md, "Decision". It
// reads a bounded amount for each, however many memories there are.
type planner struct {
	ctx    context.Context
	m      *Writer
	s      *core.Snapshot
	params Params
	linker *linker
	marks  *memory.Marker
	known  map[graph.ID]*known
	chains map[graph.ID]*chain // by the first id
	touch  []*known            // to be written, in order
	fresh  fresh
	made   map[graph.ID]bool // nodes other than memories, and edges, that the commit makes
	values map[value][]graph.ID
	rare   *memory.RareWords
	batch  bool           // whether there are several memories; then nothing is asked
	others []graph.Change // nodes, edges and embeddings, in order
	out    []Remembered
}

// value names a single-valued property of a subject.
type value struct {
	subject  graph.ID
	property string
}

func (m *Writer) newPlanner(ctx context.Context, s *core.Snapshot, opt WriteOptions) (*planner, error) {
	params, err := ParamsAt(ctx, s)
	if err != nil {
		return nil, err
	}
	l := m.newLinker(s, opt.Links)
	l.marks = memory.NewMarker(ctx, s)
	return &planner{
		ctx: ctx, m: m, s: s, params: params, linker: l, marks: l.marks,
		known: map[graph.ID]*known{}, chains: map[graph.ID]*chain{},
		made: map[graph.ID]bool{}, values: map[value][]graph.ID{},
		rare: memory.NewRareWords(ctx, s), batch: opt.batch,
	}, nil
}

func (p *planner) remember(req *Request, of *Draft) error {
	d := *of // the decision may be repeated
	if err := p.subject(&d); err != nil {
		return err
	}
	out := Remembered{Type: d.Type, Edges: map[string]int{}, Warnings: qualities(d.Text)}
	same, state, err := p.exact(&d, req.NoDiff)
	if err != nil {
		return err
	}
	var near []Near
	if same == nil && !req.NoDiff {
		if same, near, err = p.compare(&d, &out); err != nil {
			return err
		}
	}
	if same != nil {
		err = p.again(&d, same, &out)
	} else {
		if state != "" {
			out.warn(QualityHidden, string(state))
		}
		err = p.add(&d, near, &out)
	}
	if err == nil {
		err = p.replace(req, &d, &out)
	}
	if err == nil && same == nil && !req.NoDiff && !p.batch {
		err = p.nearest(&d, &out)
	}
	if err == nil {
		p.out = append(p.out, out)
	}
	return err
}

// compare compares a draft with similar memories. It returns the memory that says the same, nil for none, and otherwise
// the similar ones for the link rules.
func (p *planner) compare(d *Draft, out *Remembered) (*known, []Near, error) {
	list, cosines, err := p.nearby(d)
	if err != nil {
		return nil, nil, err
	}
	words := compare.Analyse(d.Text)
	var near []Near
	var same *known
	for _, k := range list {
		if by, err := p.hidden(k.ID); err != nil {
			return nil, nil, err
		} else if by != "" {
			continue // also by a request before, in the same commit
		}
		s := Similar{ID: k.ID, Summary: k.Text}
		if like := cosines[k.ID]; like > 0 {
			s.Cosine = &like
		}
		is, tell, err := p.judge(d, words, k, &s)
		switch {
		case err != nil:
			return nil, nil, err
		case is && (same == nil || k.ID.Compare(same.ID) < 0):
			same = k
		case tell:
			out.Similar = append(out.Similar, s)
		}
		if !k.made {
			near = append(near, Near{ID: k.ID, Text: s.Text, Cosine: cosines[k.ID], known: k})
		}
	}
	if same != nil {
		out.Similar = nil
		return same, nil, nil
	}
	slices.SortFunc(out.Similar, func(a, b Similar) int {
		return cmp.Or(cmp.Compare(max(b.Text, b.cosine()), max(a.Text, a.cosine())),
			cmp.Compare(b.Text, a.Text), a.ID.Compare(b.ID))
	})
	out.Similar = out.Similar[:min(MaxSimilar, len(out.Similar))]
	return nil, near, nil
}

// judge compares a draft with one memory and fills in s. It reports whether both say the same, and otherwise whether
// they are alike enough to report.
func (p *planner) judge(d *Draft, words *compare.Text, k *known, s *Similar) (same, tell bool, err error) {
	least := min(p.params.SimilarFrom, int64(oppositeAt))
	if s.cosine() >= closeAt {
		least = 0
	} else if n, of := len(k.Text), len(d.Text); n > 4*of || of > 4*n {
		return false, false, nil // of such lengths no two texts are alike
	}
	c := words.CompareFrom(k.words(), least)
	other, err := p.apart(d, k)
	if err != nil {
		return false, false, err
	}
	s.Text = c.Similarity
	for _, x := range c.Differs {
		s.Differs = append(s.Differs, Difference(x))
	}
	s.Differs = append(s.Differs, other...)
	if c.Similarity > p.params.DuplicateAbove && len(s.Differs) == 0 {
		return true, false, nil
	}
	opposes := c.Opposes() && c.Similarity >= oppositeAt && len(other) == 0
	s.Suggest = suggestion(c, opposes, len(other) == 0)
	tell = c.Similarity >= p.params.SimilarFrom || s.cosine() >= closeAt || opposes
	return false, tell, nil
}

func suggestion(c compare.Comparison, opposes, alone bool) Suggestion {
	if opposes {
		return SuggestContradict
	}
	if !alone || len(c.Differs) == 0 {
		return SuggestKeep
	}
	for _, d := range c.Differs {
		value := d.Kind == compare.Number || d.Kind == compare.Unit || d.Kind == compare.Date
		if !value || d.A == "" || d.B == "" {
			return SuggestKeep
		}
	}
	return SuggestSupersede
}

// drafted returns a draft as the memory that it becomes.
func drafted(d *Draft) *known { return &known{Draft: *d, made: true, read: d.terms} }

// EmbedText returns the text to embed for the new memory (graph.EmbedText).
func (r *Request) EmbedText() (string, error) {
	d, err := r.draft(state.Stamp{})
	if err != nil {
		return "", err
	}
	c := drafted(d).change()
	return graph.EmbedText(&graph.Node{Summary: *c.Summary, Cues: c.Cues, Props: c.Props}, ""), nil
}

func (p *planner) add(d *Draft, near []Near, out *Remembered) error {
	k := drafted(d)
	p.known[k.ID] = k
	p.touch = append(p.touch, k)
	out.ID, out.Action, out.Importance, out.made = k.ID, Added, k.Importance, k
	for _, s := range out.Similar {
		if s.Suggest == SuggestContradict {
			out.Action = Conflict
		}
	}
	if err := p.about(d, k, out); err != nil {
		return err
	}
	linked, err := p.linker.links(p.ctx, d, k.subjects, near)
	if err != nil {
		return err
	}
	out.Candidates = linked.Candidates
	if err := p.linkAll(linked.Links, out); err != nil {
		return err
	}
	p.linker.wrote(d)
	p.fresh.add(k.terms(p.linker.words).Order, k)
	return nil
}

func (p *planner) linkAll(links []Link, out *Remembered) error {
	for i := range links {
		if err := p.link(&links[i], out); err != nil {
			return err
		}
	}
	return nil
}

// link writes an edge, with the node at its end if there is none.
func (p *planner) link(l *Link, out *Remembered) error {
	if l.Makes != nil {
		if err := p.node(l.Makes); err != nil {
			return err
		}
	}
	change := &graph.EdgeChange{
		Type: l.Type, Src: l.Src, Dst: l.Dst, Key: l.Key, Weight: l.Weight, Props: l.Props,
	}
	id := change.Target()
	if p.made[id] {
		return nil
	}
	there, err := false, error(nil)
	if !p.makes(l.Src.Target()) && !p.makes(l.Dst.Target()) { // else no commit has the edge
		there, err = hasEdge(p.ctx, p.s, id)
	}
	if err == nil && !there {
		p.made[id] = true
		p.others = append(p.others, graph.Change{Edge: change})
		out.Edges[l.Type]++
		out.Links = append(out.Links, l.written(id))
	}
	return err
}

// makes reports whether this commit makes a node.
func (p *planner) makes(id graph.ID) bool {
	k := p.known[id]
	return p.made[id] || k != nil && k.made
}

// node makes a node of a key unless there is one.
func (p *planner) node(c *graph.NodeChange) error {
	id := c.Target()
	if p.made[id] {
		return nil
	}
	there, err := p.linker.node(p.ctx, id)
	if err == nil && there == nil {
		p.made[id] = true
		p.linker.makes(c)
		p.others = append(p.others, graph.Change{Node: c})
	}
	return err
}

// again records that a memory was stated again, and adds new properties.
func (p *planner) again(d *Draft, k *known, out *Remembered) error {
	out.ID, out.Action, out.Type = k.ID, Duplicate, k.Type
	var dropped bool
	grown := false
	add := func(prop string) { // only write properties that were added to: a concurrent writer may add to others
		grown = true
		if !slices.Contains(k.grown, prop) {
			k.grown = append(k.grown, prop)
		}
	}
	grow := func(prop string, to *[]string, by []string, most int) {
		for _, s := range by {
			if slices.Contains(*to, s) {
				continue
			}
			if len(*to) >= most || slices.Contains(k.foreign, prop) {
				dropped = true
				continue
			}
			*to = append(slices.Clone(*to), s)
			slices.Sort(*to)
			add(prop)
		}
	}
	grow(memory.PropTags, &k.Tags, d.Tags, memory.MaxTags)
	grow(memory.PropEntities, &k.Entities, d.Entities, memory.MaxEntities)
	grow(fieldCues, &k.Cues, d.Cues, graph.MaxCues)
	if d.Importance > k.Importance && !slices.Contains(k.foreign, memory.PropImportance) {
		k.Importance = d.Importance
		add(memory.PropImportance)
	}
	if d.Expires.Given && k.Expires.Given && d.Expires.Time > k.Expires.Time {
		k.Expires = d.Expires
		add(memory.PropExpires)
	}
	if dropped {
		out.warn(QualityFull, "")
	}
	if grown {
		out.Action = Updated
		if !k.changed {
			k.changed = true
			if !k.made {
				p.touch = append(p.touch, k)
			}
		}
	}
	out.Importance = k.Importance
	if err := p.relink(d, k, out); err != nil {
		return err
	}
	return p.observe(d, k, out)
}

// relink links a memory that was said again to tags and entities that it did not have.
func (p *planner) relink(d *Draft, k *known, out *Remembered) error {
	if out.Action != Updated {
		return nil
	}
	said := *d
	said.ID = k.ID
	if k.made {
		said.About = k.About
	}
	subjects, err := p.subjects(k)
	if err != nil {
		return err
	}
	var links Linked
	if p.linker.opt.runs(RuleKeyword) {
		p.linker.keywords(&said, &links)
	}
	if p.linker.opt.runs(RuleEntity) {
		if err := p.linker.entities(p.ctx, &said, subjects, &links); err != nil {
			return err
		}
	}
	return p.linkAll(links.Links, out)
}

// observe writes that a memory was said again, unless that wording and source are known or there are too many. The same
// again is no observation: calls are repeated when their answer was lost, and loops would make a memory look important.
func (p *planner) observe(d *Draft, k *known, out *Remembered) error {
	missing := func(s string) bool { return !slices.Contains(k.Sources, s) }
	if d.Text == k.Text && !slices.ContainsFunc(d.Sources, missing) {
		return nil // the node says so
	}
	key := ObservationKey(d.Text, d.Sources)
	self := graph.Ref{ID: k.ID}
	edge := &Link{Type: memory.EdgeObserved, Src: self, Dst: self, Key: key, Why: "it was said again"}
	id := graph.EdgeID(k.ID, memory.EdgeObserved, k.ID, key)
	there, err := hasEdge(p.ctx, p.s, id)
	if err != nil || there || p.made[id] {
		return err
	}
	n, err := p.observations(k)
	if err != nil {
		return err
	}
	if n >= MaxObserved {
		out.warn(QualityObserved, fmt.Sprint(MaxObserved))
		return nil
	}
	k.count = n + 1
	if d.Text != k.Text {
		edge.Props = append(edge.Props, ipld.Entry{Key: "text", Value: ipld.StringValue(d.Text)})
	}
	if len(d.Sources) > 0 {
		edge.Props = append(edge.Props, ipld.Entry{Key: "sources", Value: source.TextList(d.Sources)})
	}
	ipld.SortEntries(edge.Props)
	return p.link(edge, out)
}

// replace marks the memories that a draft replaces as superseded.
func (p *planner) replace(req *Request, d *Draft, out *Remembered) error {
	for _, name := range req.Supersedes {
		id, err := rank.Find(p.ctx, p.s, name, memory.IsShown)
		if err != nil {
			return err
		}
		if id == out.ID {
			return badRequest("supersedes", "%q says the same, so there is nothing to supersede", name)
		}
		if err := p.supersede(name, id, out); err != nil {
			return err
		}
	}
	if d.Property == "" {
		return nil
	}
	subject := d.About.Target()
	at := value{subject, d.Property}
	old, err := p.current(at)
	if err != nil {
		return err
	}
	if slices.Contains(old, out.ID) {
		return nil
	}
	if len(old) > 0 && p.params.Keep {
		out.Action = Conflict
		return nil
	}
	for _, id := range old {
		if err := p.supersede(id.String(), id, out); err != nil {
			return err
		}
	}
	p.values[at] = []graph.ID{out.ID}
	return p.link(&Link{Type: d.Property, Src: d.About, Dst: graph.Ref{ID: out.ID},
		Why: "it says what this property of it is"}, out)
}

func (p *planner) supersede(name string, id graph.ID, out *Remembered) error {
	before := len(p.marks.Changes)
	req := memory.MarkRequest{State: graph.Superseded, By: out.ID.String()}
	if err := p.marks.One(req, name, id, out.ID); err != nil {
		return err
	}
	if len(p.marks.Changes) > before {
		out.Superseded = append(out.Superseded, id)
		out.Action = Superseded
	}
	return nil
}

// current returns the values that a property of a subject has and that no mark hides, in id order.
func (p *planner) current(at value) ([]graph.ID, error) {
	if list, ok := p.values[at]; ok {
		return list, nil
	}
	var out []graph.ID
	for e, err := range p.s.Adjacency().Bucket(p.ctx, at.subject, adjacency.Out, at.property, nil) {
		if err != nil {
			return nil, err
		}
		by, err := p.hidden(e.Other)
		if err != nil {
			return nil, err
		}
		gone, err := memory.IsEdgeHidden(p.ctx, p.s, e.Edge, nil)
		if err != nil {
			return nil, err
		}
		if by == "" && !gone {
			out = append(out, e.Other)
		}
		if len(out) > maxValues {
			return nil, badRequest("property", "%q has more than %d values: it is not one that has a "+
				"single value", at.property, maxValues)
		}
	}
	slices.SortFunc(out, graph.ID.Compare)
	p.values[at] = out
	return out, nil
}

// maxValues is how many values of a property are superseded at once.
const maxValues = 64

func (p *planner) changes() []graph.Change {
	var out []graph.Change
	for _, k := range p.touch {
		out = append(out, graph.Change{Node: k.change()})
	}
	out = append(out, p.others...)
	for _, k := range p.touch {
		if k.made && k.Vector != nil {
			out = append(out, graph.Change{Embedding: state.EmbeddingOf(k.ID, k.Vector.Model, k.Vector.Int8())})
		}
	}
	return append(out, p.marks.Changes...)
}

// fieldCues is the field of a node that cues are in.
const fieldCues = "cues"

// change returns what makes a memory's node, or adds to one.
func (k *known) change() *graph.NodeChange {
	c := &graph.NodeChange{ID: k.ID}
	if k.made {
		c.Type, c.Summary = k.Type, new(k.Text)
		c.ValidFrom, c.ValidTo = k.ValidFrom, k.ValidTo
		c.Sources = k.Sources
	}
	prop := func(name string, v ipld.Value) {
		c.Props = append(c.Props, ipld.Entry{Key: name, Value: v})
	}
	says := func(name string) bool { return k.made || slices.Contains(k.grown, name) }
	if says(memory.PropImportance) && (k.Importance != memory.DefaultImportance || !k.made) {
		prop(memory.PropImportance, ipld.IntValue(int64(k.Importance)))
	}
	if len(k.Tags) > 0 && says(memory.PropTags) {
		prop(memory.PropTags, source.TextList(k.Tags))
	}
	if len(k.Entities) > 0 && says(memory.PropEntities) {
		prop(memory.PropEntities, source.TextList(k.Entities))
	}
	if k.Expires.Given && says(memory.PropExpires) {
		prop(memory.PropExpires, ipld.StringValue(k.Expires.Time.Std().Format("2006-01-02T15:04:05Z")))
	}
	if len(k.Cues) > 0 && says(fieldCues) {
		c.Cues = k.Cues
	}
	ipld.SortEntries(c.Props)
	return c
}

// node returns what importance is made of, of a memory that is made at a time.
func (k *known) node(at graph.Time) *graph.Node {
	return &graph.Node{ID: k.ID, Type: k.Type, Created: at,
		Props: []ipld.Entry{{Key: memory.PropImportance, Value: ipld.IntValue(int64(k.Importance))}}}
}

// message describes a commit by ids and never by texts: a purge could not remove a text from it.
func (p *planner) message() string {
	if len(p.out) != 1 {
		return fmt.Sprintf("remember %d memories", len(p.out))
	}
	m := p.out[0]
	switch m.Action {
	case Duplicate, Updated:
		return "observe " + m.ID.String()
	case Superseded:
		return "remember " + m.ID.String() + " in place of " + m.Superseded[0].String()
	}
	return "remember " + m.Type + " " + m.ID.String()
}

// nearest looks for the earlier memories that a new one may replace.
func (p *planner) nearest(d *Draft, out *Remembered) error {
	later := &memory.Later{Text: d.Text, Cues: d.Cues, Created: d.Created, Vector: d.Vector}
	found, settle, err := p.rare.Nearest(later, func(id graph.ID) (*memory.Earlier, error) {
		k, err := p.look(id)
		if err != nil || k == nil || !k.statement || id == out.ID {
			return nil, err
		}
		by, err := p.hidden(id)
		if err != nil || by != "" {
			return nil, err
		}
		return &memory.Earlier{Text: k.Text, Cues: k.Cues, Created: k.Created}, nil
	})
	if out.Nearest = found; len(out.Superseded) == 0 {
		out.Settle = settle
	}
	return err
}

// minPrefix is how many digits are no key by chance where an id begins with them.
const minPrefix = 8

// subject finds what a draft is about by its name, if there is no node of the key.
func (p *planner) subject(d *Draft) error {
	key := d.About.Key
	if key == "" || d.literal || p.made[d.About.Target()] {
		return nil
	}
	if n, err := p.linker.node(p.ctx, d.About.Target()); n != nil || err != nil {
		return err
	}
	at, err := p.linker.locate(p.ctx, titleOfKey(key), nil)
	if err != nil {
		return err
	}
	if at.there || p.made[at.ref.Target()] {
		d.About = at.ref
		return nil
	}
	if len(key) >= minPrefix && p.s.CID().Defined() {
		if id, err := p.s.Name(p.ctx, "id:"+key); err == nil {
			return badRequest("about", "%q is no key, but the beginning of the id %s: give all of it, or "+
				"key:%s for a new subject", key, id, key)
		}
	}
	return nil
}

// titleOfKey returns what an entity of a key is called where a mention made it.
func titleOfKey(key string) string {
	return cmp.Or(strings.TrimPrefix(key, memory.EntityPrefix), key)
}

// about links a memory to its subject, which is made if there is none.
func (p *planner) about(d *Draft, k *known, out *Remembered) error {
	if d.About.IsZero() {
		return nil
	}
	var subject *graph.NodeChange
	if d.About.Key != "" {
		name := titleOfKey(d.About.Key)
		subject = &graph.NodeChange{Key: d.About.Key, Type: memory.TypeEntity, Summary: &name}
	} else if n, err := p.look(d.About.ID); err != nil {
		return err
	} else if n == nil {
		return &state.NotFoundError{What: "node", Name: d.About.String()}
	}
	k.subjects = append(k.subjects, d.About.Target())
	return p.link(&Link{
		Type: memory.EdgeAbout, Src: graph.Ref{ID: k.ID}, Dst: d.About, Makes: subject,
		Why: "it is said to be about it",
	}, out)
}
