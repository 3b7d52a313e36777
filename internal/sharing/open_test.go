package sharing_test

import (
	"io"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

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

// TestTransferBlocksNoCommand runs a sync whose server does not answer yet: other commands still use the repository.
func TestTransferBlocksNoCommand(t *testing.T) {
	t.Parallel()
	w := newTeam(t, over(t, "path"))
	w.add("hub", "one", "x")
	w.clones("a")
	w.add("a", "two", "y")
	target := must.Get(url.Parse(served(t, filepath.Join(w.dir, "hub"))))(t)
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }}
	asked, goOn := make(chan struct{}, 100), make(chan struct{})
	s := spoils(t, target.String())
	waits := func(to http.ResponseWriter, r *http.Request) {
		asked <- struct{}{}
		<-goOn
		proxy.ServeHTTP(to, r)
	}
	answer := http.HandlerFunc(waits)
	w.ok("a", "remote", "add", "--force", "origin", s.URL)
	s.answer.Store(&answer)
	done := make(chan int, 1)
	go func() { done <- cli.Run(t.Context(), w.app("a", "", io.Discard, io.Discard), []string{"sync"}) }()
	for range 2 { // within the first round, and once more
		select {
		case <-asked:
		case <-time.After(time.Minute):
			t.Fatal("the server is not asked")
		}
		w.add("a", "while "+time.Now().String(), "z")
		goOn <- struct{}{}
	}
	close(goOn)
	must.Equal(t, <-done, 0, "sync: exit code")
}
