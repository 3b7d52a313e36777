package care

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/text"
	"github.com/mnem-project/mnem/internal/block/prolly"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/ipld"
)

// Bounds of a purged text, in bytes. A shorter one would match too much unintentionally, and a longer one does not
// fit a single searched field.
const (
	MinPurgeText = 8
	MaxPurgeText = 64 << 10
)

// PurgeText erases every block that contains a text: verbatim, folded (clause 6.2), or as the same words with other
// separators, as in keys made from names. It erases each version of a node that contains it, also from branches and
// stages, and for a node without remaining versions everything that Purge erases with one. Edges and marks keep
// what identifies them, but no words; queries and messages go completely. Blocks that cannot be erased (commits,
// operations, trees, receipts, sessions, tags, profiles) are among the Hits. Everything else is as for Purge.
//
// It returns a *state.NotFoundError if no block contains the text. Neither errors nor the recorded operation
// contain it.
func PurgeText(ctx context.Context, r *core.Repo, text string, opt PurgeOptions) (*PurgeResult, error) {
	if len(text) < MinPurgeText || len(text) > MaxPurgeText || !utf8.ValidString(text) {
		return nil, state.Invalidf("purge: the text must be UTF-8 of %d to %d bytes, it has %d", MinPurgeText,
			MaxPurgeText, len(text))
	}
	ctx = store.Erasing(ctx)
	s := newSecret(text)
	if s.in(opt.Reason) || s.in(opt.Author) {
		return nil, state.Invalidf("purge: the reason or the author has the text, which would stay in the redactions")
	}
	if opt.Guard != nil { // blocks of any type may contain a text
		for _, kind := range []state.TouchKind{core.TouchNode, core.TouchEdge} {
			if err := opt.Guard(state.Touch{Kind: kind}); err != nil {
				return nil, err
			}
		}
	}
	return runPurge(r, &Erasing{Ctx: ctx, Repo: r, secret: s, opt: opt}, "")
}

type secret struct {
	raw, folded, words string
	blocks             map[ipld.CID]bool // that contain it; nil: search for raw
}

func newSecret(raw string) *secret {
	folded, words := searched(raw)
	return &secret{raw: raw, folded: folded, words: words}
}

// searched returns the forms in which a text is searched for: folded, with each run of white space as one blank;
// and its words, folded, with a blank before and after each.
func searched(s string) (folded, words string) {
	var f, w strings.Builder
	blank, gap := false, true
	text.EachFolded(s, func(_, _ int, kind text.CharClass, fold string) bool {
		if kind == text.KindOther {
			gap = true
			if strings.Contains(" \t\n\r\u00a0\u3000", fold) {
				blank = f.Len() > 0
				return true
			}
		} else {
			if gap {
				w.WriteByte(' ')
				gap = false
			}
			w.WriteString(fold)
		}
		if blank {
			f.WriteByte(' ')
			blank = false
		}
		f.WriteString(fold)
		return true
	})
	if w.Len() > 0 {
		w.WriteByte(' ')
	}
	return f.String(), w.String()
}

func (s *secret) in(str string) bool {
	if 3*len(str)+2 < MinPurgeText { // folding makes no string more than three times as long
		return false
	}
	if strings.Contains(str, s.raw) {
		return true
	}
	folded, words := searched(str)
	return len(s.folded) >= MinPurgeText && strings.Contains(folded, s.folded) ||
		len(s.words) >= MinPurgeText+2 && strings.Contains(words, s.words)
}

func (s *secret) held(b store.Block) bool {
	if s.blocks != nil {
		return s.blocks[b.CID]
	}
	if bytes.Contains(b.Data, []byte(s.raw)) {
		return true
	}
	if b.CID.Codec() != ipld.DagCBOR {
		return s.in(string(b.Data))
	}
	if entries, err := prolly.Leaf(b.Data); err == nil && len(entries) > 0 {
		for _, e := range entries {
			if s.in(string(e.Key)) {
				return true
			}
		}
	}
	v, err := ipld.DecodeValue(b.Data)
	if err != nil {
		return s.in(string(b.Data)) // its parts are unknown
	}
	return s.inValue(v)
}

func (s *secret) inValue(v ipld.Value) bool {
	switch v.Kind() {
	case ipld.String, ipld.Bytes:
		return s.in(v.Text())
	case ipld.List:
		for _, item := range v.List() {
			if s.inValue(item) {
				return true
			}
		}
	case ipld.Map:
		for _, e := range v.Entries() {
			if s.in(e.Key) || s.inValue(e.Value) {
				return true
			}
		}
	}
	return false
}

// inRedactions reports earlier erasures whose redaction contains the text, for instance as the reason.
func (s *PurgeScan) inRedactions() error {
	for e, err := range s.P.Repo.Redactions().All(s.P.Ctx) {
		if err != nil {
			return err
		}
		if s.P.secret.held(store.NewBlock(ipld.DagCBOR, e.Record.Encode())) {
			s.hit(PurgeHit{CID: e.CID, What: commit.KindRedaction})
		}
	}
	return nil
}

// purgedWords yields the words of a text that look like identifiers: with a letter and a digit, of 8 bytes or more.
// Other occurrences of them are reported.
func purgedWords(s string, fn func(word string)) {
	for _, word := range strings.Fields(s) {
		word = strings.Trim(word, "\"'`.,;:!?()[]{}<>")
		letter, digit := false, false
		for _, r := range word {
			digit = digit || r >= '0' && r <= '9'
			letter = letter || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= utf8.RuneSelf
		}
		if letter && digit && len(word) >= MinPurgeText && len(word) <= 1024 {
			fn(word)
		}
	}
}

