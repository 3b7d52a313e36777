package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// given is one entry of the answer of last.
type given struct {
	Time, Session, Host, Event string
	Commit, Query, SHA256      *string
	Receipt, Why               *string
	Tokens                     int
	Exact                      bool
	Items                      []struct {
		ID, Type string
		Key      *string
		Tokens   int
		Rendered *string
	}
}

func (h *hostProgram) last(args ...string) (list []given) {
	h.t.Helper()
	out, errs := h.run(0, append([]string{"session", "last", "--json"}, args...)...)
	if errs != "" {
		h.t.Errorf("last %q says %q", args, errs)
	}
	for text := range strings.Lines(out) {
		var g given
		if err := json.Unmarshal([]byte(text), &g); err != nil {
			h.t.Fatalf("%q: %v", text, err)
		}
		list = append(list, g)
	}
	return list
}

// spooled is all that the files of the spool hold.
func (h *hostProgram) spooled() string {
	h.t.Helper()
	var all strings.Builder
	list, err := os.ReadDir(filepath.Join(h.Dir, ".mnem", "spool"))
	if err != nil {
		h.t.Fatal(err)
	}
	for _, e := range list {
		data, err := os.ReadFile(filepath.Join(h.Dir, ".mnem", "spool", e.Name()))
		if err != nil {
			h.t.Fatal(err)
		}
		all.Write(data)
	}
	return all.String()
}

// TestLast tells what hooks gave an agent, with receipts that can be replayed.
func TestLast(t *testing.T) {
	h := newHostProgram(t)
	now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	h.Now = func() time.Time { now = now.Add(time.Second); return now }
	h.run(0, "remember", "The harbour crane needs a permit of the port authority", "--cue", "may I use the harbour crane?")
	if list := h.last(); len(list) != 0 {
		t.Errorf("something was given before any hook: %+v", list)
	}
	ask := "May I use the harbour crane? The token is ghp_" + strings.Repeat("a1B2c3D4", 4) + "abcd"
	text := h.told("prompt", ask)
	if !strings.Contains(text, "permit") {
		t.Fatalf("told %q", text)
	}
	before, _ := h.run(0, "op", "log")
	list := h.last()
	if len(list) != 1 {
		t.Fatalf("last: %+v", list)
	}
	g := list[0]
	if g.Session != "hook/claude-code/s1" || g.Host != "claude-code" || g.Event != "prompt" || !g.Exact ||
		g.Commit == nil || g.Receipt == nil || g.SHA256 == nil || g.Tokens == 0 || len(g.Items) != 1 ||
		g.Query == nil || *g.Query != "May I use the harbour crane?" {
		t.Errorf("last: %+v", g)
	}
	if g.Items[0].Rendered == nil || !strings.Contains(text, *g.Items[0].Rendered) || g.Items[0].Tokens != g.Tokens {
		t.Errorf("it was given %q and not %+v", text, g.Items[0])
	}
	if said := h.spooled(); strings.Contains(said, "harbour") || strings.Contains(said, "ghp_") {
		t.Errorf("the text of a prompt stays in the spool: %s", said)
	}
	after, _ := h.run(0, "op", "log")
	if strings.Count(after, "refs/") != strings.Count(before, "refs/")+1 || !strings.Contains(after, ": capture") {
		t.Errorf("operations:\n%s\nand then\n%s", before, after)
	}
	if out, _ := h.run(0, "session", "replay", *g.Receipt); !strings.Contains(out, "identical") {
		t.Errorf("replay: %s", out)
	}
	h.run(0, "session", "replay", g.Session)
	h.run(0, "fsck")
	h.told("prompt", ask) // shown before
	h.told("prompt", "Write a haiku about autumn leaves")
	h.told("session-start", "")
	list = h.last("-n", "10", "--session", "s1")
	if len(list) != 4 || list[0].Event != "session-start" || list[0].SHA256 == nil || list[0].Time <= list[1].Time {
		t.Fatalf("last: %+v", list)
	}
	for _, g := range list[:3] {
		if g.Receipt != nil || g.Query != nil || len(g.Items) != 0 || g.Why != nil {
			t.Errorf("nothing was known, and %+v", g)
		}
	}
	out, _ := h.run(0, "session", "last", "-n", "2")
	if !strings.Contains(out, "nothing was known") || strings.Contains(out, "permit") {
		t.Errorf("last: %s", out)
	}
	h.run(0, "forget", list[3].Items[0].ID)
	if again := h.last("-n", "10")[3]; again.Items[0].Rendered != nil || *again.Receipt != *list[3].Receipt {
		t.Errorf("what was forgotten is shown: %+v", again.Items[0])
	}
	h.run(0, "undo") // receipts are passed over
	if again := h.last("-n", "10")[3]; again.Items[0].Rendered == nil {
		t.Errorf("what is remembered is not shown: %+v", again.Items[0])
	}
	if err := os.RemoveAll(filepath.Join(h.Dir, ".mnem", "spool")); err != nil {
		t.Fatal(err)
	}
	if list = h.last("-n", "9"); len(list) != 1 || list[0].Exact || *list[0].Receipt != *g.Receipt || len(list[0].Items) == 0 {
		t.Errorf("of receipts alone: %+v", list)
	}
}

