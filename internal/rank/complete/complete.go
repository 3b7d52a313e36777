// Package complete prepares requests before they are answered, and merges answers of several repositories: it reads
// lines of JSON, has models complete requests, and excludes the nodes that a session has shown.
package complete

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/fixed"
	"github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// What models do for a request, as Models.Failed is told.
const (
	FailedEmbed   = "embed"
	FailedRewrite = "rewrite"
	FailedRerank  = "rerank"
)

// Embedder makes vectors of queries.
type Embedder interface {
	// Model names it: 1 to graph.MaxModel bytes.
	Model() string
	// Embed returns the vectors of a query, unless that is empty, and of texts that may answer it, in their
	// order: nil for one that the model finds nothing in.
	Embed(ctx context.Context, query string, answers []string) ([][]int8, error)
}

// Knower is an Embedder that reports how well it knows the words of texts.
type Knower interface {
	// Whole returns how many of 1,000 pieces of some texts are whole words, and whether there are any.
	Whole(texts ...string) (permille int, ok bool)
}

// Rewriter puts a query into other words, by a way of Request.Rewrite.
type Rewriter interface {
	Rewrite(ctx context.Context, way, query string, n int) ([]string, error)
}

// Models complete requests before they are answered. A model that fails leaves the request to what else it has.
type Models struct {
	Embedder Embedder // nil for none
	Rewriter Rewriter // nil for none
	Rewrites int      // texts that the Rewriter makes of a query
	// Failed is told that a model failed, and at what; the answer does not say so.
	Failed func(use string, err error)
}

// Complete adds to a request the rewrites that it asks for and does not have, and the vector of its text unless it has
// one by that model: with hypothetical answers the mean of that and theirs. With the vector comes the share of whole
// words, if the model is a Knower. It refuses a request that names a reranker which it does not have.
func (m *Models) Complete(ctx context.Context, r retrieve.Request) (retrieve.Request, error) {
	if r.Rerank != "" && r.Reranker == nil && len(r.Reranked) == 0 {
		return r, source.Reject("rerank", "%q is not asked here: name it with --set rerank too, or give "+
			"\"reranked\"", r.Rerank)
	}
	if strings.TrimSpace(r.Text) == "" {
		return r, nil
	}
	if m.Rewriter != nil && r.Rewrite != "" && len(r.Rewrites) == 0 {
		texts, err := m.Rewriter.Rewrite(ctx, r.Rewrite, r.Text, m.Rewrites)
		switch {
		case ctx.Err() != nil:
			return r, err
		case err != nil:
			m.Failed(FailedRewrite, err)
		default:
			r.Rewrites = texts
		}
	}
	if m.Embedder == nil || HasVector(r, m.Embedder.Model()) || len(r.Vectors) == retrieve.MaxVectors {
		return r, nil
	}
	v, whole, err := m.embed(ctx, &r)
	switch {
	case ctx.Err() != nil:
		return r, err
	case err != nil:
		m.Failed(FailedEmbed, err)
	default:
		r.Vectors = append(slices.Clone(r.Vectors), v)
		r.Whole = slices.Concat(r.Whole, whole)
	}
	return r, nil
}

// embed returns the vector of a request's texts, and how well its model knows their words if it is a Knower.
func (m *Models) embed(
	ctx context.Context, r *retrieve.Request,
) (v retrieve.QueryVector, whole []retrieve.WholeWords, err error) {
	var answers []string
	if r.Rewrite == retrieve.RewriteHyde {
		answers = r.Rewrites
	}
	model := m.Embedder.Model()
	vectors, err := m.Embedder.Embed(ctx, r.Text, answers)
	vectors = slices.DeleteFunc(vectors, func(v []int8) bool { return v == nil })
	if err == nil && len(vectors) == 0 {
		return v, nil, fmt.Errorf("the model %s finds nothing to embed in the query", model)
	}
	if err == nil {
		v, err = MeanVector(model, vectors...)
	}
	if err != nil {
		return v, nil, fmt.Errorf("%w: the answer is without embeddings", err)
	}
	if k, tells := m.Embedder.(Knower); tells {
		if share, ok := k.Whole(append([]string{r.Text}, answers...)...); ok {
			whole = []retrieve.WholeWords{{Model: model, Share: share}}
		}
	}
	return v, whole, nil
}

// HasVector reports whether a request has the query as a model sees it.
func HasVector(r retrieve.Request, model string) bool {
	return slices.ContainsFunc(r.Vectors, func(v retrieve.QueryVector) bool { return v.Model == model })
}

// meanBits are the bits of the fraction in which directions are added: clause 22.1.
const meanBits = 32

