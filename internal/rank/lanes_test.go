package rank_test

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/text"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/rank"
	"github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/internal/session"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
	"github.com/mnem-project/mnem/retrieve"
)

// laneModel is a naive copy of a memory at one commit.
type laneModel struct {
	nodes  map[string]laneNode
	sparse map[[2]string]map[string]int64 // by key and model
}

type laneNode struct{ typ, summary, content string }

func (m laneModel) clone() laneModel { return laneModel{maps.Clone(m.nodes), maps.Clone(m.sparse)} }

// phraseWords are the words of random texts: names, their lower case, and an identifier.
var phraseWords = []string{"Ann", "Lee", "ann", "lee's", "Lee's", "boat", "the", "INC-4711", "inc_4711", "Öl",
	"getUser", "boats", "4711", "Ann Lee", "Ann. Lee"}

func phraseText(rng *rand.Rand, n int) string {
	var words []string
	for range n {
		words = append(words, phraseWords[rng.IntN(len(phraseWords))])
	}
	return strings.Join(words, " ")
}

// change makes a batch of random lines and applies it to the model.
func (m laneModel) change(rng *rand.Rand) string {
	var b strings.Builder
	for range 1 + rng.IntN(20) {
		key := fmt.Sprint("n", rng.IntN(60))
		n := laneNode{[]string{"A", "B"}[rng.IntN(2)], phraseText(rng, 1+rng.IntN(4)), ""}
		if rng.IntN(3) == 0 {
			n.content = phraseText(rng, 1+rng.IntN(9))
		}
		if n.content != "" && rng.IntN(4) == 0 { // the part that counts ends within a word or before
			n.content = strings.Repeat("x", 32_740+rng.IntN(30)) + " " + n.content
		}
		m.nodes[key] = n
		fmt.Fprintf(&b, `{"node":{"key":%q,"type":%q,"summary":%q,"content":%q}}`+"\n", key, n.typ,
			n.summary, n.content)
		model := []string{"m", "m2"}[rng.IntN(2)]
		if rng.IntN(6) == 0 {
			delete(m.sparse, [2]string{key, model})
			fmt.Fprintf(&b, `{"embedding":{"node":%q,"model":%q,"vector":[1,2]}}`+"\n", key, model)
			continue
		}
		v := map[string]int64{}
		for range 1 + rng.IntN(4) {
			v[string(rune('a'+rng.IntN(5)))] = []int64{1, 3, 1 << 16, 1<<31 - 1}[rng.IntN(4)]
		}
		m.sparse[[2]string{key, model}] = v
		var terms []string
		for t, w := range v {
			terms = append(terms, fmt.Sprintf("%q:%.20g", t, float64(w)/(1<<16)))
		}
		fmt.Fprintf(&b, `{"embedding":{"node":%q,"model":%q,"sparse":{%s}}}`+"\n", key, model,
			strings.Join(terms, ","))
	}
	return b.String()
}

// rankSparse is clause 9.7 by the letter.
func (m laneModel) rankSparse(q retrieve.SparseVector, typ string) (hits []source.Hit) {
	most := new(big.Int).SetUint64(1<<64 - 1)
	for at, v := range m.sparse {
		if at[1] != q.Model || typ != "" && m.nodes[at[0]].typ != typ {
			continue
		}
		dot := new(big.Int)
		for _, t := range q.Terms {
			dot.Add(dot, new(big.Int).Mul(big.NewInt(t.Weight), big.NewInt(v[t.Term])))
		}
		if dot.Sign() == 0 {
			continue
		}
		if dot.Cmp(most) > 0 {
			dot.Set(most)
		}
		score := max(1, dot.Rsh(dot, 16).Int64())
		hits = append(hits, source.Hit{ID: graph.NodeID(at[0]), Score: score})
	}
	return inOrder(hits)
}

func inOrder(hits []source.Hit) []source.Hit {
	slices.SortFunc(hits, func(a, b source.Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), a.ID.Compare(b.ID))
	})
	return hits
}

