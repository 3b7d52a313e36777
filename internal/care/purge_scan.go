package care

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/prolly"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/view/distill"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

const (
	// minNeedle is how many scalars a text must have to be searched for.
	minNeedle = 4
	// maxWords is how many single words of a node are searched for, in addition to its whole texts.
	maxWords = 64
)

// PurgeScan is the result of reading every block.
type PurgeScan struct {
	P        *Erasing
	versions int                           // of nodes, that are erased
	Nodes    map[graph.ID]*Versions        // those with an erased version
	gone     map[graph.ID]bool             // those with every version erased before
	near     map[graph.ID]*Versions        // at the other end of an edge of a node that goes completely
	edges    []purgeEdge                   // of the nodes
	Texts    map[ipld.CID]*distill.Written // of digests
	edgeIDs  map[graph.ID]bool             // edges of nodes that go completely
	Erase    map[ipld.CID]Erasure
	needles  map[string]struct{} // texts of the node
	words    map[string]struct{} // of the text, and of what goes with it
	raws     map[ipld.CID]rawUse
	shared   map[ipld.CID]bool
	vectors  map[ipld.CID]graph.ID // that look like embeddings of nodes or near ones
	ids      parts                 // of nodes that go whole and of near ones
	digests  parts                 // of the embeddings that go
}

// parts are byte strings; a chunk of a tree that contains none of them need not be decoded.
type parts [][]byte

// maxParts is how many are searched for: more would take longer than decoding a chunk.
const maxParts = 32

func (p parts) in(block []byte) bool {
	return len(p) > maxParts || slices.ContainsFunc(p, func(part []byte) bool {
		return bytes.Contains(block, part)
	})
}

// Versions are the versions of a node.
type Versions struct {
	all    int
	erased int
	list   map[ipld.CID]*graph.Node
	spared bool // for a nearby node: something else leads to it, or it is more than a name
	marks  map[ipld.CID]*graph.Mark
}

// Erasure describes what remains of a block.
type Erasure struct {
	what commit.Erased
	node graph.ID // whose it was, zero for none
	name string   // id of a node or edge
	left []byte
}

type purgeEdge struct {
	cid  ipld.CID
	edge *graph.Edge
}

// rawUse is the use of a raw block that is not content.
type rawUse struct {
	what commit.Erased
	by   ipld.CID
}

// scan finds the blocks that go, and those that contain the words and stay.
func (p *Erasing) scan() (*PurgeScan, error) {
	s := &PurgeScan{
		P: p, Nodes: make(map[graph.ID]*Versions), near: make(map[graph.ID]*Versions),
		gone: make(map[graph.ID]bool), edgeIDs: make(map[graph.ID]bool),
		Erase: make(map[ipld.CID]Erasure), needles: make(map[string]struct{}),
		words: make(map[string]struct{}), raws: make(map[ipld.CID]rawUse),
		shared: make(map[ipld.CID]bool), vectors: make(map[ipld.CID]graph.ID),
		Texts: make(map[ipld.CID]*distill.Written),
	}
	p.res.Derived, p.res.Erased, p.res.Shared, p.res.Hits, p.res.More = nil, nil, nil, nil, 0
	for e, err := range p.Repo.Redactions().All(p.Ctx) {
		if err != nil {
			return nil, err
		}
		if e.Record.What == commit.ErasedNode {
			s.gone[e.Record.Node] = true
		}
	}
	if err := s.find(); err != nil {
		return nil, err
	}
	if err := s.derive(); err != nil {
		return nil, err
	}
	if err := s.TextsOf(); err != nil {
		return nil, err
	}
	for c, e := range s.Erase {
		if e.what == commit.ErasedEmbedding {
			digest := c.Digest()
			s.digests = append(s.digests, digest[:])
		}
	}
	if err := s.pass("blocks compared", s.compare); err != nil {
		return nil, err
	}
	if err := s.settle(); err != nil {
		return nil, err
	}
	return s, s.refs()
}

