package cli

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestPin pins and unpins, each once, and refuses what is no node.
func TestPin(t *testing.T) {
	w := newWorld(t)
	w.init()
	w.write("a.jsonl", `{"node":{"key":"a","type":"Rule","summary":"Say why","props":{"pinned":"yes"}}}`+"\n"+
		`{"node":{"key":"b","type":"Rule","summary":"Say how"}}`+"\n")
	w.run(0, "commit", "-m", "rules", "a.jsonl")
	do := func(changed, already int, args ...string) {
		t.Helper()
		var got struct {
			Changed, Already []string
			NoChange         bool `json:"no_change"`
		}
		out, _ := w.run(0, append(args, "--json")...)
		err := json.Unmarshal([]byte(out), &got)
		if err != nil || len(got.Changed) != changed || len(got.Already) != already || got.NoChange != (changed == 0) {
			t.Errorf("%q: %s, %v", args, out, err)
		}
	}
	pinned := func(want int) {
		t.Helper()
		if out, _ := w.run(0, "ls", "--where", "pinned = true"); strings.Count(out, "Rule") != want {
			t.Errorf("%d want to be pinned: %s", want, out)
		}
	}
	pinned(0)
	do(2, 0, "pin", "a", "b", "b", "--dry-run")
	pinned(0)
	do(2, 0, "pin", "a", "b", "b") // what only looks pinned is pinned
	do(0, 2, "pin", "a", "b")
	pinned(2)
	do(1, 0, "pin", "a", "--remove")
	do(0, 1, "pin", "a", "--remove")
	pinned(1)
	w.run(0, "undo")
	pinned(2)
	if _, errs := w.run(3, "pin", "a", "nobody"); !strings.Contains(errs, "nobody") {
		t.Errorf("the error does not name what is not there: %s", errs)
	}
	pinned(2)
	w.run(2, "pin")
}