// shareOf is the share of phrases that a node has, by the idf of their terms, in units of 2^-16. A word of a phrase
// that begins with ^ must have a capital in the node.
func (m laneModel) shareOf(t *testing.T, a *text.Analyzer, n laneNode, phrases []string) int64 {
	t.Helper()
	sum, total := int64(0), int64(0)
	for _, p := range phrases {
		idf := m.idfSum(a, a.Terms(strings.ReplaceAll(p, "^", "")))
		total += idf
		content := n.content[:min(len(n.content), 32_768)] // it is ASCII up to there
		if hasPhrase(a, n.summary, p) || hasPhrase(a, content, p) {
			sum += idf
		}
	}
	return sum << 16 / max(total, 1)
}

func hasPhrase(a *text.Analyzer, s, phrase string) bool {
	var words []string
	a.EachWord(s, func(w string, _ bool) bool {
		words = append(words, strings.TrimSuffix(w, "'s"))
		return true
	})
	var capitals []bool
	for _, w := range strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(" -_.", r) }) {
		first := []rune(w)[0]
		capitals = append(capitals, first >= 'A' && first <= 'Z' || first == 'Ö')
	}
	want := strings.Fields(phrase)
	for i := 0; i+len(want) <= len(words); i++ {
		all := true
		for j, w := range want {
			all = all && words[i+j] == strings.TrimPrefix(w, "^") && (capitals[i+j] || w[0] != '^')
		}
		if all {
			return true
		}
	}
	return false
}

// idfSum is Σ idf of clause 9.2 over the terms that a node has.
func (m laneModel) idfSum(a *text.Analyzer, terms []string) (sum int64) {
	for _, term := range terms {
		df := uint64(0)
		for _, n := range m.nodes {
			if slices.Contains(a.Terms(n.summary+" \n "+n.content+" \n "+n.typ), term) {
				df++
			}
		}
		if df > 0 {
			sum += max(1, log2(2*uint64(len(m.nodes))+2)-log2(2*df+1))
		}
	}
	return sum
}

// log2 is L of clause 9.1.
func log2(x uint64) (r int64) {
	for x>>1>>(r>>16) > 0 {
		r += 1 << 16
	}
	m := x << (31 - r>>16)
	for i := 15; i >= 0; i-- {
		if m = m * m >> 31; m >= 1<<32 {
			m >>= 1
			r += 1 << i
		}
	}
	return r
}

