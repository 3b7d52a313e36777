//go:build unix

package cli

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/mnem-project/mnem/internal/door/settings"
	"github.com/mnem-project/mnem/internal/verb/operation"
)

// TestAccessesInAPipe: whatever stands where accesses are counted, answers come and say so.
func TestAccessesInAPipe(t *testing.T) {
	w := newWorld(t)
	w.init()
	w.write("n.jsonl", `{"node":{"key":"tea","type":"Fact","summary":"Carol drinks tea"}}`+"\n")
	w.run(0, "commit", "-m", "tea", "n.jsonl")
	w.run(0, "config", "set", settings.AccessKey, "true")
	if err := syscall.Mkfifo(filepath.Join(w.Dir, ".mnem", "access.json"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, stderr := w.run(0, "retrieve", "tea")
	if !strings.Contains(out, "Carol drinks tea") || !strings.Contains(stderr, "not counted") {
		t.Errorf("stdout %q, stderr %q", out, stderr)
	}
	w.run(operation.Corrupt.Exit, "show", "tea", "--importance")
}
