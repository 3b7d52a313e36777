package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestIngestDatabases imports databases of other programs: one file, a directory, and one whose rows are in its
// write-ahead log; each twice, the second time without a commit.
func TestIngestDatabases(t *testing.T) {
	w := newWorld(t)
	w.init()
	put := func(from, to string) {
		t.Helper()
		data, err := os.ReadFile("../../ingest/chats/testdata/" + from)
		if err == nil {
			err = os.MkdirAll(filepath.Join(w.Dir, filepath.Dir(to)), 0o755)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(w.Dir, to), data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	put("cursor.db", "user/globalStorage/state.vscdb")
	put("log.db", "opencode/opencode.db")
	put("log.db-wal", "opencode/opencode.db-wal")
	for _, c := range []struct {
		from, path, read string
		damaged          []string
	}{
		{"cursor", "user/globalStorage/state.vscdb", "read: 3 sessions, 7 turns", []string{"key pollen:1", "chat c7"}},
		{"cursor", "user", "read: 3 sessions, 7 turns", []string{"key pollen:1"}},
		{"opencode", "opencode", "read: 2 sessions, 3 turns", []string{"message msg_7"}},
	} {
		out, _ := w.run(9, "ingest", "--from", c.from, c.path)
		if !strings.Contains(out, c.read) {
			t.Errorf("%s %s: %s", c.from, c.path, out)
		}
		for _, place := range c.damaged {
			if !strings.Contains(out, place) {
				t.Errorf("%s %s: no %s in %s", c.from, c.path, place, out)
			}
		}
		if out, _ = w.run(9, "ingest", "--from", c.from, c.path, "--json"); !strings.Contains(out, `"no_change":true`) {
			t.Errorf("%s %s again: %s", c.from, c.path, out)
		}
	}
	if out, _ := w.run(0, "retrieve", "the south wall"); !strings.Contains(out, "south wall") {
		t.Errorf("tulips: %s", out)
	}
	if err := os.Remove(filepath.Join(w.Dir, "opencode/opencode.db-wal")); err != nil {
		t.Fatal(err)
	}
	w.run(1, "ingest", "--from", "opencode", "opencode") // nothing is in the file itself
	w.run(1, "ingest", "--from", "chatgpt", "user/globalStorage/state.vscdb")
}
