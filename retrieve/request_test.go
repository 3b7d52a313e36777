package retrieve

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
)

func TestResolveDefaults(t *testing.T) {
	want := Request{Limit: new(10), Budget: new(2000), Expand: new(3), Direction: Both,
		Fusion:     Convex,
		SummaryCap: new(8192), Order: ByRank, Pack: PackAuto, PassageTokens: new(64), Tokenizer: Estimate,
		ExpansionOptions: ExpansionOptions{Expansion: Lend, MaxExpand: new(100)}, Spelling: SpellingOn,
		Pairs:    PairsOn,
		Altitude: AltitudeEntity,
		Format:   FormatYAML,
		Floor:    FloorMaybe,
		Ranking:  RankingVersion}
	got := Request{Types: []string{}, Show: []string{}, Where: []Predicate{}}.Resolve()
	if d := diff(want, got); d != "" {
		t.Error(d)
	}
	names := []string{"b", "a", "b"}
	r := Request{Types: names, Limit: new(0)}
	got = r.Resolve()
	if d := diff([]string{"a", "b"}, got.Types); d != "" {
		t.Error(d)
	}
	*got.Limit = 7
	if *r.Limit != 0 || names[0] != "b" {
		t.Error("resolving changed the request it was given")
	}
}

func TestValidate(t *testing.T) {
	many := func(n int) []string {
		var out []string
		for i := range n {
			out = append(out, fmt.Sprint(i))
		}
		return out
	}
	exists := Predicate{Name: "a", Op: Exists}
	text := func(n int) ipld.Value { return ipld.StringValue(strings.Repeat("x", n)) }
	cases := []struct {
		param   string
		good    Request // at the bound
		bad     Request // beyond it
		badToo  Request // of another kind
		reason  string  // part of the first error
		reason2 string  // part of the second
	}{
		{"text", Request{Text: strings.Repeat("x", 65_536)}, Request{Text: strings.Repeat("x", 65_537)},
			Request{Text: "\xff"}, "65537", "UTF-8"},
		{"types", Request{Types: many(64)}, Request{Types: many(65)},
			Request{Types: []string{""}}, "limit 64", "not a type"},
		{"where", Request{Where: slices.Repeat([]Predicate{exists}, 64)},
			Request{Where: slices.Repeat([]Predicate{exists}, 65)},
			Request{Where: []Predicate{{Name: "a", Op: "like"}}}, "limit 64", "not an operator"},
		{"where", Request{Where: []Predicate{{Name: "a", Op: Equal, Value: text(65_000)}}},
			Request{Where: slices.Repeat([]Predicate{{Name: "a", Op: Equal, Value: text(30_000)}}, 3)},
			Request{Where: []Predicate{{Name: "a", Op: Equal, Value: ipld.FloatValue(math.NaN())}}},
			"limit 65536", "NaN"},
		{"createdFrom", Request{CreatedFrom: graph.At(graph.MaxTime)},
			Request{CreatedFrom: graph.At(graph.MaxTime + 1)},
			Request{CreatedFrom: graph.At(graph.MinTime - 1)}, "outside", "outside"},
		{"validAt", Request{ValidAt: graph.At(graph.MinTime)},
			Request{ValidAt: graph.At(graph.MinTime - 1)},
			Request{ValidAt: graph.At(graph.MaxTime + 1)}, "outside", "outside"},
		{"marks", Request{Marks: []graph.State{graph.Expired}},
			Request{Marks: []graph.State{graph.Stale}}, Request{Marks: []graph.State{"x"}},
			"not a hidden state", "not a hidden state"},
		{"limit", Request{Limit: new(1000)}, Request{Limit: new(1001)}, Request{Limit: new(-1)},
			"0 to 1000", "0 to 1000"},
		{"budget", Request{Budget: new(MaxBudget)}, Request{Budget: new(MaxBudget + 1)},
			Request{Budget: new(-1)}, "outside", "outside"},
		{"expand", Request{Expand: new(4)}, Request{Expand: new(5)}, Request{Expand: new(-1)},
			"0 to 4", "0 to 4"},
		{"expandTypes", Request{ExpandTypes: many(64)}, Request{ExpandTypes: many(65)},
			Request{ExpandTypes: []string{strings.Repeat("x", 256)}}, "limit 64", "255 bytes"},
		{"direction", Request{Direction: Both}, Request{Direction: "up"}, Request{Direction: "BOTH"},
			"not out", "not out"},
		{"adjacency", Request{Adjacency: 1000}, Request{Adjacency: 1001}, Request{Adjacency: -1},
			"0 to 1000", "0 to 1000"},
		{"show", Request{Show: []string{"times", "key", "content"}}, Request{Show: []string{"all"}},
			Request{Show: []string{""}}, "not times", "not times"},
		{"summaryCap", Request{SummaryCap: new(262_144)}, Request{SummaryCap: new(262_145)},
			Request{SummaryCap: new(-1)}, "outside", "outside"},
		{"exclude", Request{Exclude: manyIDs(999), ExcludeNames: []string{"a"}},
			Request{Exclude: manyIDs(999), ExcludeNames: []string{"a", "b"}},
			Request{Exclude: []graph.ID{{}}}, "limit 1000", "zeros"},
		{"exclude", Request{ExcludeNames: []string{"key:" + strings.Repeat("x", graph.MaxKey)}},
			Request{ExcludeNames: []string{""}}, Request{ExcludeNames: []string{"\xff"}},
			"not the name", "not the name"},
		{"unseenFrom", Request{UnseenFrom: graph.MaxCount}, Request{UnseenFrom: -1},
			Request{UnseenFrom: graph.MaxCount + 1}, "outside", "outside"},
		{"order", Request{Order: ByTime}, Request{Order: "docs"}, Request{Order: "TIME"},
			"not rank or time", "not rank or time"},
		{"pack", Request{Pack: PackPassages}, Request{Pack: "part"}, Request{Pack: "Whole"},
			"not auto, whole or", "not auto, whole or"},
		{"passageTokens", Request{Pack: PackPassages, PassageTokens: new(65_536)},
			Request{Pack: PackPassages, PassageTokens: new(65_537)},
			Request{PassageTokens: new(9)}, "outside 1", "only with pack passages"},
		{"tokenizer", Request{Tokenizer: "mine"}, Request{Tokenizer: "a\nb"},
			Request{Tokenizer: strings.Repeat("x", 1000)}, "not the name", "not the name"},
	}
	for _, c := range cases {
		if err := c.good.Validate(); err != nil {
			t.Errorf("%s at its bound: %v", c.param, err)
		}
		for i, bad := range []Request{c.bad, c.badToo} {
			err := bad.Validate()
			var re *RequestError
			reason := []string{c.reason, c.reason2}[i]
			if !errors.As(err, &re) || re.Param != c.param || !strings.Contains(re.Reason, reason) ||
				!errors.Is(err, ErrRequest) {
				t.Errorf("%s: error %v, want %q", c.param, err, reason)
			}
		}
	}
}

