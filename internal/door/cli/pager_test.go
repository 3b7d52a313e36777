package cli

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"syscall"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/must"
)

// shownBy records the input of a pager.
type shownBy struct {
	bytes.Buffer
	words []string
	fails error // of each write
	ended bool
}

func (s *shownBy) Write(b []byte) (int, error) {
	if s.fails != nil {
		return 0, s.fails
	}
	return s.Buffer.Write(b)
}

func (s *shownBy) Close() error { return nil }

// toPage is a repository of two commits.
func toPage(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.init()
	for _, text := range []string{"Alice leads infra", "Alice leads two teams"} {
		w.run(0, "add", "--set", "alice", "--type", "Person", "summary="+text)
		w.run(0, "commit", "-m", text)
	}
	return w
}

// withPager gives a world a terminal and a pager.
func withPager(w *world) *shownBy {
	s := &shownBy{}
	w.OutTTY = true
	w.StartPager = func(words []string) (io.WriteCloser, func() error, error) {
		s.words = words
		return s, func() error { s.ended = true; return nil }, nil
	}
	return s
}

func TestPager(t *testing.T) {
	w := toPage(t)
	w.ErrTTY = true
	for _, tt := range []struct {
		args, variable, value, program string // "" if none is started
	}{
		{"log", "", "", "less"},
		{"diff HEAD~1 HEAD", "PAGER", "more -d", "more -d"},
		{"show", "MNEM_PAGER", "most", "most"},
		{"op log", "MNEM_PAGER", "cat", ""},
		{"blame alice", "MNEM_PAGER", " ", ""},
		{"ls", "", "", ""},
		{"status", "PAGER", "more", ""},
	} {
		s := withPager(w)
		if tt.variable != "" {
			w.env[tt.variable] = tt.value
		}
		out, errs := w.run(0, strings.Fields(tt.args)...)
		delete(w.env, tt.variable)
		if got := strings.Join(s.words, " "); got != tt.program || s.ended != (tt.program != "") {
			t.Errorf("%s: pager %q, ended %t", tt.args, got, s.ended)
		}
		if tt.program == "" {
			must.True(t, out != "", "%s: nothing on the terminal", tt.args)
			continue
		}
		if out != "" || errs != "" || s.Len() == 0 {
			t.Errorf("%s: %q and %q outside the pager, %d bytes in it", tt.args, out, errs, s.Len())
		}
		if strings.HasPrefix(tt.args, "diff") && !strings.HasSuffix(s.String(), "-0\n") {
			t.Errorf("the counts are not at the end: %q", s.String())
		}
	}
	w.OutTTY = false
	w.StartPager = func([]string) (io.WriteCloser, func() error, error) {
		t.Error("a pager for a pipe")
		return nil, nil, errors.New("none")
	}
	w.run(0, "log")
}

// TestPagerEnds covers pagers that the user leaves early, that do not start, and commands that fail.
func TestPagerEnds(t *testing.T) {
	w := toPage(t)
	s := withPager(w)
	s.fails = syscall.EPIPE
	if out, errs := w.run(0, "log"); out != "" || errs != "" {
		t.Errorf("left early: %q, %q", out, errs)
	}
	s = withPager(w)
	if _, errs := w.run(3, "log", "nothing-of-this-name"); !strings.Contains(errs, "nothing-of-this-name") ||
		s.words != nil {
		t.Errorf("pager %q, %q", s.words, errs)
	}
	w.StartPager = func([]string) (io.WriteCloser, func() error, error) { return nil, nil, errors.New("no such program") }
	if out, errs := w.run(0, "log"); !strings.Contains(out, "commit ") || errs != "" {
		t.Errorf("without a program: %q, %q", out, errs)
	}
}
