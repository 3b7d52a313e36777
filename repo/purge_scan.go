package repo

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/prolly"
	"github.com/mnem-project/mnem/retrieve"
	"github.com/mnem-project/mnem/store"
)

// minNeedle is how many scalars a text must have to be looked for.
const minNeedle = 4

// purgeScan is what is found out about a node by reading every block.
type purgeScan struct {
	p        *purge
	id       graph.ID
	versions int
	erase    map[ipld.CID]commit.Erased
	needles  map[string]struct{} // texts of the node
	queries  map[ipld.CID]struct{}
	shared   map[ipld.CID]bool
}

// scan finds the blocks that belong to the node and to no other, and those that contain its text.
func (p *purge) scan() (*purgeScan, error) {
	s := &purgeScan{
		p: p, id: p.id, erase: make(map[ipld.CID]commit.Erased),
		needles: make(map[string]struct{}), queries: make(map[ipld.CID]struct{}),
		shared: make(map[ipld.CID]bool),
	}
	passes := []struct {
		name string
		fn   func(b store.Block) error
	}{{"blocks searched", s.collect}, {"blocks compared", s.compare}}
	for _, pass := range passes {
		n := 0
		err := p.repo.store.Facts().Iterate(p.ctx, ipld.CID{}, func(b store.Block) error {
			if n++; n%progressEvery == 0 {
				p.opt.Progress(pass.name, n)
			}
			return pass.fn(b)
		})
		if err != nil {
			return nil, err
		}
	}
	if err := s.settle(); err != nil {
		return nil, err
	}
	return s, s.refs()
}

// collect finds versions of the node with their chunks, its embeddings, and texts of requests.
// Blocks that do not decode are for fsck: what cannot be read is not of the node.
func (s *purgeScan) collect(b store.Block) error {
	if b.CID.Codec() != ipld.DagCBOR {
		return nil
	}
	switch ipld.RecordKind(b.Data) {
	case graph.KindNode:
		n, err := graph.DecodeNode(b.Data)
		if err == nil && n.ID == s.id {
			return s.version(b.CID, n)
		}
	case retrieve.KindReceipt:
		if rec, err := retrieve.DecodeReceipt(b.Data); err == nil {
			s.queries[rec.Query()] = struct{}{}
			for _, c := range rec.Rewrites() {
				s.queries[c] = struct{}{}
			}
		}
	case treeKind:
		s.embeddings(b, func(id graph.ID, c ipld.CID) {
			if id == s.id {
				s.erase[c] = commit.ErasedEmbedding
			}
		})
	}
	return nil
}

// treeKind is the kind of a chunk of a tree.
var treeKind = roleNodes.String()

// version notes one version of the node.
func (s *purgeScan) version(c ipld.CID, n *graph.Node) error {
	if guard := s.p.opt.Guard; guard != nil {
		if err := guard(Touch{Kind: TouchNode, ID: n.ID, Type: n.Type}); err != nil {
			return err
		}
	}
	s.versions++
	s.erase[c] = commit.ErasedNode
	text := ""
	if n.Content != nil {
		for _, chunk := range n.Content.Chunks {
			s.erase[chunk] = commit.ErasedContent
		}
		var err error
		text, err = contentText(s.p.ctx, s.p.repo.facts(), n.Content)
		if err != nil && !errors.Is(err, store.ErrCorrupt) && !errors.Is(err, store.ErrRedacted) {
			return err
		}
	}
	for _, t := range []string{n.Key, n.Summary, n.Context, text} {
		s.needle(t)
	}
	for _, e := range n.Props {
		if e.Value.Kind() == ipld.String {
			s.needle(e.Value.Text())
		}
	}
	return nil
}

// needle notes a text to look for. What is longer than a record holds can be nowhere else but in
// equal chunks.
func (s *purgeScan) needle(text string) {
	if utf8.RuneCountInString(text) >= minNeedle && len(text) <= ipld.MaxBlock {
		s.needles[text] = struct{}{}
	}
}

