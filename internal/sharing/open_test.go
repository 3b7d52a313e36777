package sharing_test

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/door/cli"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

// TestOpenings counts how often a transfer opens the repository here: once, and a clone twice, first to make it. The other
// one, if it is in a directory, is opened for each question: held open it would be written to, though it is only read.
func TestOpenings(t *testing.T) {
	for _, by := range carriers(t, "path", "file", "held", "http", "many", "ssh") {
		t.Run(by.name, func(t *testing.T) {
			w := newTeam(t, by)
			w.add("hub", "one", "x")
			w.clones("a")
			opened := func(machine string, args ...string) (here int) {
				app := w.app(machine, "", io.Discard, io.Discard)
				var mu sync.Mutex
				app.Opened = func(path string) {
					mu.Lock()
					defer mu.Unlock()
					switch path {
					case filepath.Join(w.dir, machine, core.DirName):
						here++
					case filepath.Join(w.dir, "hub", core.DirName):
					default:
						t.Errorf("%q opens %s", args, path)
					}
				}
				must.Equal(t, cli.Run(t.Context(), app, args), 0, args, ": exit code")
				mu.Lock()
				defer mu.Unlock()
				return here
			}
			for _, tt := range []struct {
				change string // where a node is added before
				args   []string
				here   int
			}{
				{"a", []string{"push"}, 1}, {"hub", []string{"fetch"}, 1}, {"a", []string{"sync"}, 1}, {"hub", []string{"sync"}, 1},
				{"", []string{"sync"}, 1}, {"", []string{"clone", w.url, "."}, 2},
			} {
				machine := "a"
				if tt.args[0] == "clone" {
					machine = "b"
				}
				if tt.change != "" {
					w.add(tt.change, "of "+tt.args[0]+tt.change, "y")
				}
				if here := opened(machine, tt.args...); here != tt.here {
					t.Errorf("%q opens the repository here %d times, want %d", tt.args, here, tt.here)
				}
			}
		})
	}
}

// TestReadsWriteNothing: commands that only read open no repository for writing, which makes files.
func TestReadsWriteNothing(t *testing.T) {
	t.Parallel()
	w := newTeam(t, over(t, "path"))
	w.add("hub", "one", "x")
	w.clones("a")
	w.add("a", "two", "y")
	files := func() (names []string) {
		for _, machine := range []string{"a", "hub"} {
			entries := must.Get(os.ReadDir(filepath.Join(w.dir, machine, core.DirName, "db")))(t)
			for _, e := range entries {
				names = append(names, machine+"/"+e.Name())
			}
		}
		return names
	}
	for _, args := range [][]string{
		{"push", "--dry-run"}, {"fetch", "--dry-run"}, {"sync", "--dry-run"}, {"export", "--all", "-o", "../a.car"}, {"remote", "list"},
	} {
		before := files()
		w.ok("a", args...)
		for _, name := range files() {
			must.True(t, slices.Contains(before, name), "mnem %q made %s", args, name)
		}
	}
}
