package stage

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// fullLibrary is the library with what the predicates of fullRequest ask for.
func fullLibrary() *memory {
	m := library()
	for _, n := range m.nodes {
		n.Props = []ipld.Entry{{Key: "kind", Value: ipld.FloatValue(1)}}
	}
	return m
}

// testReceipts returns receipts of various requests, with their texts.
func testReceipts(t testing.TB) (receipts []*retrieve.Receipt, texts []string) {
	m := fullLibrary()
	for _, req := range []retrieve.Request{
		{}, {Text: "web"}, fullRequest(), {Text: "?"}, {Text: "web", Budget: new(5)},
	} {
		r, text := m.ask(t, req).Receipt()
		receipts, texts = append(receipts, r), append(texts, string(text))
	}
	return receipts, texts
}

func TestReceiptRequestRefuses(t *testing.T) {
	r, text := library().ask(t, retrieve.Request{Text: "web"}).Receipt()
	var mismatch *ipld.MismatchError
	_, err := r.Request("other")
	must.True(t, errors.As(err, &mismatch), "another text: %v", err)
	for _, change := range []func(e *retrieve.Engine){
		func(e *retrieve.Engine) { e.Ranking++ },
		func(e *retrieve.Engine) { e.Analyser++ },
		func(e *retrieve.Engine) { e.Language = "de" },
	} {
		later := *r
		change(&later.Engine)
		later.Params = ipld.MapValue(append(slices.Clone(r.Params.Entries()),
			ipld.Entry{Key: "sorcery", Value: ipld.StringValue("rrf")})...)
		got := must.Get(retrieve.DecodeReceipt(later.Encode()))(t, "receipt of another engine")
		must.Fail(t, must.Err(got.Request(string(text))), retrieve.ErrRankingVersion, later.Engine)
		must.True(t, slices.Equal(got.Encode(), later.Encode()),
			"receipt of another engine changes when it is read and written")
	}
}

func TestCompareReceipts(t *testing.T) {
	cases := []struct {
		field  string
		item   int
		change func(r *retrieve.Receipt)
	}{
		{"commits", -1, func(r *retrieve.Receipt) { r.Commits[0] = ipld.Sum(ipld.DagCBOR, []byte("x")) }},
		{"engine", -1, func(r *retrieve.Receipt) { r.Engine.Ranking++ }},
		{"request", -1, func(r *retrieve.Receipt) { r.Params = withParam(r.Params, "limit", nil) }},
		{"id", 0, func(r *retrieve.Receipt) { r.Items[0].ID = num(9); r.Items[1].Score++ }},
		{"node", 1, func(r *retrieve.Receipt) { r.Items[1].Node = testCommit; r.Tokens++ }},
		{"score", 1, func(r *retrieve.Receipt) { r.Items[1].Score++ }},
		{"tokens", 0, func(r *retrieve.Receipt) { r.Items[0].Tokens++ }},
		{"rendered", 0, func(r *retrieve.Receipt) { r.Items[0].Rendered[3]++ }},
		{"id", 1, func(r *retrieve.Receipt) { r.Items = r.Items[:1] }},
		{"tokens", -1, func(r *retrieve.Receipt) { r.Tokens++ }},
		{"dropped", -1, func(r *retrieve.Receipt) { r.Dropped++ }},
		{"candidates", -1, func(r *retrieve.Receipt) { r.Candidates++ }},
		{"warnings", -1, func(r *retrieve.Receipt) { r.Warnings = []retrieve.Warning{{Code: retrieve.NoTerms}} }},
	}
	for _, c := range cases {
		old, _ := library().ask(t, retrieve.Request{Text: "web"}).Receipt()
		now, _ := library().ask(t, retrieve.Request{Text: "web"}).Receipt()
		if d := retrieve.CompareReceipts(old, now); d != nil {
			t.Fatalf("equal receipts differ: %+v", d)
		}
		c.change(now)
		d := retrieve.CompareReceipts(old, now)
		must.True(t, d != nil && d.Field == c.field && d.Item == c.item && d.Old != d.New,
			"difference %+v, want %s of item %d", d, c.field, c.item)
		if back := retrieve.CompareReceipts(now, old); back == nil || back.Old != d.New || back.New != d.Old {
			t.Errorf("the other way: %+v, want the reverse of %+v", back, d)
		}
	}
}

func FuzzDecodeReceipt(f *testing.F) {
	receipts, texts := testReceipts(f)
	for i, r := range receipts {
		f.Add(r.Encode(), texts[i])
	}
	f.Fuzz(func(t *testing.T, block []byte, text string) {
		r, err := retrieve.DecodeReceipt(block)
		if err != nil {
			must.Fail(t, err, ipld.ErrInvalid)
			return
		}
		must.Same(t, r.Encode(), block, "decoded, but encodes to other bytes")
		if req, err := r.Request(text); err == nil {
			must.OK(t, req.Validate(), "request of a receipt")
		}
	})
}

// TestSparseReceipt keeps vectors of either kind, and fits where they are the largest there may be.
func TestSparseReceipt(t *testing.T) {
	req := retrieve.Request{Text: "a"}
	models := slices.Repeat([]string{strings.Repeat("x", 255)}, source.MaxModelsNamed)
	a := &retrieve.Answer{Commit: testCommit, Engine: retrieve.CurrentEngine(), Candidates: 1000}
	for i := range retrieve.MaxVectors {
		model := strings.Repeat("\"", 254) + fmt.Sprint(i)
		req.Vectors = append(req.Vectors, retrieve.QueryVector{Model: model, Values: slices.Repeat([]int8{1}, graph.MaxDims)})
		req.Sparse = append(req.Sparse, retrieve.SparseVector{Model: model, Terms: manyTerms(retrieve.MaxSparseTerms, 8)})
		for _, code := range []retrieve.Code{retrieve.NoVectors, retrieve.NoSparse} {
			a.Warnings = append(a.Warnings, noVectors(code, model, models))
		}
	}
	for i := range 1000 {
		a.Items = append(a.Items, retrieve.Item{ID: num(i), Node: testCommit, Score: graph.MaxCount})
		req.Exclude = append(req.Exclude, num(i))
	}
	req.Settled = true
	a.Request = req.Resolve()
	*a.Request.Limit, *a.Request.Budget = 0, 0
	r, query := a.Receipt()
	must.OK(t, r.Validate())
	t.Logf("%d of %d bytes", len(r.Encode()), ipld.MaxBlock)
	decoded := must.Get(retrieve.DecodeReceipt(r.Encode()))(t)
	again, err := decoded.Request(string(query))
	must.Equal(t, diff(a.Request, again), "")
	must.OK(t, err)
}
