package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/mnem-project/mnem/internal/testkit/effort"
)

// sayAt adds a turn of a time to the transcript.
func (h *hostProgram) sayAt(at time.Time, text string) {
	h.t.Helper()
	h.turns++
	f, err := os.OpenFile(h.transcript, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = fmt.Fprintf(f, `{"type":"user","uuid":"u%d","sessionId":"s1","timestamp":%q,"message":{"content":%q}}`+"\n",
			h.turns, at.Format(time.RFC3339), text)
	}
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		h.t.Fatal(err)
	}
}

// shownTurns are the numbers of the turns that are in sight.
func (h *hostProgram) shownTurns() string {
	h.t.Helper()
	out, _ := h.run(0, "ls", "--type", "Turn", "--json", "--at", "HEAD")
	var got struct{ Nodes []struct{ Key string } }
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		h.t.Fatal(err)
	}
	var all strings.Builder
	for i := 1; i <= h.turns; i++ {
		for _, n := range got.Nodes {
			if n.Key == fmt.Sprintf("turn/claude-code/u%d", i) {
				fmt.Fprintf(&all, "%d ", i)
			}
		}
	}
	return strings.TrimSpace(all.String())
}

// captured takes in what there is at a time.
func (h *hostProgram) captured(now time.Time, args ...string) (got struct {
	Turns, Retired int
	Commit         *string
}) {
	h.t.Helper()
	h.env["SOURCE_DATE_EPOCH"] = fmt.Sprint(now.Unix())
	out, _ := h.run(0, append([]string{"capture", "--json"}, args...)...)
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		h.t.Fatal(err)
	}
	return got
}

func wants(t *testing.T, what string, got, want any) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// TestRetireOld retires turns that are 90 days old in the commit of new ones, once: what is restored stays.
func TestRetireOld(t *testing.T) {
	h := newHostProgram(t)
	day := func(n int) time.Time { return time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC).AddDate(0, 0, n) }
	for n := range 3 {
		h.sayAt(day(n), fmt.Sprintf("Thing %d was said.", n+1))
	}
	h.write("own.jsonl", `{"node":{"key":"turn/chatgpt/x","type":"Turn","summary":"old","created":"2020-01-01T00:00:00Z"}}`+"\n")
	h.run(0, "commit", "-m", "of another program", "own.jsonl")
	h.hook("stop", "")
	wants(t, "taken in", h.captured(day(3)).Turns, 3)
	h.run(0, "pin", "turn/claude-code/u2")
	h.sayAt(day(91), "Much later.")
	h.hook("stop", "")
	got := h.captured(day(91))
	wants(t, "retired", got.Retired, 1)
	wants(t, "in sight", h.shownTurns(), "2 3 4")
	if out, _ := h.run(0, "log", "-n", "1"); !strings.Contains(out, "capture 1 turns of 1 sessions, retire 1") {
		t.Errorf("the commit: %s", out)
	}
	if out, _ := h.run(0, "ls", "--type", "Turn", "--at", "HEAD"); !strings.Contains(out, "turn/chatgpt/x") {
		t.Errorf("what was ingested is retired: %s", out)
	}
	h.run(0, "restore", "turn/claude-code/u1")
	wants(t, "restored", h.shownTurns(), "1 2 3 4")
	h.sayAt(day(95), "Later still.")
	h.hook("stop", "")
	wants(t, "retired then", h.captured(day(95)).Retired, 1)
	wants(t, "in sight", h.shownTurns(), "1 2 4 5")
	h.run(0, "undo", "@") // undo without a name passes over captures
	wants(t, "undone", h.shownTurns(), "1 2 3 4")
	h.run(0, "config", "set", "capture.keepDays", "0")
	h.sayAt(day(900), "In the end.")
	h.hook("stop", "")
	wants(t, "retired of all that are kept", h.captured(day(900)).Retired, 0)
}

// TestRetireByHand retires all at once, or tells how many there are.
func TestRetireByHand(t *testing.T) {
	effort.Alone(t)
	t.Parallel()
	h := newHostProgram(t)
	day := func(n int) time.Time { return time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC).AddDate(0, 0, n) }
	wants(t, "of nothing", h.captured(day(0), "--retire").Retired, 0)
	for n := range 1200 { // more than a run looks at
		h.sayAt(day(0), fmt.Sprintf("Thing %d was said.", n+1))
	}
	h.hook("stop", "")
	wants(t, "taken in", h.captured(day(3)).Turns, 1200)
	before := h.shownTurns()
	got := h.captured(day(100), "--retire", "--dry-run")
	wants(t, "would be retired", got.Retired, 1200)
	wants(t, "in sight after a trial", h.shownTurns(), before)
	h.sayAt(day(100), "Later.")
	h.hook("stop", "")
	if some := h.captured(day(100)); some.Turns != 1 || some.Retired == 0 || some.Retired > 500 {
		t.Errorf("in one run: %+v", some)
	}
	if got = h.captured(day(100), "--retire"); got.Retired < 700 || got.Commit == nil {
		t.Errorf("by hand: %+v", got)
	}
	wants(t, "in sight", h.shownTurns(), "1201")
	if got = h.captured(day(100), "--retire"); got.Retired != 0 || got.Commit != nil {
		t.Errorf("again: %+v", got)
	}
	if out, _ := h.run(0, "capture", "--retire"); out != "0 turns retired\n" {
		t.Errorf("said: %q", out)
	}
	h.run(2, "capture", "--dry-run")
	h.run(2, "capture", "--retire", "--some")
	for _, bad := range []string{"-1", "x", "1e9", "365001"} {
		h.env["MNEM_CAPTURE_KEEP_DAYS"] = bad
		h.run(1, "capture")
		h.run(1, "config", "set", "capture.keepDays", "--", bad)
	}
}
