package stage

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/rank/complete"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

func payments() *memory {
	m := newMemory()
	m.add(graph.Node{ID: num(0), Summary: "charge web", Created: 1})
	m.add(graph.Node{ID: num(1), Summary: "duplicate payment", Created: 1})
	m.add(graph.Node{ID: num(2), Summary: "payment", Created: 1})
	m.add(graph.Node{ID: num(3), Summary: "host", Created: 1})
	return m
}

func TestRewritesFind(t *testing.T) {
	m := payments()
	a := m.ask(t, retrieve.Request{Text: "charge",
		RewriteOptions: retrieve.RewriteOptions{Rewrites: []string{"duplicate payment", "host host"}}})
	if got := order(a); len(got) != 4 || got[0] != 1 || len(a.Warnings) != 0 {
		t.Errorf("order %v, warnings %v", got, a.Warnings)
	}
	lanes := map[graph.ID]retrieve.Lane{}
	for _, it := range a.Items {
		lanes[it.ID] = it.Lanes[0].Lane
	}
	if lanes[num(1)] != "text:1" || lanes[num(3)] != retrieve.LaneRewrite(2) {
		t.Errorf("lanes %v", lanes)
	}
	// Without expansion the score is that of clause 9.6 alone: two words of a wording sum to twice as much as one.
	a = m.ask(t, retrieve.Request{Text: "charge", ExpansionOptions: retrieve.ExpansionOptions{Expand: new(0)},
		RewriteOptions: retrieve.RewriteOptions{Rewrites: []string{"duplicate payment", "host host"}}})
	if a.Items[0].Score != 2*a.Items[1].Score || a.Items[1].Score != a.Items[2].Score {
		t.Errorf("scores %d, %d, %d", a.Items[0].Score, a.Items[1].Score, a.Items[2].Score)
	}
	replayed(t, m, a)
}

func TestRewritesWeighed(t *testing.T) {
	m := payments()
	req := retrieve.Request{Text: "charge", RewriteOptions: retrieve.RewriteOptions{Rewrites: []string{"payment"}},
		ExpansionOptions: retrieve.ExpansionOptions{Expand: new(0)},
		Weights:          []retrieve.LaneWeight{{Lane: "text:1", Weight: 0}}}
	if got := order(m.ask(t, req)); !slices.Equal(got, []int{0}) {
		t.Errorf("weight 0: %v", got)
	}
	req.Weights = []retrieve.LaneWeight{{Lane: retrieve.LaneText, Weight: 1}, {Lane: "text:1", Weight: 1 << 16}}
	if got := order(m.ask(t, req)); !slices.Equal(got, []int{1, 2, 0}) {
		t.Errorf("weight 1: %v", got)
	}
	for _, lane := range []retrieve.Lane{"text:0", "text:9", "text:01", "text:", "text:x", "text:2"} {
		req.Weights = []retrieve.LaneWeight{{Lane: lane, Weight: 1}}
		if _, err := Run(t.Context(), m, m, testCommit, req); !errors.Is(err, retrieve.ErrRequest) {
			t.Errorf("%s: %v", lane, err)
		}
	}
}

func TestRewriteWarnings(t *testing.T) {
	m := payments()
	for name, c := range map[string]struct {
		req  retrieve.Request
		want []retrieve.Code
	}{
		"made": {retrieve.Request{RewriteOptions: retrieve.RewriteOptions{Rewrites: []string{"host"},
			Rewrite: retrieve.RewriteMulti}}, nil},
		"given": {retrieve.Request{RewriteOptions: retrieve.RewriteOptions{Rewrites: []string{"host"}}}, nil},
		"not made": {retrieve.Request{RewriteOptions: retrieve.RewriteOptions{Rewrite: retrieve.RewriteHyde}},
			[]retrieve.Code{retrieve.NotRewritten}},
		"in vain": {retrieve.Request{RewriteOptions: retrieve.RewriteOptions{Rewrites: []string{"host", "of the",
			"nowhere"}}}, []retrieve.Code{retrieve.RewritesInVain}},
	} {
		c.req.Text = "charge"
		a := m.ask(t, c.req)
		if !slices.Equal(codes(a), append([]retrieve.Code{}, c.want...)) {
			t.Errorf("%s: warnings %v", name, codes(a))
		}
		if name == "in vain" && !strings.Contains(a.Warnings[0].Message(), "2") {
			t.Error(a.Warnings[0].Message())
		}
		replayed(t, m, a)
	}
}

