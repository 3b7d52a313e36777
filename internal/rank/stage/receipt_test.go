package stage

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
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

func TestReceiptRoundTrip(t *testing.T) {
	receipts, texts := testReceipts(t)
	for i, r := range receipts {
		if err := r.Validate(); err != nil {
			t.Fatal(err)
		}
		block := r.Encode()
		got, err := retrieve.DecodeReceipt(block)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.Encode(), block) {
			t.Errorf("receipt %d changes when it is read and written", i)
		}
		if got.Query() != ipld.Sum(ipld.Raw, []byte(texts[i])) {
			t.Errorf("receipt %d: query %v", i, got.Query())
		}
		req, err := got.Request(texts[i])
		if err != nil {
			t.Fatal(err)
		}
		again, _ := fullLibrary().ask(t, req).Receipt()
		if d := retrieve.CompareReceipts(got, again); d != nil {
			t.Errorf("replay of receipt %d: %+v", i, d)
		}
	}
}

func TestReceiptRequestRefuses(t *testing.T) {
	r, text := library().ask(t, retrieve.Request{Text: "web"}).Receipt()
	var mismatch *ipld.MismatchError
	if _, err := r.Request("other"); !errors.As(err, &mismatch) {
		t.Errorf("another text: %v", err)
	}
	for _, change := range []func(e *retrieve.Engine){
		func(e *retrieve.Engine) { e.Ranking++ },
		func(e *retrieve.Engine) { e.Analyser++ },
		func(e *retrieve.Engine) { e.Language = "de" },
	} {
		later := *r
		change(&later.Engine)
		later.Params = ipld.MapValue(append(slices.Clone(r.Params.Entries()),
			ipld.Entry{Key: "sorcery", Value: ipld.StringValue("rrf")})...)
		got, err := retrieve.DecodeReceipt(later.Encode())
		if err != nil {
			t.Fatalf("receipt of another engine: %v", err)
		}
		if _, err := got.Request(string(text)); !errors.Is(err, retrieve.ErrRankingVersion) {
			t.Errorf("engine %s: %v", later.Engine, err)
		}
		if !slices.Equal(got.Encode(), later.Encode()) {
			t.Error("receipt of another engine changes when it is read and written")
		}
	}
}

func TestReceiptExtra(t *testing.T) {
	r, _ := library().ask(t, retrieve.Request{Text: "web"}).Receipt()
	r.Extra = []ipld.Entry{{Key: "note", Value: ipld.IntValue(1)}}
	got, err := retrieve.DecodeReceipt(r.Encode())
	if err != nil {
		t.Fatal(err)
	}
	if d := diff(r.Extra, got.Extra); d != "" {
		t.Error(d)
	}
	plain := *r
	plain.Extra = nil
	d := retrieve.CompareReceipts(r, &plain)
	if d == nil || d.Field != "record" || d.Item != -1 {
		t.Errorf("difference %+v", d)
	}
}

