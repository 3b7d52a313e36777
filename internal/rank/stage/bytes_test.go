package stage

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// likeText are bytes that read as characters of two, three and four bytes, and as halves of them.
var likeText = []string{"é", "界", "😁", "\xe7\x95", "\xc3", "ab"}

// randomBytes returns n bytes; most look like text.
func randomBytes(r *rand.Rand, n int) []byte {
	var b []byte
	for len(b) < n {
		if r.IntN(4) == 0 {
			b = append(b, byte(r.Uint32()))
			continue
		}
		b = append(b, likeText[r.IntN(len(likeText))]...)
	}
	return b[:n]
}

// randomVector returns a query vector of such bytes.
func randomVector(r *rand.Rand, model string) retrieve.QueryVector {
	v := retrieve.QueryVector{Model: model}
	for _, x := range randomBytes(r, 1+r.IntN(300)) {
		v.Values = append(v.Values, int8(max(int8(x), -127)))
	}
	v.Values[0] |= 1 // not all zeros, nor -128
	return v
}

func randomID(r *rand.Rand) graph.ID { return graph.ID(randomBytes(r, graph.IDLen)) }

// bytesRequest has every parameter that holds bytes.
func bytesRequest(r *rand.Rand) retrieve.Request {
	req := retrieve.Request{
		Text: "web", Vectors: []retrieve.QueryVector{randomVector(r, "a"), randomVector(r, "b")},
		RerankOptions: retrieve.RerankOptions{Rerank: "m"},
		Where: []retrieve.Predicate{{Name: "n", Op: retrieve.OneOf, Value: ipld.ListValue(
			ipld.BytesValue(randomBytes(r, r.IntN(40))), ipld.BytesValue(nil))}},
	}
	for range 1 + r.IntN(5) {
		req.Exclude = append(req.Exclude, randomID(r))
		req.Reranked = append(req.Reranked, retrieve.RerankScore{ID: randomID(r), Score: 1})
	}
	return req
}

// TestReceiptsKeepAnyBytes records requests whose bytes look like text, or like anything: the receipt
// is written as it is read, and has the request that it was given.
func TestReceiptsKeepAnyBytes(t *testing.T) {
	r := seeded(t)
	rounds := effort.Pick(150, 300, 30_000)
	for range rounds {
		req := bytesRequest(r)
		receipt, text := library().ask(t, req).Receipt()
		for i := range receipt.Items {
			copy(receipt.Items[i].Rendered[:], randomBytes(r, 32))
		}
		receipt.Extra = []ipld.Entry{{Key: "zz", Value: ipld.BytesValue(randomBytes(r, 20))}}
		block := receipt.Encode()
		got, err := retrieve.DecodeReceipt(block)
		if err != nil {
			t.Fatalf("%v\n%s", err, ipld.AppendJSON(nil, receipt.Params))
		}
		must.Require(t, bytes.Equal(got.Encode(), block), "written otherwise than it was read: %x", block)
		back := must.Get(got.Request(string(text)))(t)
		want := req.Resolve()
		for i, v := range want.Vectors {
			must.Same(t, back.Vectors[i].Values, v.Values, "vector")
		}
		must.Same(t, back.Exclude, want.Exclude, "ids")
		must.Same(t, back.Reranked, want.Reranked, "ids")
	}
}
