// Package source has what ranking reads: a graph and an index behind small interfaces, so that it can be tested and
// replayed without a store, the filter of a request over both, and the links that texts make.
//
// An Index that has embeddings is one of Vectors too, and of SparseVectors for sparse ones; a Graph that knows its
// communities is one of Grouped, one that knows its digests of Digested.
package source

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/view/community"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// ErrNoNode is wrapped by the error of Graph.Node if the graph has no such node.
var ErrNoNode = errors.New("no such node")

// Times are the times of a node that filters ask for.
type Times struct {
	Created   graph.Time
	Updated   graph.OptTime
	ValidFrom graph.OptTime // inclusive
	ValidTo   graph.OptTime // exclusive
}

// Document holds the fields of a node that filters use. NodeDocument makes one from a *graph.Node; an index may answer
// from its columns, with exactly the same values.
type Document interface {
	ID() graph.ID
	Type() string
	Times() Times
	// Prop returns the value of a property; ok is false if the node has none of that name.
	Prop(name string) (v ipld.Value, ok bool, err error)
}

// Accept decides whether a document takes part. An Index calls it on one goroutine at a time, in any order, once or
// more for a document; if it returns an error, the search ends with that error.
type Accept func(Document) (bool, error)

// Hit is one document that a lane found.
type Hit struct {
	ID    graph.ID
	Score int64 // above 0 in the text lane, 0 or more in the recency lane, below 2^53
}

// Compare is the order of clause 9.4: score descending, id ascending.
func (h Hit) Compare(o Hit) int { return cmp.Or(cmp.Compare(o.Score, h.Score), h.ID.Compare(o.ID)) }

// TextResult is the answer of the text lane.
type TextResult struct {
	Hits  []Hit
	Terms int // distinct terms of the query
	Known int // how many of them some node of the collection has
}

// TextQuery is a text whose terms are looked up.
type TextQuery struct {
	Text     string
	Readings []retrieve.Reading   // known terms read in place of some terms, of this text or another: clause 9.10
	Added    []retrieve.AddedTerm // further terms to look up in Text that the text does not have: clause 9.12
}

// Index finds documents: clause 9 of docs/internals/ranking.md.
type Index interface {
	// Readings returns known terms to read in place of terms of a text that no node has, in the order of their first
	// occurrence.
	Readings(ctx context.Context, text string) ([]retrieve.Reading, error)
	// Text returns the best k accepted documents in the order (score descending, id ascending).
	Text(ctx context.Context, query TextQuery, accept Accept, k int) (TextResult, error)
	// Recency returns the newest k accepted documents in the same order.
	Recency(ctx context.Context, accept Accept, k int) ([]Hit, error)
	// ByTime returns the best k accepted documents by a score of their times, without those that it
	// gives 0, in the same order.
	ByTime(ctx context.Context, score func(Times) int64, accept Accept, k int) ([]Hit, error)
	// Times returns the times of nodes in the order of ids; ok is false for one that is no document.
	Times(ctx context.Context, ids []graph.ID) (times []Times, ok []bool, err error)
	// Types returns the types of nodes in the order of ids, "" for one that is no document.
	Types(ctx context.Context, ids []graph.ID) ([]string, error)
	// TermScores splits the scores of nodes in the text lane: a row for each node, nil for one that is no document,
	// with a column for each distinct term in the order of their first occurrence; only selects some of these columns,
	// nil for all.
	TermScores(ctx context.Context, query TextQuery, ids []graph.ID, only []int) ([][]int64, error)
	// TermWeights returns the distinct terms of the query in the order of their first occurrence, each as it is looked
	// up, with its frequency times its idf.
	TermWeights(ctx context.Context, query TextQuery) ([]TermWeight, error)
	// Counts returns how many nodes have each of some terms, and how many nodes there are.
	Counts(ctx context.Context, terms []string) (having []int64, nodes int64, err error)
	// IDFs returns the idf of terms (clause 9.2), 0 for one that no node has.
	IDFs(ctx context.Context, terms []string) ([]int64, error)
	// Mentioned returns the nodes whose titles occur in a text, titles of one term separately: clause 7.3.
	Mentioned(ctx context.Context, text string) (longer, single []graph.ID, err error)
	// Mentioning returns nodes among which are all whose contents have the title that a summary is. It returns none if
	// the summary is no title, names too many nodes, or has no term that most nodes at most have.
	Mentioning(ctx context.Context, summary string, most int) ([]graph.ID, error)
	// TitlesNamed returns, for each node whose title occurs in a query, the indexes of the title's terms among the
	// distinct terms of the query, nil for any other node.
	TitlesNamed(ctx context.Context, query TextQuery, ids []graph.ID) ([][]int, error)
	// HasTitle reports whether a text has the title that a summary is.
	HasTitle(text, summary string) bool
}

