package cli

import (
	"strings"
	"testing"
)

// TestPurgeAsksHidden asks a terminal for the text, once and not before what is wrong with the command
// line was said, and prints it nowhere.
func TestPurgeAsksHidden(t *testing.T) {
	const text = "Quill-Feather-77"
	w := newWorld(t)
	w.run(0, "init")
	w.write("a.jsonl", `{"node":{"key":"a","type":"T","summary":"quill feather 77 opens it"}}`)
	w.run(0, "commit", "-m", "one", "a.jsonl")
	asked := 0
	w.Hidden = func(string) ([]byte, error) {
		asked++
		return []byte(text), nil
	}
	w.run(2, "purge", "-", "--dry-run", "--yes")
	if asked != 0 {
		t.Errorf("asked %d times for a wrong command line", asked)
	}
	stdout, stderr := w.run(0, "purge", "-", "--yes")
	if asked != 1 || strings.Contains(strings.ToLower(stdout+stderr), "feather") {
		t.Errorf("asked %d times, answered %q, %q", asked, stdout, stderr)
	}
	w.run(3, "show", "a")
}