func TestReceiptRefuses(t *testing.T) {
	param := func(key, json string) func(*retrieve.Receipt) {
		return func(r *retrieve.Receipt) {
			if json == "" {
				r.Params = withParam(r.Params, key, nil)
				return
			}
			v := parsed(t, json)
			r.Params = withParam(r.Params, key, &v)
		}
	}
	cases := map[string]func(*retrieve.Receipt){
		"no commit":          func(r *retrieve.Receipt) { r.Commits = nil },
		"raw commit":         func(r *retrieve.Receipt) { r.Commits = []ipld.CID{ipld.Sum(ipld.Raw, nil)} },
		"two commits":        func(r *retrieve.Receipt) { r.Commits = append(r.Commits, testCommit) },
		"no params":          func(r *retrieve.Receipt) { r.Params = ipld.Value{} },
		"text is missing":    param("text", ""),
		"text is a string":   param("text", `"web"`),
		"text is no raw":     param("text", `{"/":"`+testCommit.String()+`"}`),
		"limit is missing":   param("limit", ""),
		"limit is a float":   param("limit", `10.0`),
		"limit too large":    param("limit", `1001`),
		"limit negative":     param("limit", `-1`),
		"limit too small":    param("limit", `1`),
		"budget overdrawn":   param("budget", `20`),
		"unknown parameter":  param("sorcery", `"rrf"`),
		"direction":          param("direction", `"up"`),
		"direction empty":    param("direction", `""`),
		"types empty":        param("types", `[]`),
		"types unsorted":     param("types", `["b","a"]`),
		"types twice":        param("types", `["a","a"]`),
		"types of ints":      param("types", `[1]`),
		"types a string":     param("types", `"a"`),
		"where empty":        param("where", `[]`),
		"where text":         param("where", `["a = 1"]`),
		"where extra":        param("where", `[{"name":"a","op":"=","value":1,"x":1}]`),
		"where value":        param("where", `[{"name":"a","op":"exists","value":1}]`),
		"where null value":   param("where", `[{"name":"a","op":"exists","value":null}]`),
		"where no value":     param("where", `[{"name":"a","op":"="}]`),
		"where no name":      param("where", `[{"op":"exists"}]`),
		"where op":           param("where", `[{"name":"a","op":"~","value":1}]`),
		"marks visible":      param("marks", `["stale"]`),
		"show":               param("show", `["all"]`),
		"time is a string":   param("validAt", `"2026-01-01"`),
		"time out of range":  param("validAt", `253402300800000000`),
		"item without id":    func(r *retrieve.Receipt) { r.Items[0].ID = graph.ID{} },
		"item without node":  func(r *retrieve.Receipt) { r.Items[0].Node = ipld.Sum(ipld.Raw, nil) },
		"negative score":     func(r *retrieve.Receipt) { r.Items[0].Score = -1 },
		"score too large":    func(r *retrieve.Receipt) { r.Items[0].Score = 1 << 53 },
		"tokens differ":      func(r *retrieve.Receipt) { r.Tokens++ },
		"too few candidates": func(r *retrieve.Receipt) { r.Candidates = 1 },
		"negative dropped":   func(r *retrieve.Receipt) { r.Dropped = -1 },
		"no language":        func(r *retrieve.Receipt) { r.Engine.Language = "" },
		"code with line end": func(r *retrieve.Receipt) { r.Warnings = []retrieve.Warning{{Code: "a\nb"}} },
		"too many items": func(r *retrieve.Receipt) {
			r.Items = slices.Repeat(r.Items[:1], 1001)
			r.Tokens, r.Candidates = 1001*r.Items[0].Tokens, 1001
		},
		"extra with a known name": func(r *retrieve.Receipt) {
			r.Extra = []ipld.Entry{{Key: "items", Value: ipld.IntValue(1)}}
		},
	}
	for name, change := range cases {
		r, _ := library().ask(t, retrieve.Request{Text: "web"}).Receipt()
		if err := r.Validate(); err != nil {
			t.Fatal(err)
		}
		change(r)
		if err := r.Validate(); !errors.Is(err, graph.ErrInvalid) {
			t.Errorf("%s: validated with error %v", name, err)
			continue
		}
		if strings.HasPrefix(name, "extra") || strings.HasPrefix(name, "no param") {
			continue // encodes to something else
		}
		if _, err := retrieve.DecodeReceipt(r.Encode()); !errors.Is(err, ipld.ErrInvalid) {
			t.Errorf("%s: decoded with error %v", name, err)
		}
	}
}

// TestReceiptRefusesBlocks changes the record rather than the struct.
func TestReceiptRefusesBlocks(t *testing.T) {
	r, _ := library().ask(t, retrieve.Request{Text: "web", Budget: new(20)}).Receipt()
	r.Warnings = []retrieve.Warning{{Code: retrieve.BudgetTooSmall, Params: []ipld.Entry{{Key: "smallest", Value: ipld.IntValue(9)}}}}
	whole, err := ipld.DecodeValue(r.Encode())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := retrieve.DecodeReceipt(ipld.AppendValue(nil, whole)); err != nil {
		t.Fatal(err)
	}
	for _, e := range whole.Entries() {
		if _, err := retrieve.DecodeReceipt(ipld.AppendValue(nil, withParam(whole, e.Key, nil))); err == nil && e.Key != "verdict" {
			t.Errorf("decoded without %s", e.Key)
		}
		odd := parsed(t, `{"x":[1]}`)
		if _, err := retrieve.DecodeReceipt(ipld.AppendValue(nil, withParam(whole, e.Key, &odd))); err == nil {
			t.Errorf("decoded with an odd %s", e.Key)
		}
	}
	for key, json := range map[string]string{
		"engine":   `{"ranking":1,"analyser":1,"language":"en","x":1}`,
		"items":    `[{"id":1}]`,
		"warnings": `[{"code":"a","params":{}}]`,
		"tokens":   `-1`,
	} {
		v := parsed(t, json)
		if _, err := retrieve.DecodeReceipt(ipld.AppendValue(nil, withParam(whole, key, &v))); err == nil {
			t.Errorf("decoded with %s %s", key, json)
		}
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
		if d == nil || d.Field != c.field || d.Item != c.item || d.Old == d.New {
			t.Errorf("difference %+v, want %s of item %d", d, c.field, c.item)
		}
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
			if !errors.Is(err, ipld.ErrInvalid) {
				t.Fatalf("error %v is no ErrInvalid", err)
			}
			return
		}
		if !slices.Equal(r.Encode(), block) {
			t.Fatal("decoded, but encodes to other bytes")
		}
		if req, err := r.Request(text); err == nil {
			if err := req.Validate(); err != nil {
				t.Fatalf("request of a receipt: %v", err)
			}
		}
	})
}