// find finds the nodes with everything that belongs to them, and nearby nodes. A node purged by name goes
// completely, so what belongs to it is found in the same pass; without edges it has no nearby nodes.
func (s *PurgeScan) find() error {
	first := s.collect
	if s.P.secret == nil {
		s.Nodes[s.P.id] = new(Versions)
		s.meet()
		first = func(b store.Block, kind string) error {
			if err := s.collect(b, kind); err != nil {
				return err
			}
			return s.follow(b, kind)
		}
	} else if err := s.pass("blocks searched", s.match); err != nil {
		return err
	}
	if err := s.pass("blocks searched", first); err != nil {
		return err
	}
	if s.P.secret == nil && len(s.edges) == 0 {
		return nil
	}
	s.meet()
	return s.pass("blocks followed", s.follow)
}

// pass calls fn with every block and its peeked kind, "" for a raw one.
func (s *PurgeScan) pass(name string, fn func(b store.Block, kind string) error) error {
	n := 0
	return s.P.Repo.Store.Facts().Iterate(s.P.Ctx, ipld.CID{}, func(b store.Block) error {
		if n++; n%core.ProgressEvery == 0 {
			s.P.opt.Progress(name, n)
		}
		kind := ""
		if b.CID.Codec() == ipld.DagCBOR {
			kind = ipld.PeekKind(b.Data)
		}
		return fn(b, kind)
	})
}

// match records the blocks that contain the text of a purge, and their nodes. It ignores blocks that do not decode;
// fsck reports these.
func (s *PurgeScan) match(b store.Block, _ string) error {
	held := s.P.secret.held(b)
	if ipld.RecordKind(b.Data) == graph.KindNode && b.CID.Codec() == ipld.DagCBOR {
		n, err := graph.DecodeNode(b.Data)
		if err != nil {
			return nil
		}
		if !held && s.P.secret.blocks == nil && n.Content != nil && len(n.Content.Chunks) > 0 {
			text, err := s.contentOf(n) // it may begin in one chunk and end in another
			if err != nil {
				return err
			}
			held = s.P.secret.in(text)
		}
		if held && s.Nodes[n.ID] == nil {
			s.Nodes[n.ID] = new(Versions)
		}
	}
	if held {
		s.P.Held[b.CID] = true
	}
	return nil
}

// contentOf returns the text of a content, "" if it cannot be read.
func (s *PurgeScan) contentOf(n *graph.Node) (string, error) {
	text, err := state.ContentText(s.P.Ctx, s.P.Repo.Facts(), n.Content)
	if err != nil && !errors.Is(err, store.ErrCorrupt) && !errors.Is(err, store.ErrRedacted) {
		return "", err
	}
	return text, nil
}

// collect finds versions of the nodes with their chunks, their edges, the uses of raw blocks and, for a purge of a
// text, all other blocks that can be erased.
func (s *PurgeScan) collect(b store.Block, kind string) error {
	switch kind {
	case graph.KindNode:
		n, err := graph.DecodeNode(b.Data)
		delete(s.gone, nodeID(n, err))
		if v := s.Nodes[nodeID(n, err)]; v != nil {
			v.all++
			if s.P.secret == nil || s.P.Held[b.CID] {
				v.erased++
				return s.version(b.CID, n)
			}
		}
	case graph.KindEdge:
		e, err := graph.DecodeEdge(b.Data)
		if err != nil {
			return nil
		}
		if s.Nodes[e.Src] != nil || s.Nodes[e.Dst] != nil {
			s.edges = append(s.edges, purgeEdge{b.CID, e})
		}
		if s.P.Held[b.CID] {
			s.edge(b.CID, e)
		}
	case graph.KindMark:
		m, err := graph.DecodeMark(b.Data)
		if err == nil && s.P.Held[b.CID] {
			s.mark(b.CID, m)
		}
	case distill.KindWritten:
		if w, err := distill.DecodeWritten(b.Data); err == nil {
			s.Texts[b.CID] = w
		}
	case graph.KindEmbedding:
		if s.P.Held[b.CID] {
			s.Erase[b.CID] = Erasure{what: commit.ErasedEmbedding}
		}
	default:
		s.uses(b, kind)
	}
	return nil
}

