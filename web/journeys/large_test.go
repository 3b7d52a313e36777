package journeys

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestLarge looks at a memory of many nodes, 100,000 where LARGE is set: how long the first paint and an
// answer take.
func TestLarge(t *testing.T) {
	many := 5_000
	if os.Getenv("LARGE") != "" {
		many = 100_000
	}
	m := empty(t)
	var lines strings.Builder
	for i := range many {
		fmt.Fprintf(&lines, `{"node":{"key":"n/%d","type":"Note","summary":"Memory %d of topic %d, harbour %d"}}`+"\n",
			i, i, i%977, i*7919%1009)
		if i > 0 {
			fmt.Fprintf(&lines, `{"edge":{"type":"next","src":"n/%d","dst":"n/%d"}}`+"\n", i, (i-1)/20)
		}
	}
	mustOK(t, os.WriteFile(filepath.Join(m.dir, "many.jsonl"), []byte(lines.String()), 0o600))
	m.mnem("commit", "-m", "many", "many.jsonl")
	b := inside(t, m)
	b.reads("Last changed")
	paint := get[float64](b, "performance.getEntriesByName('first-contentful-paint')[0].startTime")
	t.Logf("%d nodes: first paint after %.0f ms", many, paint)
	if paint > 1000 {
		t.Errorf("first paint after %.0f ms", paint)
	}
	begin := time.Now()
	b.at("#/search?q=topic+42+harbour")
	b.wait("document.querySelectorAll('.card').length > 3")
	t.Logf("an answer after %v", time.Since(begin))
	b.at("#/browse")
	b.click("a", "More")
	b.wait("location.hash.includes('after=')")
	b.at("#/graph/n%2F0")
	n := b.rest(20)
	for n < 1_200 {
		b.click("button", "Expand all")
		n = b.rest(n)
	}
	b.click("button", "Expand all")
	b.wait("document.querySelector('.graph').innerText.includes('grouped by community')")
	shown := get[int](b, memories)
	if shown > 2_000 {
		t.Errorf("%d memories are drawn", shown)
	}
	b.click(".zoom button", "⤢")
	b.shot("large-graph")
}
