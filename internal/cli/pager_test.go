package cli

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
	"syscall"
	"testing"

	"github.com/mnem-project/mnem/ipld"
)

// shownBy is what a pager was given.
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
		w.run(0, "set", "alice", "--type", "Person", "summary="+text)
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
		args, variable, value, program string // "" where none is started
	}{
		{"log", "", "", "less"},
		{"diff HEAD~1 HEAD", "PAGER", "more -d", "more -d"},
		{"show", "MNEM_PAGER", "most", "most"},
		{"op log", "MNEM_PAGER", "cat", ""},
		{"blame alice", "MNEM_PAGER", " ", ""},
		{"log --no-pager", "", "", ""},
		{"ls", "", "", ""},
		{"get alice", "PAGER", "more", ""},
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
			if out == "" {
				t.Errorf("%s: nothing on the terminal", tt.args)
			}
			continue
		}
		if out != "" || errs != "" || s.Len() == 0 {
			t.Errorf("%s: %q and %q beside the pager, %d bytes in it", tt.args, out, errs, s.Len())
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

// TestLanes draws histories, given as "commit parents…" with one letter each.
func TestLanes(t *testing.T) {
	for _, tt := range []struct{ history, want string }{
		{"b a,a", "* b\n* a"},
		{"m bc,b a,c a,a", "* m\n|\\\n* | b\n| * c\n|/\n* a"},
		{"d c,e c,c", "* d\n| * e\n|/\n* c"},
		// Two roots, and a merge of three.
		{"m abc,a,b,c", "* m\n|\\\n|\\|\n| |\\\n* | | a\n  * | b\n    * c"},
		// A line that crosses another one, and a parent that is shown already to lead elsewhere.
		{"x a,y b,z a,b a,a", "* x\n| * y\n| | * z\n| |/\n|/|\n| * b\n|/\n* a"},
		// A parent named twice is one line; a history that is cut short goes on.
		{"m bb,b q", "* m\n* b"},
	} {
		w := newWorld(t)
		c := &cli{app: w.App, out: bufio.NewWriter(&w.out)}
		for entry := range strings.SplitSeq(tt.history, ",") {
			name, rest, _ := strings.Cut(entry, " ")
			var parents []ipld.CID
			for _, p := range rest {
				parents = append(parents, ipld.Sum(ipld.Raw, []byte(string(p))))
			}
			d := c.lanes.draw(ipld.Sum(ipld.Raw, []byte(name)), parents)
			if err := c.printBeside(d, name+"\n"); err != nil {
				t.Fatal(err)
			}
		}
		if err := c.out.Flush(); err != nil {
			t.Fatal(err)
		}
		if got := strings.TrimSuffix(w.out.String(), "\n"); got != tt.want {
			t.Errorf("%s:\n%s\nwant\n%s", tt.history, got, tt.want)
		}
	}
}

func TestWordDiff(t *testing.T) {
	w := newWorld(t)
	c := &cli{app: w.App}
	long := strings.Repeat("a b ", maxCompared)
	for _, tt := range []struct{ old, new, want string }{
		{`"Zoe keeps the ferry"`, `"Zoe keeps the old harbour"`, "Zoe keeps the [-ferry-]{+old harbour+}"},
		{`"same"`, `"same"`, "same"},
		{`"a b c d"`, `"a x c y"`, "a [-b-]{+x+} c [-d-]{+y+}"},
		{``, `"new"`, "{+new+}"},
		{`"old"`, ``, "[-old-]"},
		{`12`, `13`, "[-12-]{+13+}"},
		{`{"a":1}`, `{"a":2}`, `{"a":[-1-]{+2+}}`},
		{`"港口的冬季泊位"`, `"港口的夏季泊位"`, "港口的[-冬-]{+夏+}季泊位"},
		{`"one\ntwo"`, `"one\nthree\u001b[2J"`, `one\n[-two-]{+three\u{1B}[2J+}`},
		{`"x ` + long + `y"`, `"x ` + strings.ReplaceAll(long, "a", "c") + `y"`, "x [-" + strings.TrimSuffix(long, " b ") +
			"-]{+" + strings.TrimSuffix(strings.ReplaceAll(long, "a", "c"), " b ") + "+} b y"},
	} {
		var from, to []byte
		if tt.old != "" {
			from = []byte(tt.old)
		}
		if tt.new != "" {
			to = []byte(tt.new)
		}
		if got := c.wordDiff(from, to); got != tt.want {
			t.Errorf("%.60s, %.60s:\n got %.200s\nwant %.200s", tt.old, tt.new, got, tt.want)
		}
	}
}
