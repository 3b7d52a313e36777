package rank_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/rank"
	"github.com/mnem-project/mnem/internal/session"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
	"github.com/mnem-project/mnem/retrieve"
)

// word returns a word that no stemmer changes and that is like few others.
func word(i int) string {
	rng := rand.New(rand.NewPCG(uint64(i), 11))
	b := make([]byte, 7)
	for k := range b {
		b[k] = "bcdfghjklmnpqrtvwxz"[rng.IntN(19)]
	}
	return string(b)
}

// wordy makes a memory of nodes with titles of two words, contents of 60 words of 9,000, some of them titles of other
// nodes, and an edge to the node before.
func wordy(t testing.TB, r *core.Repo, nodes int) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	var all strings.Builder
	title := func(i int) string { return word(i) + " " + word(i+1) }
	for i := range nodes {
		var content strings.Builder
		for range 60 {
			content.WriteString(word(rng.IntN(9000)) + " ")
		}
		fmt.Fprintf(&all, `{"node":{"key":"n%d","type":"T","summary":"%s","content":"%s%s"}}`+"\n", i,
			title(i), content.String(), title(rng.IntN(nodes)))
		if i > 0 {
			fmt.Fprintf(&all, `{"edge":{"type":"e","src":"n%d","dst":"n%d"}}`+"\n", i, i-1)
		}
	}
	repokit.CommitBy(t, r, repokit.By, "all", all.String())
}

// filled returns words up to the longest text that a request may have.
func filled(word func(i int) string) string {
	var b strings.Builder
	for i := 0; ; i++ {
		w := word(i) + " "
		if b.Len()+len(w) > retrieve.MaxText {
			return b.String()
		}
		b.WriteString(w)
	}
}

// TestHostileQuestions bounds the reads and allocations of the longest questions relative to those of a short one: the
// text is analysed once or twice in each kind of request.
func TestHostileQuestions(t *testing.T) {
	effort.Alone(t)
	// 24.4 MB of 9,000 known words, 15.5 plainly: bands split the scores of 50 candidates by word.
	const nodes, mostBlocks, mostAllocs, mostBytes = 1000, 400, 150_000, 24 << 20
	base := mem.New()
	r := must.Get(care.New(t.Context(), base, repokit.By, core.Options{}))(t)
	wordy(t, r, nodes)
	ask := func(text string) (blocks, allocs, bytes int) {
		counting := testkit.NewTamper(base)
		r := must.Get(care.New(t.Context(), counting, repokit.By, core.Options{ReadOnly: true}))(t)
		s := repokit.Head(t, r)
		var before, after runtime.MemStats
		read := len(counting.Read())
		runtime.ReadMemStats(&before)
		_, err := rank.Retrieve(context.Background(), s, retrieve.Request{Text: text})
		runtime.ReadMemStats(&after)
		must.OK(t, err)
		return len(counting.Read()) - read, int(after.Mallocs - before.Mallocs),
			int(after.TotalAlloc - before.TotalAlloc)
	}
	usual, _, _ := ask(word(5) + " " + word(17) + " " + word(200))
	for name, text := range map[string]string{
		"known":     filled(word),
		"quoted":    filled(func(i int) string { return `"` + word(i) + `"` }),
		"titles":    filled(func(i int) string { return word(i%nodes) + " " + word(i%nodes+1) }),
		"slips":     filled(func(i int) string { return word(i)[:3] + "y" + word(i)[3:] }),
		"unknown":   filled(func(i int) string { return word(i + 10_000) }),
		"capitals":  filled(func(i int) string { return strings.ToUpper(word(i)[:1]) + word(i)[1:] }),
		"dates":     filled(func(i int) string { return fmt.Sprintf("%d May %d", i%28+1, 1900+i%150) }),
		"Han":       filled(func(i int) string { return string([]rune{rune(0x4e00 + i), rune(0x4e01 + i)}) }),
		"numerals":  strings.Repeat("一二十〇", retrieve.MaxText/12),
		"backticks": strings.Repeat("`a", retrieve.MaxText/2),
		"quotes":    strings.Repeat(`"`, retrieve.MaxText),
		"one":       strings.Repeat("a", retrieve.MaxText),
		"emoji":     strings.Repeat("\U0001F469\u200D\U0001F680", retrieve.MaxText/11),
		"controls":  strings.Repeat("\x01\x7f", retrieve.MaxText/2),
		"brackets":  strings.Repeat("(a+)+$", retrieve.MaxText/6),
	} {
		blocks, allocs, bytes := ask(text)
		t.Logf("%-9s %5d blocks, %6d allocations of %8d bytes", name, blocks, allocs, bytes)
		// All parts of the index, and the nodes that thousands of words find instead of three.
		must.True(t, blocks <= usual+mostBlocks && allocs <= mostAllocs && bytes <= mostBytes,
			"%s: %d blocks, %d of them usual, %d allocations, %d bytes", name, blocks, usual, allocs, bytes)
	}
}

// of 8,000 nodes 101 and 1,194