func TestRewritesRefused(t *testing.T) {
	for name, req := range map[string]retrieve.Request{
		"blank": {Text: "a", RewriteOptions: retrieve.RewriteOptions{Rewrites: []string{" \n"}}},
		"twice": {Text: "a", RewriteOptions: retrieve.RewriteOptions{Rewrites: []string{"b", "b"}}},
		"long": {Text: "a", RewriteOptions: retrieve.RewriteOptions{Rewrites: []string{strings.Repeat("b",
			retrieve.MaxRewrite+1)}}},
		"UTF-8":    {Text: "a", RewriteOptions: retrieve.RewriteOptions{Rewrites: []string{"\xff"}}},
		"nine":     {Text: "a", RewriteOptions: retrieve.RewriteOptions{Rewrites: strings.Split("123456789", "")}},
		"way":      {Text: "a", RewriteOptions: retrieve.RewriteOptions{Rewrite: "other"}},
		"no text":  {Text: " ", RewriteOptions: retrieve.RewriteOptions{Rewrites: []string{"b"}}},
		"no text2": {RewriteOptions: retrieve.RewriteOptions{Rewrite: retrieve.RewriteMulti}},
	} {
		m := payments()
		_, err := Run(t.Context(), m, m, testCommit, req)
		var re *retrieve.RequestError
		if !errors.As(err, &re) || !strings.HasPrefix(re.Param, "rewrite") {
			t.Errorf("%s: %v", name, err)
		}
	}
	line := parsed(t, `{"rewrites":["b","c"],"rewrite":"hyde"}`)
	q, err := complete.ParseRequestJSON(line, retrieve.Request{Text: "a"})
	if err != nil || !slices.Equal(q.Request.Rewrites, []string{"b", "c"}) ||
		q.Request.Rewrite != "hyde" {
		t.Errorf("%+v, %v", q.Request, err)
	}
	_, err = complete.ParseRequestJSON(parsed(t, `{"rewrites":[1]}`), retrieve.Request{})
	if !errors.Is(err, retrieve.ErrRequest) {
		t.Error(err)
	}
}

// TestHostileRewrites refuses receipts whose links are not to different texts, and other texts.
func TestHostileRewrites(t *testing.T) {
	r, text := payments().ask(t, retrieve.Request{Text: "a",
		RewriteOptions: retrieve.RewriteOptions{Rewrites: []string{"b", "c"}}}).Receipt()
	if len(r.Rewrites()) != 2 || r.Rewrites()[1] != ipld.Sum(ipld.Raw, []byte("c")) {
		t.Fatal(r.Rewrites())
	}
	for _, texts := range [][]string{nil, {"b"}, {"c", "b"}, {"b", "c", "d"}} {
		if _, err := r.Request(string(text), texts...); err == nil {
			t.Errorf("%q are accepted", texts)
		}
	}
	raw := ipld.LinkValue(ipld.Sum(ipld.Raw, []byte("b")))
	for name, v := range map[string]ipld.Value{
		"twice": ipld.ListValue(raw, raw), "empty": ipld.ListValue(), "text": ipld.StringValue("b"),
		"texts": ipld.ListValue(ipld.StringValue("b")),
		"node":  ipld.ListValue(ipld.LinkValue(testCommit)),
		"nine":  ipld.ListValue(slices.Repeat([]ipld.Value{raw}, 9)...),
	} {
		bad := *r
		entries := slices.Clone(r.Params.Entries())
		at := slices.IndexFunc(entries, func(e ipld.Entry) bool { return e.Key == "rewrites" })
		entries[at].Value = v
		bad.Params = ipld.MapValue(entries...)
		if err := bad.Validate(); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}