func nodeID(n *graph.Node, err error) graph.ID {
	if err != nil {
		return graph.ID{}
	}
	return n.ID
}

// uses records the raw blocks linked from a record that is not a node.
func (s *PurgeScan) uses(b store.Block, kind string) {
	query := func(c ipld.CID) { s.raws[c] = rawUse{commit.ErasedQuery, b.CID} }
	message := func(m commit.Message) {
		if m.Block.Defined() {
			s.raws[m.Block] = rawUse{commit.ErasedMessage, b.CID}
		}
	}
	switch kind {
	case commit.KindCommit:
		if rec, err := commit.DecodeCommit(b.Data); err == nil {
			message(rec.Message)
		}
	case commit.KindTag:
		if rec, err := commit.DecodeTag(b.Data); err == nil {
			message(rec.Message)
		}
	case commit.KindMerge:
		if rec, err := commit.DecodeMerge(b.Data); err == nil {
			message(rec.Message)
		}
	case retrieve.KindReceipt:
		if rec, err := retrieve.DecodeReceipt(b.Data); err == nil {
			query(rec.Query())
			for _, c := range rec.Rewrites() {
				query(c)
			}
		}
	}
}

// treeKind is the kind of a chunk of a tree.
var treeKind = state.RoleNodes.String()

// version records one version of a node that goes.
func (s *PurgeScan) version(c ipld.CID, n *graph.Node) error {
	if guard := s.P.opt.Guard; guard != nil {
		if err := guard(state.Touch{Kind: core.TouchNode, ID: n.ID, Type: n.Type}); err != nil {
			return err
		}
	}
	s.versions++
	s.Erase[c] = Erasure{what: commit.ErasedNode, node: n.ID, name: n.ID.String()}
	text := ""
	if n.Content != nil {
		for _, chunk := range n.Content.Chunks {
			s.Erase[chunk] = Erasure{what: commit.ErasedContent, node: n.ID}
		}
		var err error
		if text, err = s.contentOf(n); err != nil {
			return err
		}
	}
	if s.P.secret != nil {
		return nil
	}
	texts := []string{n.Key, n.Summary, n.Context, text}
	for _, e := range n.Props {
		if e.Value.Kind() == ipld.String {
			texts = append(texts, e.Value.Text())
		}
	}
	for _, t := range append(texts, n.Cues...) {
		s.needle(s.needles, t)
		purgedWords(t, func(word string) {
			if len(s.words) < maxWords {
				s.needle(s.words, word)
			}
		})
	}
	return nil
}

// needle adds a text to search for. A text longer than a record can recur only in equal chunks.
func (s *PurgeScan) needle(to map[string]struct{}, text string) {
	if utf8.RuneCountInString(text) >= minNeedle && len(text) <= ipld.MaxBlock {
		to[text] = struct{}{}
	}
}

// edge erases an edge, unless it has nothing beyond its remainder.
func (s *PurgeScan) edge(c ipld.CID, e *graph.Edge) {
	if len(e.Props)+len(e.Sources)+len(e.Extra) > 0 || e.Key != "" {
		s.Erase[c] = Erasure{what: commit.ErasedEdge, name: e.ID.String(), left: e.Bare().Encode()}
	}
}

func (s *PurgeScan) mark(c ipld.CID, m *graph.Mark) {
	if m.Reason != "" || len(m.Extra) > 0 {
		s.Erase[c] = Erasure{what: commit.ErasedMark, name: m.ID.String(), left: m.Bare().Encode()}
	}
}

// whole reports whether every version of a node goes.
func (s *PurgeScan) whole(id graph.ID) bool {
	v := s.Nodes[id]
	return v != nil && v.erased == v.all
}

