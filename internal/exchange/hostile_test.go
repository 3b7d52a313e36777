package exchange_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/adjacency"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/rank"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
	"github.com/mnem-project/mnem/retrieve"
)

// endless is a line of n bytes that is never in memory.
type endless struct {
	begin string
	n     int
	read  int
}

func (e *endless) Read(p []byte) (int, error) {
	if e.read >= e.n {
		return 0, io.EOF
	}
	n := min(len(p), e.n-e.read)
	for i := range n {
		p[i] = 'x'
	}
	if e.read < len(e.begin) {
		copy(p[:n], e.begin[e.read:])
	}
	e.read += n
	return n, nil
}

// TestHugeLine commits a line of 100 MB: it is refused without being read into memory.
func TestHugeLine(t *testing.T) {
	r := repokit.OpenMem(t)
	before := repokit.Lines(t, r, repokit.TwoPeople)
	in := &endless{begin: `{"node":{"key":"x","type":"T","summary":"`, n: 100_000_000}
	var m0, m1 runtime.MemStats
	runtime.ReadMemStats(&m0)
	_, err := r.Commit(t.Context(), state.ReadChanges(bufio.NewReader(in), "huge.jsonl"),
		core.CommitOptions{Stamp: repokit.By})
	runtime.ReadMemStats(&m1)
	var at *graph.LineError
	must.True(t, errors.As(err, &at) && at.Line == 1 && at.File == "huge.jsonl", "error %v", err)
	used := m1.TotalAlloc - m0.TotalAlloc
	must.True(t, used <= 8*graph.MaxLine, "%d bytes allocated to refuse a line", used)
	must.True(t, in.read <= 2*graph.MaxLine, "%d bytes read of a line over %d", in.read, graph.MaxLine)
	must.Equal(t, repokit.Head(t, r).CID(), before.Commit, "the branch moved")
}