// TestSparseReplay replays a receipt with sparse vectors and a weight of their lane after later commits. Then it purges
// a node, which must be in no list, nor in memory.
func TestSparseReplay(t *testing.T) {
	r := repokit.OpenMem(t)
	first := repokit.Lines(t, r, `{"node":{"key":"a","type":"T","summary":"Ann Lee"}}
{"node":{"key":"b","type":"T","summary":"beta"}}
{"embedding":{"node":"a","model":"m","sparse":{"x":1}}}
{"embedding":{"node":"b","model":"m","sparse":{"x":2}}}
`)
	req := retrieve.Request{Text: "about Ann Lee", Floor: retrieve.FloorRest,
		Sparse:  []retrieve.SparseVector{{Model: "m", Terms: []graph.Term{{Term: "x", Weight: 5}}}},
		Weights: []retrieve.LaneWeight{{Lane: retrieve.LaneSparse("m"), Weight: 1 << 14}}}
	answer, err := rank.Retrieve(t.Context(), repokit.Head(t, r), req)
	must.Require(t, err == nil && len(answer.Items) == 2 && answer.Items[0].Key == "a" &&
		len(answer.Items[0].Lanes) >= 3, "%+v, %v", answer, err)
	must.Get(session.Record(t.Context(), r, session.DefaultSession, answer, repokit.By))(t)
	repokit.Lines(t, r, `{"embedding":{"node":"b","model":"m","sparse":{"y":1}}}`+"\n")
	res, err := session.Replay(t.Context(), r, session.DefaultSession)
	must.True(t, err == nil && res.Identical && res.Receipts == 1, "replay %+v, %v", res, err)
	must.Get(care.Purge(t.Context(), r, "a", care.PurgeOptions{Stamp: repokit.By}))(t)
	s := must.Get(r.At(context.Background(), first.Commit))(t)
	must.Equal(t, len(must.Get(rank.Retrieve(t.Context(), s, req))(t).Items), 1, "after the purge")
}

// orders are the orders of the members of structs whose fields have another one.
var orders = map[reflect.Type]string{
	reflect.TypeFor[retrieve.Item](): "ID Key Type Node Rank Score Tier Tokens Rendered Lanes Reach Community Recall " +
		"Band Against",
	reflect.TypeFor[retrieve.DigestItem](): "Name Source Facts Covers Found Score Band Tokens Rendered",
	reflect.TypeFor[retrieve.Request](): "Text Vectors Whole Sparse Fusion Weights Types Where Now CreatedFrom CreatedTo UpdatedFrom " +
		"UpdatedTo ValidAt Marks Limit Budget Expand ExpandTypes Direction Adjacency Show SummaryCap Exclude " +
		"ExcludeNames Unseen UnseenFrom Dedup Order Spelling EdgeWeights Profile Explicit Settled Pack " +
		"PassageTokens Tokenizer Expansion MaxExpand Decay Damping Altitude Community Rewrites Rewrite Rerank " +
		"RerankTop Reranked Reranker Intent Pairs Format Floor Ranking",
}

// inner returns all that a value has as JSON, by the names of its fields: what doors do not show as well.
func inner(v any) ([]byte, error) {
	var b bytes.Buffer
	err := appendInner(&b, reflect.ValueOf(v))
	return b.Bytes(), err
}

func appendInner(b *bytes.Buffer, v reflect.Value) error {
	if !v.IsValid() {
		b.WriteString("null")
		return nil
	}
	_, itself := v.Interface().(json.Marshaler)
	kind := v.Kind()
	switch {
	case !itself && kind == reflect.Struct:
		b.WriteByte('{')
		if err := appendMembers(b, v); err != nil {
			return err
		}
		b.WriteByte('}')
		return nil
	case !itself && (kind == reflect.Pointer || kind == reflect.Interface):
		return appendInner(b, v.Elem())
	case !itself && (kind == reflect.Array || kind == reflect.Slice && !v.IsNil()):
		b.WriteByte('[')
		for i := range v.Len() {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := appendInner(b, v.Index(i)); err != nil {
				return err
			}
		}
		b.WriteByte(']')
		return nil
	}
	data, err := json.Marshal(v.Interface())
	b.Write(data)
	return err
}

func appendMembers(b *bytes.Buffer, v reflect.Value) error {
	fields := reflect.VisibleFields(v.Type())
	if order := strings.Fields(orders[v.Type()]); order != nil {
		slices.SortStableFunc(fields, func(x, y reflect.StructField) int {
			return slices.Index(order, x.Name) - slices.Index(order, y.Name)
		})
	}
	for _, f := range fields {
		if f.Anonymous || !f.IsExported() {
			continue // its own fields are visible
		}
		if !bytes.HasSuffix(b.Bytes(), []byte("{")) {
			b.WriteByte(',')
		}
		b.WriteString(`"` + f.Name + `":`)
		if err := appendInner(b, v.FieldByIndex(f.Index)); err != nil {
			return err
		}
	}
	return nil
}