// embeddings calls fn with the node and the embedding of every entry of a chunk that looks like one of a tree of
// embeddings: a link under an id with a suffix. It skips a chunk that contains none of some parts.
func (s *PurgeScan) embeddings(b store.Block, some parts, fn func(graph.ID, ipld.CID)) {
	if !some.in(b.Data) {
		return
	}
	entries, err := prolly.Leaf(b.Data)
	if err != nil {
		return
	}
	for _, e := range entries {
		if len(e.Key) <= graph.IDLen {
			continue
		}
		if c, err := state.LinkItem(e.Value); err == nil && c.Codec() == ipld.DagCBOR {
			fn(graph.ID(e.Key[:graph.IDLen]), c)
		}
	}
}

// compare finds what other nodes share with those that go, and blocks that contain the words.
func (s *PurgeScan) compare(b store.Block, kind string) error {
	if s.P.secret == nil && kind == treeKind && !s.digests.in(b.Data) &&
		!s.contains(b.Data, s.needles) && !s.contains(b.Data, s.words) {
		return nil // most blocks are such
	}
	hit := PurgeHit{CID: b.CID, What: string(commit.ErasedContent)}
	use, used := s.raws[b.CID]
	switch {
	case b.CID.Codec() == ipld.DagCBOR:
		hit.What = ipld.RecordKind(b.Data)
	case used:
		hit.What, hit.Name = string(use.what), use.by.String()
	}
	gone, ours := s.Erase[b.CID]
	switch hit.What {
	case graph.KindNode:
		n, err := graph.DecodeNode(b.Data)
		if err != nil || ours {
			return nil
		}
		hit.Name = n.ID.String()
		if n.Content != nil {
			for _, chunk := range n.Content.Chunks {
				s.share(chunk)
			}
		}
		if v := s.near[n.ID]; v != nil && s.P.secret == nil && isNameOnly(n) {
			s.hit(hit) // a name that the node has, and others too
			return nil
		}
	case graph.KindEdge:
		if e, err := graph.DecodeEdge(b.Data); err == nil {
			hit.Name = e.ID.String()
		}
	case graph.KindMark:
		if m, err := graph.DecodeMark(b.Data); err == nil {
			hit.Name = m.ID.String()
		}
	case treeKind:
		s.embeddings(b, s.digests, func(id graph.ID, c ipld.CID) {
			if !s.whole(id) && s.Erase[c].what == commit.ErasedEmbedding { // a mark's key looks like one
				s.share(c)
			}
		})
		if s.P.secret == nil {
			return nil // keys are ids; names of refs are checked separately
		}
	}
	switch {
	case ours && gone.left == nil:
	case ours: // its remainder stays
		if s.P.secret != nil && s.P.secret.held(store.NewBlock(ipld.DagCBOR, gone.left)) {
			s.hit(hit)
		}
	case s.P.secret != nil:
		s.found(b, hit, use, used)
	case used && use.what == commit.ErasedQuery && !s.P.opt.KeepQueries && s.contains(b.Data, s.needles):
		s.Erase[b.CID] = Erasure{what: commit.ErasedQuery}
	case s.contains(b.Data, s.needles) || s.contains(b.Data, s.words):
		s.hit(hit)
	}
	return nil
}

// found erases a raw block that contains the text, and reports any other block.
func (s *PurgeScan) found(b store.Block, hit PurgeHit, use rawUse, used bool) {
	switch {
	case !s.P.Held[b.CID]:
	case b.CID.Codec() == ipld.DagCBOR:
		s.hit(hit)
	case used:
		s.Erase[b.CID] = Erasure{what: use.what}
	default:
		s.Erase[b.CID] = Erasure{what: commit.ErasedContent}
	}
}

func (s *PurgeScan) share(c ipld.CID) {
	if _, ours := s.Erase[c]; ours && !s.P.Held[c] {
		s.shared[c] = true
	}
}

