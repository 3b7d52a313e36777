package evaluate_test

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/evaluate"
	"github.com/mnem-project/mnem/internal/testkit/cases"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/retrieve"
)

func TestReadQueries(t *testing.T) {
	const text = "\n" + `{"qid":"a","text":"who?","gold":["x"],"meta":{"from":1}}` + "\r\n \n" +
		`{"qid":"b","cat":"c","text":"when?","gold":["S:1","S:2"],"gold_sessions":["S"],` +
		`"limit":50,"valid-at":"2025-01-01"}`
	got, err := evaluate.ReadQueries(strings.NewReader(text), "q", retrieve.Request{Limit: new(99)})
	must.Require(t, err == nil && len(got) == 2, "%d queries, %v", len(got), err)
	a, b := got[0], got[1]
	if a.ID != "a" || a.Category != "" || a.Line != 2 || *a.Request.Limit != 99 ||
		len(a.Gold) != 1 || a.Gold[0] != graph.NodeID("x") || a.Sessions != nil {
		t.Errorf("first: %+v", a)
	}
	if b.Category != "c" || b.Line != 4 || *b.Request.Limit != 50 || len(b.Gold) != 2 ||
		len(b.Sessions) != 1 || !b.Request.ValidAt.Given {
		t.Errorf("second: %+v", b)
	}
}

// TestReadQueriesRefuses freezes why second lines are refused.
func TestReadQueriesRefuses(t *testing.T) {
	refused := func(t testing.TB, line string) string {
		t.Helper()
		text := `{"qid":"ok","text":"t","gold":["x"]}` + "\n" + line
		_, err := evaluate.ReadQueries(strings.NewReader(text), "q", retrieve.Request{})
		var at *graph.LineError
		must.Require(t, errors.As(err, &at) && at.File == "q" && at.Line == 2,
			"%.80s: error %v, want one in line 2", line, err)
		return err.Error()
	}
	cases.Golden(t, filepath.Join("testdata", "queries-refused.jsonl"), func(t testing.TB, c cases.Case) any {
		var line string
		cases.Parse(t, c.Input, &line)
		return refused(t, line)
	})
	long := refused(t, `{"qid":"a","text":"`+strings.Repeat("t", 1<<20)+`"}`)
	must.Equal(t, long, "q:2: line of more than 1048576 bytes")
}

// TestReadQueriesIsBounded reads files that never end.
func TestReadQueriesIsBounded(t *testing.T) {
	long := fmt.Sprintf(`{"qid":"a","text":"t","gold":["x"],"meta":"%s"}`+"\n",
		strings.Repeat("m", 1<<19))
	for line, want := range map[string]string{
		long: "file of more than 16777216 bytes",
		"\n": "file of more than 16777216 bytes",
		`{"qid":"a","text":"t","gold":["x"]}` + "\n": "more than 100000 queries in one file",
		"x": "q:1: line of more than 1048576 bytes",
	} {
		in := &endless{line: line}
		_, err := evaluate.ReadQueries(in, "q", retrieve.Request{})
		must.True(t, err != nil && strings.Contains(err.Error(), want), "error %v, want %q", err, want)
		must.True(t, in.read <= 17<<20, "%s: read %d bytes", want, in.read)
	}
}

// endless repeats a line for ever.
type endless struct {
	line string
	read int
}

func (r *endless) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		n += copy(p[n:], r.line[(r.read+n)%len(r.line):])
	}
	r.read += n
	return n, nil
}

func TestReadQueriesPassesErrorsOn(t *testing.T) {
	broken := errors.New("broken")
	in := io.MultiReader(strings.NewReader("\n\n"), &failing{broken})
	must.Fail(t, must.Err(evaluate.ReadQueries(in, "q", retrieve.Request{})), broken)
}

type failing struct{ err error }

func (f *failing) Read([]byte) (int, error) { return 0, f.err }