func TestFind(t *testing.T) {
	r := repokit.OpenMem(t)
	repokit.Lines(t, r, `{"node":{"key":"alice","type":"Person","summary":"Alice leads infra"}}
{"node":{"key":"bob","type":"Person","summary":"Bob"}}
{"node":{"key":"n1","type":"fact","summary":"Bob sells anchors to customers abroad"}}
{"node":{"key":"n2","type":"fact","summary":"Bob paints anchors"}}
{"node":{"key":"n3","type":"fact","summary":"The pier was closed in winter"}}
{"node":{"key":"n4","type":"fact","summary":"The pier was closed in winter"}}
{"node":{"key":"n5","type":"fact","summary":"Kelp grows under the old pier of Varna"}}
{"node":{"key":"n6","type":"fact","summary":"海鮮市場明天開門"}}
{"mark":{"node":"n5","state":"forgotten"}}
`)
	s := repokit.Head(t, r)
	seen := func(m *graph.Mark) bool { return m == nil || !m.State.Hides() }
	for _, c := range []struct{ name, want string }{ // a key, or a part of the error
		{"alice", "alice"}, {"key:bob", "bob"}, {graph.NodeID("n1").String(), "n1"},
		{"Alice leads infra", "alice"}, {" Alice leads infra ", "alice"}, {"Bob", "bob"},
		{"infra leads", "alice"}, {"anchors customers", "n1"}, {"anchors Bob", "fits 2 nodes"},
		{"The pier was closed in winter", "fits 2 nodes"}, {"kelp varna", `no node "kelp varna"`},
		{"anchors", `no node "anchors"`}, {"key:Bob sells", "no node"}, {"id:Bob sells", "no node"},
		{"鮮市場明", "n6"}, {"whales sing", "no node"}, {"", "no node"}, {"?! ", "no node"},
	} {
		id, err := rank.Find(t.Context(), s, c.name, seen)
		if err != nil {
			must.True(t, strings.Contains(err.Error(), c.want), "%q: %v, want %s", c.name, err, c.want)
		} else if id != graph.NodeID(c.want) {
			t.Errorf("%q: %s, want %s", c.name, id, c.want)
		}
	}
	var unsure *rank.UnsureError
	_, err := rank.Find(t.Context(), s, "anchors Bob", seen)
	must.Require(t, errors.As(err, &unsure) && errors.Is(err, state.ErrInvalid) && len(unsure.Candidates) == 2,
		"error %v", err)
	for _, c := range unsure.Candidates {
		must.True(t, len(c.ID) == 8 && strings.Contains(c.Title, "anchors"), "candidate %+v", c)
		id := must.Get(s.Name(t.Context(), c.ID))(t)
		must.True(t, !id.IsZero(), "candidate %+v", c)
	}
	var missing *state.NotFoundError
	_, err = rank.Find(t.Context(), s, "anchors", seen)
	must.True(t, errors.As(err, &missing) && len(missing.Candidates) == 2, "error %+v", err)
	all := func(*graph.Mark) bool { return true }
	id, err := rank.Find(t.Context(), s, "kelp varna", all)
	must.True(t, err == nil && id == graph.NodeID("n5"), "a hidden node that is let through: %s, %v", id, err)
}

// TestFindMany checks that an exact title is found among very many nodes with its words, and that the error names a few
// of these.
func TestFindMany(t *testing.T) {
	r := repokit.OpenMem(t)
	var b strings.Builder
	for i := range 400 {
		fmt.Fprintf(&b, `{"node":{"key":"n%d","type":"fact","summary":"Harbour note %d"}}`+"\n", i, i)
	}
	b.WriteString(`{"node":{"key":"x","type":"fact","summary":"Harbour note"}}` + "\n")
	repokit.Lines(t, r, b.String())
	s := repokit.Head(t, r)
	all := func(*graph.Mark) bool { return true }
	must.Equal(t, must.Get(rank.Find(t.Context(), s, "Harbour note", all))(t), graph.NodeID("x"))
	var unsure *rank.UnsureError
	_, err := rank.Find(t.Context(), s, "note harbour", all)
	must.True(t, errors.As(err, &unsure) && unsure.Many && len(unsure.Candidates) == 8 &&
		unsure.Error() == `"note harbour" fits more than 256 nodes`, "error %v", err)
}

// TestFindTellsNoCredential: candidates whose texts hold a credential have no title.
func TestFindTellsNoCredential(t *testing.T) {
	r := repokit.OpenMem(t)
	repokit.Lines(t, r, `{"node":{"key":"n1","type":"fact","summary":"deploy on Monday"}}`+"\n"+
		`{"node":{"key":"n2","type":"fact","summary":"deploy with password=hunt`+`er22Zq8Lk93xT"}}`)
	var missing *state.NotFoundError
	_, err := rank.Find(t.Context(), repokit.Head(t, r), "deploy", func(*graph.Mark) bool { return true })
	must.Require(t, errors.As(err, &missing) && len(missing.Candidates) == 2, "error %v", err)
	titles := map[string]bool{}
	for _, c := range missing.Candidates {
		titles[c.Title] = true
	}
	must.True(t, titles[""] && titles["deploy on Monday"], "candidates %+v", missing.Candidates)
}
