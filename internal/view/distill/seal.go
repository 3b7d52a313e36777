package distill

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/text"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/ipld"
)

// sealer turns edited nodes into digests and writes them.
type sealer struct {
	ctx    context.Context
	blocks Blocks
	facts  Reader
	recipe [sha256.Size]byte
	refuse func(string) bool
	work   *Work

	scope graph.ID
	name  string

	sealed []hashOf
}

// seal writes the digest of a node, and of those below that are not written.
func (s *sealer) seal(n *node) (*Digest, ipld.CID, error) {
	if n.old != nil {
		s.sealed = append(s.sealed, hashOfDigest(n.old))
		return n.old, n.cid, nil
	}
	d := &Digest{Scope: s.scope, Label: n.label, At: n.at, Entries: n.entries, Members: n.members}
	if n.label == "" {
		d.Name = s.name
	}
	var said []Sentence
	var sources []Source
	var votes [64]int
	for _, k := range n.kids {
		ref, below, err := s.kid(k)
		if err != nil {
			return nil, ipld.CID{}, err
		}
		d.Kids = append(d.Kids, ref)
		d.add(ref.Totals)
		d.Refused += below.Refused
		said = append(said, below.Text...)
		sources = append(sources, ref.Source)
		vote(&votes, ref.Sem, ref.Members)
	}
	for _, e := range n.entries {
		list, refused, err := s.sentences(e)
		if err != nil {
			return nil, ipld.CID{}, err
		}
		d.add(e.Totals)
		d.Refused += refused
		said = append(said, list...)
		sources = append(sources, e.Source)
		vote(&votes, e.Key.Sem(), 1)
	}
	d.Sem, d.Source = majority(&votes), digestSource(s.recipe, sources)
	tokens, introduced := ClusterTokens, true
	if d.Kind() == Root { // a memory has no introduction
		tokens, introduced = RootTokens, false
	}
	d.Text = Summarize(said, tokens, introduced)
	if s.refuse(JoinText(d.Text)) { // by what no sentence is alone
		d.Text, d.Refused = nil, d.Refused+1
	}
	block := store.NewBlock(ipld.DagCBOR, d.Encode())
	s.work.Digests++
	s.sealed = append(s.sealed, hashOfDigest(d))
	return d, block.CID, s.blocks.Put(s.ctx, block)
}

func (s *sealer) kid(k kid) (Kid, *Digest, error) {
	if k.node == nil {
		d, err := Read(s.ctx, s.blocks, k.ref.Link)
		s.work.Read++
		return k.ref, d, err
	}
	d, c, err := s.seal(k.node)
	if err != nil {
		return Kid{}, nil, err
	}
	return Kid{
		Label: d.Label, Link: c, Totals: d.Totals, Members: d.Members, Source: d.Source, Sem: d.Sem,
	}, d, nil
}

// sentences returns the sentences of an entry, and how many of them may hold a credential.
func (s *sealer) sentences(e Entry) (list []Sentence, refused int, err error) {
	if e.Link.Defined() {
		d, err := Read(s.ctx, s.blocks, e.Link)
		s.work.Read++
		if err != nil {
			return nil, 0, err
		}
		return d.Text, d.Refused, nil
	}
	f, err := s.facts.Fact(s.ctx, e.Key.ID())
	if err != nil {
		return nil, 0, err
	}
	s.work.Facts++
	if f == nil || f.Hidden {
		return nil, 0, fmt.Errorf("%w: digest of %s, which is no fact", store.ErrCorrupt, e.Key.ID())
	}
	list = sentencesOf(f.ID, f.Created, f.Text)
	if !s.refuse(f.Text) {
		return list, 0, nil
	}
	all := len(list)
	list = slices.DeleteFunc(list, func(one Sentence) bool { return s.refuse(one.Text) })
	if all == len(list) { // it spans several sentences
		list = nil
	}
	return list, all - len(list), nil
}

// JoinText returns the sentences of a digest as one text.
func JoinText(list []Sentence) string {
	parts := make([]string, len(list))
	for i, s := range list {
		parts[i] = s.Text
	}
	return strings.Join(parts, " ")
}

func vote(votes *[64]int, sem Sem, n int) {
	for b := range votes {
		if sem>>b&1 == 1 {
			votes[b] += n
		} else {
			votes[b] -= n
		}
	}
}

func majority(votes *[64]int) Sem {
	var out Sem
	for b, n := range votes {
		if n > 0 {
			out |= 1 << b
		}
	}
	return out
}

// digestSource is the source of a digest, from the sources below it.
func digestSource(recipe [sha256.Size]byte, below []Source) Source {
	slices.SortFunc(below, func(a, b Source) int { return bytes.Compare(a[:], b[:]) })
	h := sha256.New()
	h.Write([]byte("digest\x00"))
	h.Write(recipe[:])
	for _, s := range below {
		h.Write(s[:])
	}
	return Source(h.Sum(nil))
}

// Tokens estimates the tokens of a text.
func Tokens(s string) int   { return text.EstimateTokens(s) }
func tokensOf(s string) int { return max(1, text.EstimateTokens(s)) }
