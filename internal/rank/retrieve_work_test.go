package rank_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/rank"
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
		must.Check(t, blocks <= usual+mostBlocks && allocs <= mostAllocs && bytes <= mostBytes,
			"%s: %d blocks, %d of them usual, %d allocations, %d bytes", name, blocks, usual, allocs, bytes)
	}
}

// of 8,000 nodes 101 and 1,194