// contains reports whether a block contains one of texts: records store strings verbatim.
func (s *PurgeScan) contains(data []byte, texts map[string]struct{}) bool {
	for text := range texts {
		if len(text) <= len(data) && bytes.Contains(data, []byte(text)) {
			return true
		}
	}
	return false
}

func (s *PurgeScan) hit(h PurgeHit) {
	if len(s.P.res.Hits) == maxPurgeHits {
		s.P.res.More++
		return
	}
	s.P.res.Hits = append(s.P.res.Hits, h)
}

// settle spares what is shared, and what only looked like an embedding: other links can be made to look so by
// choosing ids. It lists the rest.
func (s *PurgeScan) settle() error {
	for c, e := range s.Erase {
		if e.what != commit.ErasedEmbedding {
			continue
		}
		data, err := s.P.Repo.Store.Facts().Get(s.P.Ctx, c)
		switch {
		case errors.Is(err, store.ErrNotFound), errors.Is(err, store.ErrRedacted):
		case err != nil:
			return err
		}
		if err != nil || ipld.RecordKind(data) != graph.KindEmbedding {
			delete(s.Erase, c)
		}
	}
	for c := range s.shared {
		e, ours := s.Erase[c]
		if !ours {
			continue
		}
		s.P.res.Shared = append(s.P.res.Shared, SharedBlock{CID: c, What: e.what})
		delete(s.Erase, c)
	}
	for c, e := range s.Erase {
		s.P.res.Erased = append(s.P.res.Erased, PurgedBlock{c, e.what, e.name})
	}
	slices.SortFunc(s.P.res.Shared, func(a, b SharedBlock) int { return a.CID.Compare(b.CID) })
	slices.SortFunc(s.P.res.Erased, func(a, b PurgedBlock) int { return a.CID.Compare(b.CID) })
	return nil
}

// refs finds refs whose names contain the words; redactions as well, if a text is purged.
func (s *PurgeScan) refs() error {
	v, err := s.P.Repo.Current(s.P.Ctx)
	if err != nil {
		return err
	}
	for ref, err := range v.List(s.P.Ctx, "") {
		if err != nil {
			return fmt.Errorf("list refs: %w", err)
		}
		name := string(ref.Name)
		if s.P.secret == nil && s.contains([]byte(name), s.needles) ||
			s.P.secret != nil && s.P.secret.blocks == nil && s.P.secret.in(name) {
			s.hit(PurgeHit{What: "ref", Name: name})
		}
	}
	if s.P.secret == nil || s.P.secret.blocks != nil {
		return nil
	}
	return s.inRedactions()
}

// redactions returns the redactions of the erased blocks, signed if the purge is.
func (s *PurgeScan) redactions(opt PurgeOptions) ([]store.Redaction, error) {
	out := make([]store.Redaction, 0, len(s.Erase))
	var unsigned state.UnsignedError // collects them, so that the caller signs all at once
	for c, e := range s.Erase {
		rec := commit.Redaction{
			What: e.what, Node: e.node, Actor: opt.Author, Time: opt.Time, Reason: opt.Reason,
			Left: e.left,
		}
		if rec.Node.IsZero() && s.P.secret == nil {
			rec.Node = s.P.id
		}
		if opt.Sign != nil {
			var lacks *state.UnsignedError
			if err := rec.Sign(c, opt.Sign); errors.As(err, &lacks) {
				unsigned.Records = append(unsigned.Records, lacks.Records...)
			} else if err != nil {
				return nil, fmt.Errorf("nothing was erased: %w", err)
			}
		}
		out = append(out, store.Redaction{CID: c, Stub: rec.Encode()})
	}
	if len(unsigned.Records) > 0 {
		return nil, fmt.Errorf("nothing was erased: %w", &unsigned)
	}
	slices.SortFunc(out, func(a, b store.Redaction) int { return a.CID.Compare(b.CID) })
	return out, nil
}