// TestLargestReceipt checks that the receipt of the largest request and answer fits into a block.
func TestLargestReceipt(t *testing.T) {
	name := func(i int) string { return fmt.Sprintf("%0255d", i) }
	req := Request{Text: strings.Repeat("x", MaxText), Limit: new(0), Budget: new(0)}
	for i := range 64 {
		req.Types = append(req.Types, name(i))
		req.ExpandTypes = append(req.ExpandTypes, name(i))
		req.Where = append(req.Where, Predicate{name(i), OneOf,
			ipld.ListValue(slices.Repeat([]ipld.Value{ipld.IntValue(1)}, 1000)...), In})
	}
	req.Exclude = manyIDs(MaxExclude)
	a := &Answer{Commit: testCommit, Request: req.Resolve(), Engine: CurrentEngine(),
		Candidates: 1000}
	for i := range 1000 {
		a.Items = append(a.Items, Item{ID: num(i), Node: testCommit, Score: graph.MaxCount,
			Tokens: 1 << 30})
		a.TokensUsed += 1 << 30
	}
	r, _ := a.Receipt()
	if err := r.Validate(); err != nil {
		t.Fatal(err)
	}
	if _, err := DecodeReceipt(r.Encode()); err != nil {
		t.Fatal(err)
	}
}

