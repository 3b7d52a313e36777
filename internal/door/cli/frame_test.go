package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/mnem-project/mnem/internal/door/line"
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
	must.Fail(t, err, nil)
}

func TestPatientReaderStopsWithItsContext(t *testing.T) {
	in, out := io.Pipe()
	defer func() { _ = out.Close() }()
	ctx, cancel := context.WithCancel(t.Context())
	r := line.NewPatientReader(ctx, in)
	time.AfterFunc(10*time.Millisecond, cancel)
	if _, err := r.Read(make([]byte, 1)); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
	// What the abandoned read brings later goes nowhere and disturbs no reader.
	if _, err := io.WriteString(out, "late"); err != nil {
		t.Error(err)
	}
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
