package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/verb/outlining"
)

// TestRebuildModelStopped: texts that a model wrote are kept whatever ends the run.
func TestRebuildModelStopped(t *testing.T) {
	w, f := modelWorld(t, 4)
	text := `{"node":{"key":"p","type":"Project","summary":"Project of facts."}}` + "\n"
	for i := range 4 {
		text += fmt.Sprintf(`{"node":{"key":"f%d","type":"T","summary":"fact %d of it"}}`+"\n"+
			`{"edge":{"type":"part-of","src":"f%d","dst":"p"}}`+"\n", i, i, i)
	}
	w.write("more.jsonl", text)
	w.run(0, "commit", "-m", "more", "more.jsonl")
	f.Said = "fact 0, fact 1 and fact 3"
	before, ctx := w.head(), w.ctx
	stopped, cancel := context.WithCancel(ctx)
	w.ctx, f.Asked = stopped, func(n int) {
		if n == 2 {
			cancel()
		}
	}
	_, stderr := w.run(130, "map", "--rebuild", "--model=ollama:m")
	w.ctx, f.Asked = ctx, nil
	must.True(t, strings.Contains(stderr, "1 text kept") && w.head() != before, "nothing was kept: %s", stderr)
	asked := f.Requests
	out, _ := w.run(0, "map", "--rebuild", "--model=ollama:m", "--json")
	var got outlining.MapAnswer
	if err := json.Unmarshal([]byte(out), &got); err != nil || got.Rebuilt.Written.Calls == 0 ||
		f.Requests-asked != got.Rebuilt.Written.Calls {
		t.Errorf("%v: %s, %d requests", err, out, f.Requests-asked)
	}
}