// TestLastOfSessions tells what answers in sessions gave.
func TestLastOfSessions(t *testing.T) {
	h := newHostProgram(t)
	h.run(0, "remember", "The harbour crane needs a permit of the port authority")
	h.run(0, "session", "start", "one", "--follow")
	h.run(0, "session", "start", "two", "--follow")
	h.run(0, "retrieve", "--intent", "auto", "harbour crane permit", "--session", "one", "--time", "2026-03-01")
	h.run(0, "retrieve", "--intent", "auto", "port authority", "--session", "two", "--time", "2026-03-02")
	list := h.last("-n", "5")
	if len(list) != 2 || *list[0].Query != "port authority" || *list[1].Query != "harbour crane permit" || !list[0].Exact ||
		len(list[1].Items) != 1 || list[1].Tokens == 0 || list[1].SHA256 != nil {
		t.Errorf("last: %+v", list)
	}
	if list = h.last("--session", "one"); len(list) != 1 || list[0].Session != "one" {
		t.Errorf("last of one: %+v", list)
	}
	out, _ := h.run(0, "session", "last")
	if !strings.Contains(out, `asked: "port authority"`) || !strings.Contains(out, "receipt ") {
		t.Errorf("last: %s", out)
	}
	h.run(3, "session", "last", "--session", "three")
	for _, args := range [][]string{{"-n", "0"}, {"-n", "1001"}, {"--session", ""}, {"x"}} {
		h.run(2, append([]string{"session", "last"}, args...)...)
	}
}

// TestLastOfDamage reads notes that are damaged, cut, of others, and of another repository.
func TestLastOfDamage(t *testing.T) {
	h := newHostProgram(t)
	h.run(0, "remember", "The harbour crane needs a permit of the port authority", "--cue", "may I use the harbour crane?")
	h.told("prompt", "May I use the harbour crane?")
	files, err := filepath.Glob(filepath.Join(h.Dir, ".mnem", "spool", "*.told"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	good, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	forged := strings.Replace(string(good), `"block":"`, `"block":"AAAA`, 1)
	for name, text := range map[string]string{
		"nothing": "", "noise": "\x00\xff{", "a list": "[]\n", "another session": strings.Replace(string(good), `"s1"`, `"s2"`, 1),
		"forged": forged, "no version": strings.Replace(string(good), `"v":1`, `"v":9`, 1),
		"long": strings.Repeat("x", 2<<20),
	} {
		if err := os.WriteFile(files[0], []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, g := range h.last("-n", "9") {
			if g.Receipt != nil {
				t.Errorf("%s: %+v", name, g)
			}
		}
		h.run(0, "fsck")
	}
	if err := os.WriteFile(files[0], []byte(`{"v":1,"cut`), 0o600); err != nil {
		t.Fatal(err)
	}
	h.told("session-start", "")
	if list := h.last(); len(list) != 1 || list[0].Event != "session-start" {
		t.Errorf("after a line that was cut: %+v", list)
	}
	if err := os.WriteFile(files[0], good, 0o600); err != nil {
		t.Fatal(err)
	}
	h.run(0, "capture")
	if err := os.WriteFile(files[0], good, 0o600); err != nil { // as after a crash
		t.Fatal(err)
	}
	out, _ := h.run(0, "capture", "--json")
	var got struct{ Receipts int }
	if err := json.Unmarshal([]byte(out), &got); err != nil || got.Receipts != 0 {
		t.Errorf("recorded twice: %s, %v", out, err)
	}
	if list := h.last("-n", "9"); len(list) < 2 || list[1].Time == list[0].Time {
		t.Errorf("told twice: %+v", list)
	}
}