// TestHostileLines commits good lines with one hostile line between them.
func TestHostileLines(t *testing.T) {
	r := repokit.OpenMem(t)
	before := repokit.Lines(t, r, repokit.TwoPeople)
	deep := strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000)
	objects := strings.Repeat(`{"a":`, 100_000) + "1" + strings.Repeat("}", 100_000)
	long := strings.Repeat("s", graph.MaxLine)
	// Each value is within its bound; the record of both is not.
	large := fmt.Sprintf(`"a":%q,"b":%q`, strings.Repeat("x", 600_000), strings.Repeat("y", 600_000))
	for name, line := range map[string]string{
		"nested lists":         `{"node":{"key":"x","type":"T","props":{"a":` + deep + `}}}`,
		"nested maps":          `{"node":{"key":"x","type":"T","props":{"a":` + objects + `}}}`,
		"only brackets":        deep,
		"an open list":         strings.Repeat("[", 100_000),
		"NUL in a type":        `{"node":{"key":"x","type":"T\u0000"}}`,
		"NUL in an edge type":  `{"edge":{"type":"e\u0000","src":"alice","dst":"alice"}}`,
		"NUL in a key":         `{"node":{"key":"x\u0000","type":"T"}}`,
		"invalid UTF-8":        "{\"node\":{\"key\":\"x\",\"type\":\"T\",\"summary\":\"\xff\"}}",
		"overlong UTF-8":       "{\"node\":{\"key\":\"x\",\"type\":\"T\",\"summary\":\"\xc0\xaf\"}}",
		"lone surrogate":       `{"node":{"key":"x","type":"T","summary":"\ud800"}}`,
		"raw control":          "{\"node\":{\"key\":\"x\",\"type\":\"T\",\"summary\":\"a\x01b\"}}",
		"member twice":         `{"node":{"key":"x","type":"T","type":"T"}}`,
		"escaped member twice": `{"node":{"key":"x","type":"T","\u0074ype":"U"}}`,
		"property twice":       `{"node":{"key":"x","type":"T","props":{"a":1,"a":1}}}`,
		"two changes":          `{"node":{"key":"x","type":"T"},"edge":{"type":"e","src":"x","dst":"x"}}`,
		"two values":           `{"node":{"key":"x","type":"T"}} {"node":{"key":"y","type":"T"}}`,
		"record over 1 MiB":    `{"node":{"key":"x","type":"T","props":{` + large + `}}}`,
		"line over the limit":  `{"node":{"key":"x","type":"T","summary":"` + long + `"}}`,
		"integer too large":    `{"node":{"key":"x","type":"T","props":{"n":9223372036854775808}}}`,
		"float too large":      `{"node":{"key":"x","type":"T","props":{"n":1e999}}}`,
		"not a number":         `{"node":{"key":"x","type":"T","props":{"n":NaN}}}`,
		"time out of range":    `{"node":{"key":"x","type":"T","created":"10000-01-01"}}`,
		"key like an id":       `{"node":{"key":"00000000-0000-4000-8000-000000000000","type":"T"}}`,
		"byte order mark":      "\ufeff" + `{"node":{"key":"x","type":"T"}}`,
		"evil reference":       `{"edge":{"type":"e\u001b[2J","src":"gh\nost\u001b[2J","dst":"alice"}}`,
		"evil removal":         `{"remove":{"node":"gh\nost\u001b[2J\u202e"}}`,
		"evil member":          `{"node":{"key":"x","type":"T","su\nm\u001b[2J":"s"}}`,
		"weight of zero":       `{"edge":{"type":"e","src":"alice","dst":"alice","weight":0}}`,
		"weight above one":     `{"edge":{"type":"e","src":"alice","dst":"alice","weight":1.1}}`,
	} {
		t.Run(name, func(t *testing.T) {
			text := `{"node":{"key":"good","type":"T"}}` + "\n" + line + "\n" +
				`{"node":{"key":"also","type":"T"}}` + "\n"
			_, err := repokit.TryLines(r, text)
			var at *graph.LineError
			must.Require(t, errors.As(err, &at) && at.Line == 2 && errors.Is(err, graph.ErrInvalid),
				"error %v is not about line 2", err)
			if message := err.Error(); len(message) > 1000 || strings.ContainsAny(message, "\x1b\n\x00") {
				t.Errorf("error of %d bytes: %.300q", len(message), message)
			}
			must.Equal(t, repokit.Head(t, r).CID(), before.Commit, "the branch moved")
		})
	}
}

// TestHub commits, renders and removes a node with many edges.
func TestHub(t *testing.T) {
	effort.Alone(t)
	n := effort.Pick(3_000, 10_000, 100_000)
	r := must.Get(care.New(t.Context(), mem.New(), repokit.By, core.Options{}))(t)
	res := repokit.Lines(t, r, repokit.HubLines(n))
	must.Require(t, res.Nodes.Added == n+1 && res.Edges.Added == n, "%+v", res)
	s := repokit.Head(t, r)
	degree, err := s.Adjacency().Degree(t.Context(), graph.NodeID("hub"), adjacency.Out, "")
	must.True(t, err == nil && degree == uint64(n), "degree %d, %v", degree, err)
	answer, err := rank.Retrieve(t.Context(), s, retrieve.Request{Text: "centre",
		OutputOptions: retrieve.OutputOptions{Adjacency: 3},
		Limit:         new(1)})
	must.Require(t, err == nil && len(answer.Items) == 1, "%+v, %v", answer, err)
	text := answer.Items[0].Rendered
	got := strings.Count(text, "  to -> ")
	must.True(t, got == 3 && strings.Contains(text, fmt.Sprintf("  ... (+%d more)\n", n-3)),
		"%d edges rendered:\n%s", got, text)
	must.OK(t, repokit.QuickClean(r))
	gone := repokit.Lines(t, r, `{"remove":{"node":"hub"}}`)
	must.True(t, gone.Nodes.Removed == 1 && gone.Edges.Removed == n, "%+v", gone)
	must.Equal(t, repokit.Sizes(repokit.Head(t, r)), [4]uint64{uint64(n), 0, 0, 0}, "sizes")
	must.OK(t, repokit.QuickClean(r))
}
