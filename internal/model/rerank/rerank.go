// Package rerank asks a model how well texts answer a query. The model is a cross-encoder behind HTTP: it reads query
// and text together, as no index can.
//
// Open finds a provider by its spec:
//
//	cohere:MODEL   POST /v2/rerank of Cohere, or of a compatible server
//	jina:MODEL     POST /v1/rerank of Jina, or of a compatible server
//	voyage:MODEL   POST /v1/rerank of Voyage
//
// A request has the model, the query, a list of documents, and how many of them to judge ("top_n", Voyage's "top_k"):
// all. The answer has one "relevance_score" for the "index" of each document, in any order, in a list "results"
// (Voyage's "data"). An answer is refused as a whole (model.ErrAnswer) if it leaves a document out, has one twice or an
// unknown one, or has a score that is no finite number from -32,768 to 32,768: half an answer would be another ranking.
//
// Scores are returned in units of 2^-16, rounded to the nearest, ties to even. A server may give other scores later, so
// callers that need to repeat an answer must keep the scores. Requests are retried as in package embed, and fail with a
// *model.Error.
package rerank

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/mnem-project/mnem/internal/model"
)

// MaxScore is the greatest magnitude of a score, in units of 2^-16.
const MaxScore = 1 << 31

// ErrProvider is wrapped when Open is asked for a provider that does not exist.
var ErrProvider = errors.New("unknown reranker")

// defaultAnswer is far more bytes than 200 scores take, also if documents come back with them.
const defaultAnswer = 16 << 20

// protocol is how one kind of provider is asked.
type protocol struct {
	model.Protocol
	count   string // member that says how many documents to judge
	results string // member of the answer that holds them
}

// protocols lists the providers.
var protocols = []protocol{
	newProtocol("cohere", "Cohere", "https://api.cohere.com", "/v2/rerank", "top_n", "results"),
	newProtocol("jina", "Jina", "https://api.jina.ai", "/v1/rerank", "top_n", "results"),
	newProtocol("voyage", "Voyage", "https://api.voyageai.com", "/v1/rerank", "top_k", "data"),
}

func newProtocol(name, company, url, path, count, results string) protocol {
	return protocol{
		Protocol: model.Protocol{
			Provider: model.Provider{
				Name: name, URL: url, Secret: strings.ToUpper(name) + "_API_KEY",
				Shown: "a reranker like " + company + "'s",
			},
			Action: "rerank", Path: path, MaxAnswer: defaultAnswer,
		},
		count: count, results: results,
	}
}

// Providers returns the providers there are, in a fixed order.
func Providers() []model.Provider { return model.Providers(protocols) }

// Reranker is a model behind one endpoint. It is safe for concurrent use.
type Reranker struct {
	proto  protocol
	client *model.Client
}

// Open returns the reranker that a spec names, PROVIDER:MODEL. It sends no request before the first Rerank. The error
// wraps ErrProvider if the provider does not exist.
func Open(spec string, opt model.ProviderOptions) (*Reranker, error) {
	proto, client, err := model.OpenSpec(protocols, spec, opt, ErrProvider)
	if err != nil {
		return nil, err
	}
	return &Reranker{proto, client}, nil
}

// Model returns the spec: provider and model.
func (r *Reranker) Model() string { return r.proto.Name + ":" + r.client.Model() }

// Rerank returns how well each of the texts answers the query, in their order and in units of 2^-16, of a magnitude of
// at most MaxScore. It sends no request if there are no texts. The error is a *model.Error, or wraps the cause of ctx;
// then there are no scores at all.
func (r *Reranker) Rerank(ctx context.Context, query string, texts []string) ([]int64, error) {
	if len(texts) == 0 {
		return nil, nil
	}
	body, err := model.Marshal(map[string]any{
		"model": r.client.Model(), "query": query, "documents": texts, r.proto.count: len(texts),
	})
	if err != nil {
		return nil, r.client.Fail(err)
	}
	var scores []int64
	err = r.client.Ask(ctx, body, func(answer []byte) error {
		scores, err = decode(answer, r.proto.results, len(texts))
		return err
	})
	if err != nil {
		return nil, err
	}
	return scores, nil
}

// result is one judged document. A score that is null or missing stays nil.
type result struct {
	Index *int     `json:"index"`
	Score *float64 `json:"relevance_score"`
}

// decode reads the scores of n documents.
func decode(answer []byte, member string, n int) ([]int64, error) {
	var results []result
	if err := model.Members(answer, map[string]any{member: &results}, nil); err != nil {
		return nil, err
	}
	if len(results) != n {
		return nil, fmt.Errorf("%d scores for %d documents", len(results), n)
	}
	scores, seen := make([]int64, n), make([]bool, n)
	for i, r := range results {
		switch {
		case r.Index == nil || *r.Index < 0 || *r.Index >= n:
			return nil, fmt.Errorf("item %d has no index from 0 to %d", i, n-1)
		case seen[*r.Index]:
			return nil, fmt.Errorf("index %d is there twice", *r.Index)
		case r.Score == nil:
			return nil, fmt.Errorf("item %d has no score", i)
		}
		units, ok := Units(*r.Score)
		if !ok {
			return nil, fmt.Errorf("item %d: the score %g is not from -32768 to 32768", i, *r.Score)
		}
		seen[*r.Index], scores[*r.Index] = true, units
	}
	return scores, nil
}

// Units returns a score in units of 2^-16, rounded to the nearest, of two equally near ones to the
// even. ok is false for NaN and beyond MaxScore.
func Units(x float64) (units int64, ok bool) {
	scaled := math.RoundToEven(float64(x * (1 << 16)))
	if !(scaled >= -MaxScore && scaled <= MaxScore) { // false for NaN too
		return 0, false
	}
	return int64(scaled), true
}