// embeddings calls fn with the node and the embedding of every entry of a chunk that looks like one
// of a tree of embeddings: a link under an id with something after it.
func (s *purgeScan) embeddings(b store.Block, fn func(graph.ID, ipld.CID)) {
	entries, err := prolly.Leaf(b.Data)
	if err != nil {
		return
	}
	for _, e := range entries {
		if len(e.Key) <= graph.IDLen {
			continue
		}
		if c, err := linkItem(e.Value); err == nil && c.Codec() == ipld.DagCBOR {
			fn(graph.ID(e.Key[:graph.IDLen]), c)
		}
	}
}

// compare finds what other nodes share with this one, and blocks that contain its text.
func (s *purgeScan) compare(b store.Block) error {
	what, name := "content", ""
	if b.CID.Codec() == ipld.DagCBOR {
		what = ipld.RecordKind(b.Data)
	} else if _, ok := s.queries[b.CID]; ok {
		what = string(commit.ErasedQuery)
	}
	switch what {
	case graph.KindNode:
		n, err := graph.DecodeNode(b.Data)
		if err != nil || n.ID == s.id {
			return nil
		}
		name = n.ID.String()
		if n.Content != nil {
			for _, chunk := range n.Content.Chunks {
				s.share(chunk)
			}
		}
	case graph.KindEdge:
		if e, err := graph.DecodeEdge(b.Data); err == nil {
			name = e.ID.String()
		}
	case treeKind:
		s.embeddings(b, func(id graph.ID, c ipld.CID) {
			if id != s.id {
				s.share(c)
			}
		})
		return nil // keys are ids; names of refs are looked at by themselves
	}
	if _, ours := s.erase[b.CID]; ours || !s.contains(b.Data) {
		return nil
	}
	if what == string(commit.ErasedQuery) && s.p.opt.RewriteReceipts {
		s.erase[b.CID] = commit.ErasedQuery
		return nil
	}
	s.hit(PurgeHit{CID: b.CID, What: what, Name: name})
	return nil
}

func (s *purgeScan) share(c ipld.CID) {
	if _, ours := s.erase[c]; ours {
		s.shared[c] = true
	}
}

// contains reports whether a block contains a text of the node: strings are in records as they are.
func (s *purgeScan) contains(data []byte) bool {
	for text := range s.needles {
		if len(text) <= len(data) && bytes.Contains(data, []byte(text)) {
			return true
		}
	}
	return false
}

func (s *purgeScan) hit(h PurgeHit) {
	if len(s.p.res.Hits) == maxPurgeHits {
		s.p.res.More++
		return
	}
	s.p.res.Hits = append(s.p.res.Hits, h)
}

// settle leaves alone what is shared, and what only looked like an embedding: whoever chooses ids
// could make other links look so. It lists the rest.
func (s *purgeScan) settle() error {
	for c, what := range s.erase {
		if what != commit.ErasedEmbedding {
			continue
		}
		data, err := s.p.repo.store.Facts().Get(s.p.ctx, c)
		switch {
		case errors.Is(err, store.ErrNotFound), errors.Is(err, store.ErrRedacted):
		case err != nil:
			return err
		}
		if err != nil || ipld.RecordKind(data) != graph.KindEmbedding {
			delete(s.erase, c)
		}
	}
	for c := range s.shared {
		if _, ours := s.erase[c]; !ours {
			continue
		}
		s.p.res.Shared = append(s.p.res.Shared, PurgeHit{CID: c, What: string(s.erase[c])})
		delete(s.erase, c)
	}
	for c, what := range s.erase {
		s.p.res.Erased = append(s.p.res.Erased, PurgeHit{CID: c, What: string(what)})
	}
	for _, list := range [][]PurgeHit{s.p.res.Shared, s.p.res.Erased} {
		slices.SortFunc(list, func(a, b PurgeHit) int { return a.CID.Compare(b.CID) })
	}
	return nil
}

// refs finds refs whose names contain text of the node.
func (s *purgeScan) refs() error {
	v, err := s.p.repo.current(s.p.ctx)
	if err != nil {
		return err
	}
	for ref, err := range v.list(s.p.ctx, "") {
		if err != nil {
			return fmt.Errorf("list refs: %w", err)
		}
		for text := range s.needles {
			if strings.Contains(string(ref.Name), text) {
				s.hit(PurgeHit{What: "ref", Name: string(ref.Name)})
				break
			}
		}
	}
	return nil
}