// Link is one entry of a node's adjacency bucket.
type Link struct {
	Type   string
	Other  graph.ID // the node at the other end
	Edge   graph.ID
	Weight int64 // 1 to 65,536 in units of 2^-16
	// Unmarked says that the edge has no mark and that its id is left out: see BucketQuery.Bare.
	Unmarked bool
}

// BucketQuery asks for a part of one of a node's two buckets.
type BucketQuery struct {
	Node      graph.ID
	Direction retrieve.Direction // Out or In
	Types     []string           // edge types, ascending; empty for all
	After     *Link              // resume after this entry; nil for the beginning
	Limit     int                // at most so many entries
	Count     bool               // whether the total is wanted
	Above     int                // with Count: a total of at most so many may be returned as 0
	Bare      bool               // whether ids of edges without a mark may be left out; never with After
	Room      []Link             // storage for the entries, overwritten
}

// Graph reads one immutable graph. Implementations verify the data that they read; every error ends the retrieval and
// is returned wrapped.
type Graph interface {
	// Node returns a node and the CID of its record, or an error that wraps ErrNoNode.
	Node(ctx context.Context, id graph.ID) (*graph.Node, ipld.CID, error)
	// Mark returns the mark on a node or edge, nil if there is none.
	Mark(ctx context.Context, on graph.Target, id graph.ID) (*graph.Mark, error)
	// Bucket returns entries in key order: by type, other end and edge. total is the number of
	// entries of the types asked for, wherever the part begins, and only set if q.Count.
	Bucket(ctx context.Context, q BucketQuery) (links []Link, total int, err error)
	// IDPrefix returns the first node whose id begins with digits, 4 to 32 lower-case hex digits
	// without hyphens, the zero id for none, and whether it is the only one.
	IDPrefix(ctx context.Context, digits string) (id graph.ID, unique bool, err error)
	// Content returns the whole text of a node's content.
	Content(ctx context.Context, c *graph.Content) (string, error)
	// ContentStart returns at least the first n bytes of a node's content, the whole of a shorter
	// one. A character may be cut at its end.
	ContentStart(ctx context.Context, c *graph.Content, n int) (string, error)
}

// Erased is the ability of a Graph some of whose nodes were erased. Their records cannot be read,
// they pass no filter, and answers warn of them.
type Erased interface {
	// ErasedNodes returns how many there are.
	ErasedNodes() int
	// IsErased reports whether a node was erased.
	IsErased(ctx context.Context, id graph.ID) (bool, error)
}

// Unmarked is implemented by a Graph that knows whether it has any marks, which saves looking them up.
type Unmarked interface {
	Unmarked() bool
}

// NodeDocument answers the questions of filters from a node.
func NodeDocument(n *graph.Node) Document { return nodeDocument{n} }

type nodeDocument struct{ n *graph.Node }

func (d nodeDocument) ID() graph.ID { return d.n.ID }
func (d nodeDocument) Type() string { return d.n.Type }

func (d nodeDocument) Times() Times {
	return Times{
		Created:   d.n.Created,
		Updated:   d.n.Updated,
		ValidFrom: d.n.ValidFrom,
		ValidTo:   d.n.ValidTo,
	}
}

func (d nodeDocument) Prop(name string) (ipld.Value, bool, error) {
	v, ok := ipld.FindEntry(d.n.Props, name)
	return v, ok, nil
}

// Shortlist says which vectors a dense lane compares exactly where there are too many to compare
// all, and how: clause 9.5.
type Shortlist struct {
	Most int // how many at most
	Near int // the rank of the vector than which others may be farther by no more than the margin

	Peers int   // of how many of the best what they have in common counts less; 0 for cosines as they are
	Ease  int64 // how much less: the more, the less is taken off
}

// TermWeight is a distinct term of a query and what it weighs there.
type TermWeight struct {
	Term   string
	Weight int64 // how often it is there times its idf of clause 9.2; 0 for a term that no node has
}

// Grouped is the ability of a Graph whose communities are known.
type Grouped interface {
	// Community returns the community that a node is in, nil if it is in none.
	Community(ctx context.Context, id graph.ID) (*Community, error)
}

// Community is a set of nodes that edges hold together: clause 20.1. It must not be changed.
type Community struct {
	Number  int // from 0, of all communities of the graph
	Members []community.Member
}

