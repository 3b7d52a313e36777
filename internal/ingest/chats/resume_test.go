package chats

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/must"
)

// TestResume reads a file that grows a line at a time, each time from the returned position: the last version of each
// turn and session equals that of a single reading.
func TestResume(t *testing.T) {
	for _, c := range []struct{ format, file string }{
		{"claude-code", "claude-code.jsonl"}, {"codex", "codex.jsonl"}, {"codex", "codex-old.jsonl"},
		{"claude-code", "claude-code-more.jsonl"},
	} {
		t.Run(c.file, func(t *testing.T) {
			data := must.Get(os.ReadFile("testdata/" + c.file))(t)
			whole, grown := &latest{last: map[string]any{}}, &latest{last: map[string]any{}}
			must.OK(t, Read(c.format, "", bytes.NewReader(data), whole))
			var at Position
			reads := 0
			for n := 1; n <= len(data); n++ {
				if data[n-1] != '\n' && n < len(data) {
					continue
				}
				next, err := Resume(c.format, bytes.NewReader(data[at.Offset:n]), at, 0, grown)
				must.Require(t, err == nil && next.Read == int64(n) && !next.More,
					"%d bytes: %+v, %v", n, next, err)
				at, reads = next, reads+1
			}
			must.Require(t, reads >= 3 && len(whole.order) >= 3 && at.Offset != 0,
				"%d reads, %d records, at %+v", reads, len(whole.order), at)
			must.Same(t, grown.last, whole.last)
			few, bounded := Position{}, &latest{last: map[string]any{}}
			for more := true; more; more = few.More {
				few = must.Get(Resume(c.format, bytes.NewReader(data[few.Offset:]), few, 1, bounded))(t)
			}
			must.Same(t, bounded.last, whole.last)
		})
	}
}

// TestTakenBack takes back turns of an earlier reading: they are reported, and the next turn follows the last one that
// stays.
func TestTakenBack(t *testing.T) {
	line := func(role, text string) string {
		return `{"timestamp":"2026-01-01T00:00:00Z","type":"response_item","payload":{"type":"message","role":"` + role +
			`","content":"` + text + `"}}` + "\n"
	}
	first := `{"type":"session_meta","payload":{"id":"s"}}` + "\n" + line("user", "a") + line("assistant", "b") +
		line("user", "c") + line("assistant", "d")
	r := &recorder{}
	at, err := Resume("codex", strings.NewReader(first), Position{}, 0, r)
	must.Require(t, err == nil && len(r.lines) == 5, "%v: %q", err, r.lines)
	all := first + `{"type":"event_msg","payload":{"type":"thread_rolled_back","num_turns":1}}` + "\n" + line("user", "e")
	again := &recorder{turns: r.turns}
	must.Get(Resume("codex", strings.NewReader(all[at.Offset:]), at, 0, again))(t)
	whole := &recorder{}
	must.OK(t, Read("codex", "", strings.NewReader(all), whole))
	must.Check(t, len(whole.lines) == 6 && strings.Count(strings.Join(whole.lines, ""), `"Left":true`) == 2,
		"as a whole: %q", whole.lines)
	// The turn that was in the making comes again, now left; of that before it only the id is known.
	if len(again.lines) != 4 || !strings.HasPrefix(again.lines[0], "left ") || again.lines[2] != whole.lines[4] {
		t.Errorf("resumed: %q\nwhole: %q", again.lines, whole.lines)
	}
}

// latest keeps the last version of each turn and session.
type latest struct {
	recorder
	last  map[string]any
	order []string
}

func (l *latest) Turn(t *Turn) error {
	one := *t
	one.Calls = slices.Clone(t.Calls)
	l.last["turn "+t.ID], l.order = one, append(l.order, t.ID)
	return nil
}

func (l *latest) Session(s *Session) error {
	l.last["session "+s.ID], l.order = *s, append(l.order, s.ID)
	return nil
}
