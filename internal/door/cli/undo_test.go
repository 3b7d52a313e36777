package cli

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestUndoAfterCapture has a read take in what a hook noted after a fact was remembered: undo takes back the fact, and
// names the capture, which stays.
func TestUndoAfterCapture(t *testing.T) {
	h := newHostProgram(t)
	h.run(0, "remember", "We moved billing to Stripe", "--type", "decision")
	h.say("please fix the flaky parser test")
	h.hook("stop", "")
	if out, _ := h.run(0, "recall", "billing"); !strings.Contains(out, "Stripe") {
		t.Fatalf("recall: %s", out)
	}
	out, _ := h.run(0, "undo")
	if !strings.HasPrefix(out, "undone operation 2 (remember)\n") ||
		!strings.Contains(out, "  passed over 1 operation: 1 capture\n") {
		t.Errorf("undo: %s", out)
	}
	listed := func(fact, turns bool) {
		t.Helper()
		out, _ := h.run(0, "ls", "--all")
		if strings.Contains(out, "Stripe") != fact || strings.Contains(out, "flaky parser") != turns {
			t.Errorf("want the fact %v, turns %v: %s", fact, turns, out)
		}
	}
	listed(false, true)

	// another turn, and redo
	h.say("and paint the crane")
	h.hook("stop", "")
	listed(false, true)
	if out, _ := h.run(0, "undo", "--redo"); !strings.HasPrefix(out, "redone operation 2 (remember)\n") {
		t.Errorf("redo: %s", out)
	}
	listed(true, true)
	if out, _ := h.run(0, "ls", "--all"); !strings.Contains(out, "paint the crane") {
		t.Errorf("the turn after the undo is lost: %s", out)
	}

	var got struct {
		Of      struct{ Seq int }
		Skipped []struct {
			Seq     int
			Command []string
		}
	}
	out, _ = h.run(0, "undo", "--json")
	if err := json.Unmarshal([]byte(out), &got); err != nil || got.Of.Seq != 2 || len(got.Skipped) != 2 ||
		got.Skipped[0].Command[0] != "capture" {
		t.Errorf("%s, %v", out, err)
	}
	if _, said := h.run(1, "undo"); !strings.Contains(said, "taken back by number") {
		t.Errorf("nothing to undo: %s", said)
	}

	// by number a capture is taken back like anything else
	h.say("a turn that nobody wants")
	h.hook("stop", "")
	h.run(0, "ls")
	if out, _ := h.run(0, "undo", "@"); !strings.HasPrefix(out, "undone operation 8 (capture)\n") {
		t.Errorf("undo by number: %s", out)
	}
	if out, _ := h.run(0, "ls"); strings.Contains(out, "nobody wants") {
		t.Errorf("the capture is still there: %s", out)
	}
}
