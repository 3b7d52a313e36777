package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/door/serving"
	"github.com/mnem-project/mnem/internal/door/settings"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

func TestPatientReaderReadsAll(t *testing.T) {
	want := strings.Repeat("0123456789", 20_000)
	for name, in := range map[string]io.Reader{
		"whole":    strings.NewReader(want),
		"bytes":    iotest.HalfReader(strings.NewReader(want)),
		"with EOF": iotest.DataErrReader(strings.NewReader(want)),
	} {
		got, err := io.ReadAll(line.NewPatientReader(t.Context(), in))
		must.True(t, err == nil && string(got) == want, "%s: %d bytes, %v; want %d", name, len(got), err, len(want))
	}
	broken := errors.New("broken")
	got, err := io.ReadAll(line.NewPatientReader(t.Context(),
		io.MultiReader(strings.NewReader("ab"), iotest.ErrReader(broken))))
	must.True(t, string(got) == "ab" && errors.Is(err, broken), "%q, %v; want ab and the error", got, err)
	err = iotest.TestReader(line.NewPatientReader(t.Context(), strings.NewReader("text")), []byte("text"))
	must.OK(t, err)
}

func TestPatientReaderStopsWithItsContext(t *testing.T) {
	in, out := io.Pipe()
	defer func() { _ = out.Close() }()
	ctx, cancel := context.WithCancel(t.Context())
	r := line.NewPatientReader(ctx, in)
	time.AfterFunc(10*time.Millisecond, cancel)
	must.Fail(t, must.Err(r.Read(make([]byte, 1))), context.Canceled, "error: ", context.Canceled)
	// What the abandoned read brings later goes nowhere and disturbs no reader.
	must.OK(t, must.Err(io.WriteString(out, "late")))
}

func TestProgressShowsOnTerminalsOnly(t *testing.T) {
	tests := []struct {
		name string
		set  func(c *line.Line)
		want string
	}{
		{"terminal", func(*line.Line) {}, "\rnodes [##########                    ]  33%" +
			"\rnodes [###############               ]  50%\rlines 7" +
			strings.Repeat(" ", 36) + "\r       \r"},
		{"no terminal", func(c *line.Line) { c.App.ErrTTY = false }, ""},
		{"quiet", func(c *line.Line) { c.Quiet = true }, ""},
		{"json", func(c *line.Line) { c.InJSON = true }, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var b bytes.Buffer
			now := time.Unix(0, 0)
			c := &line.Line{App: &line.App{Stderr: &b, ErrTTY: true, Now: func() time.Time { return now }}}
			tt.set(c)
			p := c.Progress()
			p.Set("nodes", 1, 30) // too early to be worth a line
			now = now.Add(line.ProgressAfter)
			p.Set("nodes", 10, 30)
			p.Set("nodes", 11, 30) // too soon after the last
			now = now.Add(line.ProgressEvery)
			p.Set("nodes", 15, 30)
			now = now.Add(line.ProgressEvery)
			p.Set("lines", 7, 0)
			p.Done()
			p.Done()
			must.Same(t, b.String(), tt.want)
		})
	}
}

func TestUserConfigPath(t *testing.T) {
	root := t.TempDir()
	w := newWorld(t)
	c := &line.Line{App: w.App}
	for _, tt := range []struct{ xdg, config, want string }{
		{"", "", ""},
		{"", root, filepath.Join(root, "mnem", settings.File)},
		{"relative", root, filepath.Join(root, "mnem", settings.File)},
		{filepath.Join(root, "x"), "elsewhere", filepath.Join(root, "x", "mnem", settings.File)},
	} {
		w.env["XDG_CONFIG_HOME"], w.Config = tt.xdg, tt.config
		must.Equal(t, c.UserConfig(), tt.want, "XDG_CONFIG_HOME ", tt.xdg, ", system ", tt.config)
	}
	w.env["XDG_CONFIG_HOME"], w.Config = "", ""
	w.run(3, "config", "set", "--user", "wait", "1s")
}

// StdinLines are command lines that read standard input to its end or answer what it asks, by their commands.
// INPUT is a hyphen or another name of it.
var StdinLines = map[string][]string{
	"remember":       {"remember -", "remember --batch -", "remember x --vector m=@-"},
	"ingest":         {"ingest - --name a.md", "ingest --from codex -"},
	"commit":         {"commit -m x -", "commit -m x /dev/stdin", "commit -m x /dev/fd/0"},
	"add":            {"add -"},
	"merge":          {"merge --resolve x --take -"},
	"retrieve":       {"retrieve -", "retrieve --batch -", "retrieve x --vector m=@-"},
	"recall":         {"recall -", "recall --batch -"},
	"purge":          {"purge - --yes"},
	"pack take":      {"pack take - --set refs/heads/x=" + someCID + ".." + someCID},
	"import":         {"import -", "import - --dry-run"},
	"config secrets": {"config secrets -"},
	"key import":     {"key import - --name k"},
}