// MeanVector returns the vector that lies amidst others of one model, whatever the lengths of these:
// what a text and a hypothetical answer to it have in common. Of one vector it is that one, and where
// they cancel each other the first. It takes 1 to MaxRewrites+1 vectors of the same dimensions, of a text first and
// then of its rewrites, and returns a *RequestError for others.
func MeanVector(model string, vectors ...[]int8) (retrieve.QueryVector, error) {
	if n := len(vectors); n == 0 || n > retrieve.MaxRewrites+1 {
		return retrieve.QueryVector{}, source.Reject("vectors", "%s: the mean of %d vectors, want 1 to %d",
			source.Quoted(model), n, retrieve.MaxRewrites+1)
	}
	sum := make([]float64, len(vectors[0])) // of integers below 2^37
	for _, values := range vectors {
		if err := (retrieve.Request{Vectors: []retrieve.QueryVector{{Model: model, Values: values}}}).Validate(); err != nil {
			return retrieve.QueryVector{}, err
		}
		if len(values) != len(sum) {
			return retrieve.QueryVector{}, source.Reject("vectors", "%s: the mean of vectors of %d and %d dimensions",
				source.Quoted(model), len(sum), len(values))
		}
		addDirection(sum, values)
	}
	if len(vectors) > 1 && slices.ContainsFunc(sum, func(x float64) bool { return x != 0 }) {
		return retrieve.NewQueryVector(model, sum)
	}
	return retrieve.QueryVector{Model: model, Values: vectors[0]}, nil
}

func addDirection(sum []float64, values []int8) {
	square := uint64(0) // at most 127² · 2^16
	for _, x := range values {
		square += uint64(int(x) * int(x))
	}
	length := fixed.Isqrt(square << meanBits)
	for i, x := range values {
		sum[i] += float64(int64(x) << (meanBits + meanBits/2) / int64(length))
	}
}

// maxSeenRecords is the largest number of records of a session that are read to learn what it has shown.
const maxSeenRecords = 1000

// Shown is one record of a session and the nodes that its receipt shows, none without one.
type Shown struct {
	Seq int64
	IDs []graph.ID
}

// ExcludeSeen returns the request with Unseen resolved: it excludes what a session has shown, whose
// records come newest first, each preceding the next. As many of the newest records count as leave
// at most MaxExclude nodes excluded; if that is not all, UnseenFrom is the number of the oldest
// one that counts. A request without Unseen comes back as it is. Clause 13.4.
func ExcludeSeen(r retrieve.Request, records iter.Seq2[Shown, error]) (retrieve.Request, error) {
	if !r.Unseen {
		return r, nil
	}
	r.Unseen = false
	out := sortedSeen(r.Exclude)
	read := 0
	for rec, err := range records {
		if err != nil {
			return retrieve.Request{}, err
		}
		all := sortedSeen(slices.Concat(out, rec.IDs))
		if read == maxSeenRecords || len(all) > retrieve.MaxExclude {
			r.UnseenFrom = rec.Seq + 1
			break
		}
		out = all
		read++
	}
	r.Exclude = out
	return r, nil
}

func sortedSeen(ids []graph.ID) []graph.ID {
	if len(ids) == 0 {
		return nil
	}
	return slices.Compact(slices.SortedFunc(slices.Values(ids), graph.ID.Compare))
}

// Query is one line of a batch of requests.
type Query struct {
	ID      string // the member qid, "" for none
	Request retrieve.Request
	Echo    []ipld.Entry // members to be repeated with the answer, in canonical order
}

// ParseRequestJSON reads a JSON object as a request: qid, text, and flags of the retrieve command
// by their names. A member replaces what base has; where it is a list it replaces the whole list.
// The members cat, meta and those whose name begins with gold are echoed. Any other member, and a
// value of the wrong kind or beyond a bound (see ValidateGiven), gives a *RequestError that names it.
func ParseRequestJSON(v ipld.Value, base retrieve.Request) (Query, error) {
	if v.Kind() != ipld.Map {
		return Query{}, source.Reject("request", "%s, want an object", v.Kind())
	}
	q := Query{Request: base}
	q.Request.Explicit = slices.Clone(base.Explicit)
	for _, e := range v.Entries() {
		if e.Key == "cat" || e.Key == "meta" || strings.HasPrefix(e.Key, "gold") {
			q.Echo = append(q.Echo, e)
			continue
		}
		if err := q.setMember(e.Key, e.Value); err != nil {
			return Query{}, err
		}
	}
	var re *retrieve.RequestError
	if err := q.Request.ValidateGiven(); errors.As(err, &re) {
		return Query{}, source.Reject(retrieve.MemberName(re.Param), "%s", re.Reason)
	}
	return q, nil
}

func (q *Query) setMember(name string, v ipld.Value) error {
	if name != "qid" {
		return q.Request.SetMember(name, v)
	}
	if v.Kind() != ipld.String {
		return source.Reject(name, "%s, want a string", v.Kind())
	}
	q.ID = v.Text()
	return nil
}