func TestParseRequestJSON(t *testing.T) {
	base := Request{Types: []string{"Base"}, Limit: new(3), Show: []string{"key"}, Adjacency: 9}
	v := parsed(t, `{"qid":"q1","text":"who?","type":"Person","where":["a = 1","b !exists"],
		"created-from":"2026-01-01","created-to":"2026-01-02T00:00:00Z","updated-from":"1970-01-01",
		"updated-to":"1970-01-02","valid-at":"2026-11-20","marks":"retired,expired","limit":40,
		"budget":0,"expand":0,"expand-type":["owns","feeds"],"direction":"in","adjacency":2,
		"show":["times","content"],"summary-cap":100,"exclude":["alice","id:7cf0"],"unseen":true,
		"dedup":true,"order":"time",
		"gold":["alice"],"gold_rank":1,"meta":{"x":1},"cat":"names"}`)
	q, err := ParseRequestJSON(v, base)
	if err != nil {
		t.Fatal(err)
	}
	day := func(s string) graph.OptTime {
		at, err := graph.ParseTime(s)
		if err != nil {
			t.Fatal(err)
		}
		return graph.At(at)
	}
	want := Query{
		ID: "q1",
		Request: Request{
			Text: "who?", Types: []string{"Person"},
			Where:       []Predicate{{"a", Equal, ipld.IntValue(1), ""}, {"b", Missing, ipld.Value{}, ""}},
			CreatedFrom: day("2026-01-01"), CreatedTo: day("2026-01-02"),
			UpdatedFrom: graph.At(0), UpdatedTo: graph.At(86_400_000_000),
			ValidAt: day("2026-11-20"), Marks: []graph.State{"retired", "expired"},
			Limit: new(40), Budget: new(0), Expand: new(0),
			ExpandTypes: []string{"owns", "feeds"}, Direction: In, Adjacency: 2,
			Show: []string{"times", "content"}, SummaryCap: new(100),
			ExcludeNames: []string{"alice", "id:7cf0"}, Unseen: true, Dedup: true,
			Order: ByTime,
		},
		Echo: parsed(t, `{"gold":["alice"],"gold_rank":1,"meta":{"x":1},"cat":"names"}`).Entries(),
	}
	if d := diff(want, q); d != "" {
		t.Error(d)
	}

	q, err = ParseRequestJSON(parsed(t, `{"text":"x","show":"","type":[]}`), base)
	if err != nil {
		t.Fatal(err)
	}
	want = Query{Request: Request{
		Text: "x", Limit: new(3), Adjacency: 9, Explicit: []string{"show"},
	}}
	if d := diff(want, q); d != "" {
		t.Error(d)
	}
}

func TestParseRequestJSONRefuses(t *testing.T) {
	cases := map[string]string{ // JSON to the parameter named
		`[]`:                                  "request",
		`"text"`:                              "request",
		`{"txt":"a"}`:                         "txt",
		`{"Text":"a"}`:                        "Text",
		`{"types":["a"]}`:                     "types",
		`{"qid":1}`:                           "qid",
		`{"text":null}`:                       "text",
		`{"type":1}`:                          "type",
		`{"type":["a",1]}`:                    "type",
		`{"where":"a is 1"}`:                  "where",
		`{"where":["a = 1",2]}`:               "where",
		`{"created-from":5}`:                  "created-from",
		`{"created-to":"tomorrow"}`:           "created-to",
		`{"valid-at":"2026-02-30"}`:           "valid-at",
		`{"marks":"stale"}`:                   "marks",
		`{"marks":{}}`:                        "marks",
		`{"limit":1.0}`:                       "limit",
		`{"limit":"10"}`:                      "limit",
		`{"limit":-1}`:                        "limit",
		`{"limit":1001}`:                      "limit",
		`{"budget":9223372036854775807}`:      "budget",
		`{"expand":5,"expansion":"lend"}`:     "expand",
		`{"direction":"up"}`:                  "direction",
		`{"adjacency":true}`:                  "adjacency",
		`{"show":"times, key"}`:               "show",
		`{"summary-cap":262145}`:              "summary-cap",
		`{"type":"","text":"x"}`:              "type",
		`{"exclude":7}`:                       "exclude",
		`{"exclude":[null]}`:                  "exclude",
		`{"exclude":""}`:                      "exclude",
		`{"unseen":"yes"}`:                    "unseen",
		`{"unseen-from":3}`:                   "unseen-from",
		`{"dedup":1}`:                         "dedup",
		`{"decay":"0.5"}`:                     "decay",
		`{"decay":1.01}`:                      "decay",
		`{"decay":-1}`:                        "decay",
		`{"order":"docs"}`:                    "order",
		`{"pack":true}`:                       "pack",
		`{"passage-tokens":5,"pack":"whole"}`: "passage-tokens",
		`{"tokenizer":7}`:                     "tokenizer",
		`{"order":null}`:                      "order",
		`{"expand-type":""}`:                  "expand-type",
	}
	for text, param := range cases {
		_, err := ParseRequestJSON(parsed(t, text), Request{})
		var re *RequestError
		if !errors.As(err, &re) || re.Param != param {
			t.Errorf("%s: error %v, want one of %s", text, err, param)
		}
	}
}

// TestFlagNames checks that every parameter of a receipt has a member in JSON requests.
func TestFlagNames(t *testing.T) {
	r, _ := fullLibrary().ask(t, fullRequest()).Receipt()
	for _, e := range r.Params.Entries() {
		name := MemberName(e.Key)
		v := ipld.MapValue(ipld.Entry{Key: name, Value: ipld.Value{}})
		_, err := ParseRequestJSON(v, Request{})
		var re *RequestError
		if !errors.As(err, &re) || re.Param != name || strings.Contains(re.Reason, "unknown") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