// TestLanesModel compares the sparse lane and the entity signal of a recall with the model at every commit of
// a random history, with caches of every size.
func TestLanesModel(t *testing.T) {
	effort.Alone(t)
	t.Parallel()
	rng := rand.New(rand.NewPCG(7, 2))
	found := 0
	for _, size := range []int64{0, 3000, 1} {
		r, err := care.New(t.Context(), mem.New(), repokit.By, core.Options{VectorCache: size})
		must.OK(t, err)
		m := laneModel{map[string]laneNode{}, map[[2]string]map[string]int64{}}
		var snapshots []*core.Snapshot
		var models []laneModel
		for range 8 {
			repokit.Lines(t, r, m.change(rng))
			snapshots, models = append(snapshots, repokit.Head(t, r)), append(models, m.clone())
		}
		for range effort.Pick(15, 40, 40) {
			at := rng.IntN(len(snapshots))
			typ := []string{"", "A"}[rng.IntN(2)]
			found += compareSparse(t, rng, snapshots[at], models[at], typ)
			found += compareSignal(t, rng, snapshots[at], models[at], typ)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
	if found < effort.Pick(300, 1000, 1000) {
		t.Errorf("only %d hits: it proves nothing", found)
	}
}

func compareSparse(
	t *testing.T, rng *rand.Rand, s *core.Snapshot, m laneModel, typ string,
) int {
	t.Helper()
	q := retrieve.SparseVector{Model: []string{"m", "m2", "none"}[rng.IntN(3)]}
	for c := 'a'; c < 'a'+5; c++ {
		if rng.IntN(2) == 0 {
			w := []int64{1, 1 << 10, 1<<31 - 1}[rng.IntN(3)]
			q.Terms = append(q.Terms, graph.Term{Term: string(c), Weight: w})
		}
	}
	if q.Terms == nil {
		return 0
	}
	return compareLane(t, s, retrieve.Request{Sparse: []retrieve.SparseVector{q}}, typ,
		m.rankSparse(q, typ))
}

// compareSignal asks for phrases and returns how many items have one.
func compareSignal(
	t *testing.T, rng *rand.Rand, s *core.Snapshot, m laneModel, typ string,
) (found int) {
	t.Helper()
	var parts, phrases []string
	for part, phrase := range map[string]string{"about Ann Lee": "^ann ^lee", "inc-4711": "inc 4711",
		`"the boat"`: "the boat", "getUser": "getuser", "about Öl": "^ol", `"lee's boats"`: "lee boats"} {
		if rng.IntN(2) == 0 {
			parts, phrases = append(parts, part), append(phrases, phrase)
		}
	}
	if parts == nil {
		return 0
	}
	an, err := text.New("en")
	must.OK(t, err)
	req := retrieve.Request{Text: "so " + strings.Join(parts, " and "), Intent: retrieve.IntentEntity,
		Limit: new(0), Budget: new(0), ExpansionOptions: retrieve.ExpansionOptions{Expand: new(0)}, Floor: retrieve.FloorRest}
	if typ != "" {
		req.Types = []string{typ}
	}
	a, err := rank.Retrieve(t.Context(), s, req)
	must.OK(t, err)
	for _, item := range a.Items {
		want := m.shareOf(t, an, m.nodes[item.Key], phrases)
		if item.Recall.Entity != want {
			t.Fatalf("%q: %s has %d, want %d", req.Text, item.Key, item.Recall.Entity, want)
		}
		if want > 0 {
			found++
		}
	}
	return found
}

// compareLane asks for a lane alone and returns how many nodes it found.
func compareLane(
	t *testing.T, s *core.Snapshot, req retrieve.Request, typ string, want []source.Hit,
) int {
	t.Helper()
	req.Limit, req.Budget, req.Expand, req.Floor = new(0), new(0), new(0), retrieve.FloorRest
	if typ != "" {
		req.Types = []string{typ}
	}
	a, err := rank.Retrieve(t.Context(), s, req)
	must.OK(t, err)
	var got []source.Hit
	for _, item := range a.Items {
		got = append(got, source.Hit{ID: item.ID, Score: item.Score})
	}
	if !slices.Equal(got, want) {
		t.Fatalf("%q %v, type %q:\n%v, want\n%v", req.Text, req.Sparse, typ, got, want)
	}
	return len(want)
}

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
	if err != nil || len(answer.Items) != 2 || answer.Items[0].Key != "a" ||
		len(answer.Items[0].Lanes) < 3 {
		t.Fatalf("%+v, %v", answer, err)
	}
	if _, err := session.Record(t.Context(), r, session.DefaultSession, answer, repokit.By); err != nil {
		t.Fatal(err)
	}
	repokit.Lines(t, r, `{"embedding":{"node":"b","model":"m","sparse":{"y":1}}}`+"\n")
	res, err := session.Replay(t.Context(), r, session.DefaultSession)
	if err != nil || !res.Identical || res.Receipts != 1 {
		t.Errorf("replay %+v, %v", res, err)
	}
	if _, err := care.Purge(t.Context(), r, "a", care.PurgeOptions{Stamp: repokit.By}); err != nil {
		t.Fatal(err)
	}
	s, err := r.At(context.Background(), first.Commit)
	must.OK(t, err)
	if a, err := rank.Retrieve(t.Context(), s, req); err != nil || len(a.Items) != 1 {
		t.Errorf("after the purge: %+v, %v", a, err)
	}
}
