package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/mnem-project/mnem/internal/door/verbs"
	"github.com/mnem-project/mnem/internal/verb/operation"
)

// TestGraceIsByTheClock: what was removed a moment ago is brought back, whatever times were given
// since, to changes and to gc itself.
func TestGraceIsByTheClock(t *testing.T) {
	for _, given := range []string{"1990-01-01", "2190-01-01"} {
		w := newWorld(t)
		w.init()
		w.write("a.jsonl", aliceLine)
		w.run(0, "commit", "-m", "one", "a.jsonl")
		w.run(0, "switch", "-c", "gone")
		w.write("b.jsonl", `{"node":{"key":"bob","type":"Person"}}`)
		w.run(0, "commit", "-m", "two", "b.jsonl")
		w.run(0, "switch", "main")
		w.run(0, "branch", "--delete", "--force", "gone")
		for _, name := range []string{"carol", "dave", "erin", "frank"} {
			w.run(0, "remember", "The disk belongs to "+name, "--time", given)
		}
		w.run(0, "gc", "--keep", "3", "--time", given)
		w.run(0, "show", "bob", "--at", "gone@{op:4}")
	}
}

// TestAutomaticGCKeepsTheGrace: a caller of a server, who may not collect, ends no grace by writing
// much, whatever is configured; the owner does.
func TestAutomaticGCKeepsTheGrace(t *testing.T) {
	w := newWorld(t)
	w.init()
	w.run(0, "config", "set", "gc.grace", "0s")
	w.run(0, "config", "set", "gc.keepOps", "0")
	w.run(0, "remember", "Alice leads infra")
	w.run(0, "config", "set", "gc.keepOps", "2")
	var remember operation.Operation
	for _, o := range verbs.Operations() {
		if o.Name == "remember" {
			remember = o
		}
	}
	runner := verbs.NewRunner(w.App, false)
	for n := range 12 {
		text, err := json.Marshal(fmt.Sprintf("Server %d has %d disks", n, n+3))
		if err != nil {
			t.Fatal(err)
		}
		_, err = runner.Run(w.ctx, operation.Call{
			Operation: &remember, Args: map[string]json.RawMessage{"text": text},
		}, io.Discard)
		if err != nil {
			t.Fatal(err)
		}
	}
	w.run(0, "op", "show", "2")
	w.run(0, "remember", "Agents do not collect", "--agent", "codex") // without a policy they do
	w.run(3, "op", "show", "2")
}

// TestDoctorNamesClocksAhead looks at a repository in which an operation was recorded by a clock that
// was ahead.
func TestDoctorNamesClocksAhead(t *testing.T) {
	const warning = "warning  clock        operation"
	w := newWorld(t)
	w.init()
	now := time.Now()
	for _, tt := range []struct {
		ahead time.Duration
		want  bool
	}{{0, false}, {23 * time.Hour, false}, {49 * time.Hour, true}} {
		w.Now = func() time.Time { return now.Add(tt.ahead) }
		w.run(0, "remember", fmt.Sprint("Written ahead by ", tt.ahead))
		w.Now = func() time.Time { return now }
		out, _ := w.run(0, "doctor")
		if got := strings.Contains(out, warning); got != tt.want {
			t.Errorf("ahead by %s: warned %v, want %v\n%s", tt.ahead, got, tt.want, out)
		}
	}
}