// SparseVectors is the ability of an Index to find documents by their sparse embeddings. A request
// with sparse vectors needs it.
type SparseVectors interface {
	Vectors
	// Sparse returns the best k accepted documents by the product of their sparse embedding by the
	// query's model with the query (clause 9.7), in the order (score descending, id ascending).
	Sparse(ctx context.Context, q retrieve.SparseVector, accept Accept, k int) (SparseResult, error)
}

// SparseResult is the answer of a sparse lane.
type SparseResult struct {
	Hits   []Hit
	None   bool     // whether there is no sparse embedding of the model
	Models []string // where None: the first MaxModelsNamed models there are, ascending
}

// MaxModelsNamed is the largest number of models that the warning NoVectors names.
const MaxModelsNamed = 16

// Vectors is the ability of an Index to find documents by their embeddings. A request with vectors needs it.
type Vectors interface {
	// Dense returns the best k accepted documents by the cosine of their dense embedding by the
	// query's model (clause 9.5), in the order (score descending, id ascending). If there are too
	// many to compare all, those on the shortlist are compared exactly.
	Dense(
		ctx context.Context, q retrieve.QueryVector, accept Accept, k int, list Shortlist,
	) (DenseResult, error)
	// Embedding returns a node's embedding by a model, which a lane has found.
	Embedding(ctx context.Context, id graph.ID, model string) (*graph.Embedding, error)
}

// DenseResult is the answer of a dense lane.
type DenseResult struct {
	Hits   []Hit    // by the cosine
	Own    []Hit    // the same hits by their own part of the cosine, if requested
	Other  int      // embeddings of the model that have other dimensions than the query
	None   bool     // whether there is no dense embedding of the model
	Models []string // where None: the first MaxModelsNamed models there are, ascending
}

// Digested is the ability of a Graph whose digests are known.
type Digested interface {
	// Digests returns the digests that contain a node, the nearest first and the root's last; none if no digest does.
	Digests(ctx context.Context, id graph.ID) ([]*Digest, error)
	// Sentences returns how many sentences a fact has that digests may quote.
	Sentences(ctx context.Context, id graph.ID) (int, error)
	// RootDigest returns the digest of the whole, nil for a graph without facts.
	RootDigest(ctx context.Context) (*Digest, error)
}

// Digest is a digest of a scope, a cluster or the whole memory.
type Digest struct {
	Name      string // clause 29.4
	Shown     string // replaces Name in output: with the key of its scope, "" for none
	Root      bool
	Facts     int // below
	Source    [sha256.Size]byte
	Sentences []DigestSentence
	Written   string // by Model, replaces the sentences, "" for none
	Model     string
}

// DigestSentence is a sentence of a digest.
type DigestSentence struct {
	Fact graph.ID // that it is from
	Text string   // one line
}

// NameTypes are the types of nodes that package memory writes for names and tags alone, each with
// what their keys begin with.
var NameTypes = map[string]string{"Entity": "entity/", "Tag": "tag/"}

// saidTypes are the types of nodes that package ingest writes for conversations. Their texts rank behind memories that
// were stored on purpose.
var saidTypes = map[string]bool{"Turn": true, "Session": true}

// IsSaid reports whether nodes of a type record a conversation, and were not stored on purpose.
func IsSaid(typ string) bool { return saidTypes[typ] }

// IsName reports whether a node is only a name that links memories: clause 26.7.
func IsName(n *graph.Node) bool {
	prefix, ok := NameTypes[n.Type]
	return ok && (strings.HasPrefix(n.Key, prefix) || n.Key != "" && n.Key == n.Summary) &&
		n.Context == "" && n.Content == nil && len(n.Props)+len(n.Cues) == 0
}

// Reject returns a *RequestError of what the engine cannot answer, though the request keeps every bound.
func Reject(param, format string, args ...any) error {
	return &retrieve.RequestError{Param: param, Reason: fmt.Sprintf(format, args...)}
}

// Quoted returns s in quotes for an error message, cut to a line's length.
func Quoted(s string) string {
	const most = 80
	if len(s) > most {
		return fmt.Sprintf("%q…", s[:most])
	}
	return fmt.Sprintf("%q", s)
}

// TextList returns strings as one value, for the parameters of warnings.
func TextList(list []string) ipld.Value {
	items := make([]ipld.Value, len(list))
	for i, s := range list {
		items[i] = ipld.StringValue(s)
	}
	return ipld.ListValue(items...)
}
