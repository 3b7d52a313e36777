package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/door/serving"
	"github.com/mnem-project/mnem/internal/door/settings"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

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

// TestHeap: a heap has at most a few tens of megabytes more than is in use, or half as much again if that is much; that of
// a server at most 16 MiB more.
func TestHeap(t *testing.T) {
	for lasting, bounds := range map[bool]map[uint64]uint64{
		false: {1 << 20: 5 << 20, 24 << 20: 120 << 20, 25 << 20: 50 << 20, 96 << 20: 192 << 20, 97 << 20: 146 << 20, 1 << 30: 1536 << 20},
		true:  {0: 0, 1 << 20: 5 << 20, 4 << 20: 20 << 20, 20 << 20: 36 << 20, 32 << 20: 48 << 20, 67 << 20: 101 << 20, 1 << 30: 1536 << 20},
	} {
		for used, most := range bounds {
			heap := used * uint64(100+line.PercentOf(used, lasting)) / 100
			must.True(t, heap <= most, "%d bytes in use have a heap of %d, want at most %d", used, heap, most)
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
