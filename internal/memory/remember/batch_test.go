package remember

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

// The second of two batches of 1,000 texts that resemble each other, and all that was decided about both.
const (
	goldenBatch     = "bafyreiccldur43sfe2zpylxea2n5cqcjqgh2s6lcc3qha5d6elkltjjdqa"
	goldenDecisions = "bdd919c15b6970e6"
)

// topics are the subjects of the texts in batches.
var topics = strings.Fields("billing search login backup gateway cache queue mail report invoice " +
	"cluster deploy metrics storage network audit export import session profile")

// sentence returns the nth text: unique names and numbers among common words.
func sentence(i int) string {
	return fmt.Sprintf("The %s service of tenant t%d moved to host h%d in rack %d because the %s team "+
		"of customer c%d needed %d GB for its %s", topics[i%20], i/7, i*31%9973, i%97, topics[i*7%20],
		i*13%4999, i%512, topics[i*11%20])
}

// sentences returns n requests for the texts of sentence.
func sentences(from, n int) []Request {
	reqs := make([]Request, n)
	for i := range reqs {
		reqs[i].Text = sentence(from + i)
	}
	return reqs
}

// TestBatch pins the decisions and writes of two batches, and bounds the allocations for each memory. In the second
// batch each memory is compared with up to sixteen others.
func TestBatch(t *testing.T) {
	const items = 1000
	r := must.Get(care.Init(t.Context(), t.TempDir(), linkBy, core.Options{}))(t)
	defer func() {
		must.OK(t, r.Close())
	}()
	m, decisions, last := New(r), sha256.New(), ""
	for n, most := range []uint64{850, 1350} { // objects for each memory
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		res, err := m.RememberAll(t.Context(), rememberAt(n), sentences(n*items, items))
		runtime.ReadMemStats(&after)
		must.OK(t, err)
		objects := (after.Mallocs - before.Mallocs) / items
		t.Logf("batch %d: %d objects, %d bytes each", n, objects, (after.TotalAlloc-before.TotalAlloc)/items)
		must.Check(t, objects <= most || effort.Race,
			"batch %d: %d objects for each memory, want at most %d", n, objects, most)
		told := must.Get(json.Marshal(res))(t)
		decisions.Write(told)
		last = res.Commit.String()
	}
	must.Equal(t, last, goldenBatch, "commit")
	must.Equal(t, hex.EncodeToString(decisions.Sum(nil)[:8]), goldenDecisions, "commit")
}

// TestBareShapes holds the short ways of a log line and an identifier against their expressions.
func TestBareShapes(t *testing.T) {
	identifier, log := bareIdentifier(), logLine()
	lines := 0
	for _, s := range []string{
		"", "x", "2024-01-02 10:11:12 started", "[2024-01-02T10:11:12Z] up", "INFO: all well", "warn here", "Warned by me",
		"DEBUG]x", "error at line", "errors are many", "fatal\tflaw", "Trace it", "  at main.go(12)", "\tat x(", " at x",
		"the job ended with exit code 12", "the job ended with EXIT STATUS 1", "got HTTP/1.1 back", "exits code 1",
		"a1", "deadbeef", "dead-beef-1234", "no blanks?", "né1", "1 2", strings.Repeat("é", 90) + "exit code 1",
		"The quick brown fox", "In time", "treaty", "desk", "father", "waffle", "\u00a0at x(1",
	} {
		if got, want := isLogLine(s), log.MatchString(s); got != want {
			t.Errorf("%q: log line %t, want %t", s, got, want)
		} else if got {
			lines++
		}
		got, want := isBare(s), identifier.MatchString(s)
		must.Check(t, got == want, "%q: identifier %t, want %t", s, got, want)
	}
	must.Check(t, lines >= 8, "%d log lines", lines)
}