// purged names the subject of a purge, but never a purged text.
func (p *Erasing) purged() string {
	if p.secret != nil {
		return "text"
	}
	return p.id.String()
}

// files erases from files outside of the store, and reports whether any contains the text.
func (p *Erasing) files(s *PurgeScan, dry bool) (bool, error) {
	if p.opt.Files == nil {
		return false, nil
	}
	holds := s.hasNeedle
	if p.secret != nil {
		holds = p.secret.in
	}
	return p.opt.Files(p.Ctx, holds, dry)
}

// hasNeedle reports whether a text contains one of the node's that is long enough to identify it.
func (s *PurgeScan) hasNeedle(str string) bool {
	for _, texts := range []map[string]struct{}{s.needles, s.words} {
		for text := range texts {
			if len(text) >= MinPurgeText && strings.Contains(str, text) {
				return true
			}
		}
	}
	return false
}

// meet finds the nodes at the other ends of edges of nodes that go completely, and what to search for in a scan.
func (s *PurgeScan) meet() {
	for _, e := range s.edges {
		for _, ends := range [][2]graph.ID{{e.edge.Src, e.edge.Dst}, {e.edge.Dst, e.edge.Src}} {
			if !s.whole(ends[0]) {
				continue
			}
			s.edgeIDs[e.edge.ID] = true
			if s.Nodes[ends[1]] == nil && s.near[ends[1]] == nil {
				s.near[ends[1]] = &Versions{list: make(map[ipld.CID]*graph.Node), marks: make(map[ipld.CID]*graph.Mark)}
			}
		}
	}
	s.ids = nil
	seek := func(id graph.ID) { // a chunk stores the common prefix of its keys separately: one half of an id is contiguous
		s.ids = append(s.ids, id[:graph.IDLen/2], id[graph.IDLen/2:])
	}
	for id := range s.Nodes {
		if s.whole(id) {
			seek(id)
		}
	}
	for id := range s.near {
		seek(id)
	}
}

// follow collects, for the nodes near those that go completely, their versions and whether anything else leads to
// them; and the marks and embeddings of both.
func (s *PurgeScan) follow(b store.Block, kind string) error {
	switch kind {
	case graph.KindNode:
		n, err := graph.DecodeNode(b.Data)
		if v := s.near[nodeID(n, err)]; v != nil {
			v.list[b.CID] = n
			v.spared = v.spared || !isNameOnly(n)
		}
	case graph.KindEdge:
		e, err := graph.DecodeEdge(b.Data)
		if err != nil {
			return nil
		}
		for _, ends := range [][2]graph.ID{{e.Src, e.Dst}, {e.Dst, e.Src}} {
			if v := s.near[ends[0]]; v != nil && !s.whole(ends[1]) && !s.gone[ends[1]] && !isAlias(e) {
				v.spared = true
			}
		}
	case graph.KindMark:
		m, err := graph.DecodeMark(b.Data)
		if err != nil {
			return nil
		}
		if v := s.near[m.ID]; v != nil && m.On == graph.OnNode {
			v.marks[b.CID] = m
		}
		if m.On == graph.OnNode && s.whole(m.ID) || m.On == graph.OnEdge && s.edgeIDs[m.ID] {
			s.mark(b.CID, m)
		}
	case treeKind:
		s.embeddings(b, s.ids, func(id graph.ID, c ipld.CID) {
			if s.near[id] != nil || s.whole(id) {
				s.vectors[c] = id
			}
		})
	}
	return nil
}

// AliasEdge is the type of the edge from the node of a first name to that of a full name.
const AliasEdge = "alias-of"

// isAlias reports whether an edge says no more than that two names mean the same: such an edge does not keep a name
// alive.
func isAlias(e *graph.Edge) bool {
	return e.Type == AliasEdge && e.Key == "" && len(e.Props)+len(e.Sources)+len(e.Extra) == 0
}

// madeOfNames maps the types of nodes made from just a name to the prefixes of their keys (clause 19.5).
var madeOfNames = map[string]string{"Entity": "entity/", "Tag": "tag/"}

// isNameOnly reports whether a node is just a name: it has one of these types, its key is made from its summary,
// and it has no other content.
func isNameOnly(n *graph.Node) bool {
	prefix, ok := madeOfNames[n.Type]
	if !ok || n.Context != "" || n.Content != nil || len(n.Props)+len(n.Sources)+len(n.Cues)+len(n.Extra) > 0 {
		return false
	}
	name, _ := searched(n.Summary)
	key, _ := searched(strings.TrimPrefix(n.Key, prefix))
	return n.Key != "" && key == name
}

// derive adds the nodes that only removed nodes led to, with their data.
func (s *PurgeScan) derive() error {
	for id, v := range s.near {
		if v.spared || len(v.list) == 0 {
			continue
		}
		s.Nodes[id] = v
		v.all, v.erased = len(v.list), len(v.list)
		for c, n := range v.list {
			s.needle(s.words, n.Summary)
			if err := s.version(c, n); err != nil {
				return err
			}
		}
		for c, m := range v.marks {
			s.mark(c, m)
		}
		s.P.res.Derived = append(s.P.res.Derived, id)
	}
	slices.SortFunc(s.P.res.Derived, graph.ID.Compare)
	for _, e := range s.edges {
		if s.whole(e.edge.Src) || s.whole(e.edge.Dst) {
			s.edge(e.cid, e.edge)
		}
	}
	for c, id := range s.vectors {
		if s.whole(id) {
			s.Erase[c] = Erasure{what: commit.ErasedEmbedding, node: id}
		}
	}
	return nil
}