const someCID = "bafyreie3lw7oincmktzd7h26jbdrj3a6v2bqrgcqp7t7cttup2fcbplkre"

// TestStdinLinesAreAll finds the commands that say that they read standard input.
func TestStdinLinesAreAll(t *testing.T) {
	hyphen := regexp.MustCompile(`(^|[ \[])[A-Z]+…?\|-`)
	for _, v := range all((&line.Line{})) {
		switch v.Spec.Command {
		case "mcp": // a server, which a client speaks to
			continue
		case "merge": // whose FILE may be a hyphen, as all files of change lines
			continue
		}
		reads := hyphen.MatchString(strings.ReplaceAll(v.Spec.Usage, "-o FILE|-", ""))
		for _, f := range v.Spec.Fields() {
			reads = reads || !f.RemoteOnly && strings.Contains(f.Doc, "standard input") && f.Name != "output" && f.Name != "stdio"
		}
		if reads != (StdinLines[v.Spec.Command] != nil) {
			t.Errorf("%s (%s): reads standard input: %v", v.Spec.Command, v.Spec.Usage, reads)
		}
	}
}

// TestEndWithin has a server end when its client has gone, and be left if it does not.
func TestEndWithin(t *testing.T) {
	const long = time.Hour
	never, gone := make(chan error), make(chan struct{})
	ended := make(chan error, 1)
	ended <- io.ErrNoProgress
	must.Fail(t, serving.EndWithin(ended, nil, nil, long), io.ErrNoProgress)
	close(gone)
	must.Fail(t, serving.EndWithin(ended, gone, func() { ended <- io.ErrShortWrite }, long), io.ErrShortWrite)
	cancelled := false
	err := serving.EndWithin(never, gone, func() { cancelled = true }, time.Nanosecond)
	must.True(t, errors.Is(err, store.ErrBusy) && cancelled, "%v, cancelled: %v", err, cancelled)
}

// TestHeap: a heap has at most a few tens of megabytes more than is in use, or half as much again where that
// is much.
func TestHeap(t *testing.T) {
	for used, most := range map[uint64]uint64{
		1 << 20: 5 << 20, 24 << 20: 120 << 20, 25 << 20: 50 << 20, 96 << 20: 192 << 20, 97 << 20: 146 << 20, 1 << 30: 1536 << 20,
	} {
		if heap := used * uint64(100+line.PercentOf(used, false)) / 100; heap > most {
			t.Errorf("%d bytes in use have a heap of %d, want at most %d", used, heap, most)
		}
	}
}

// TestLastingHeap: the heap of a server has at most 16 MiB more than is in use, or half as much again.
func TestLastingHeap(t *testing.T) {
	for used, most := range map[uint64]uint64{
		0: 0, 1 << 20: 5 << 20, 4 << 20: 20 << 20, 20 << 20: 36 << 20, 32 << 20: 48 << 20, 67 << 20: 101 << 20, 1 << 30: 1536 << 20,
	} {
		if heap := used * uint64(100+line.PercentOf(used, true)) / 100; heap > most {
			t.Errorf("%d bytes in use have a heap of %d, want at most %d", used, heap, most)
		}
	}
}

// TestOpenByFile sees to it that no program is started with the code in its arguments.
func TestOpenByFile(t *testing.T) {
	const url = "http://127.0.0.1:1/#code=secret"
	var opened string
	remove, err := serving.OpenByFile(t.Context(), url, func(_ context.Context, path string) error {
		opened = path
		data, err := os.ReadFile(path)
		if err != nil || strings.Count(string(data), `"`+url+`"`) != 1 || !strings.Contains(string(data), "url="+url) {
			t.Errorf("%v: %s", err, data)
		}
		return nil
	})
	must.Require(t, err == nil && !strings.Contains(opened, "secret"), "%q, %v", opened, err)
	must.OK(t, remove())
	if _, err := os.Stat(filepath.Dir(opened)); !os.IsNotExist(err) {
		t.Errorf("the file stays: %v", err)
	}
	none := errors.New("no browser")
	remove, err = serving.OpenByFile(t.Context(), url, func(context.Context, string) error { return none })
	must.True(t, errors.Is(err, none) && remove() == nil, "%v", err)
}
