package perf_test

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mnem-project/mnem/internal/bench"
	"github.com/mnem-project/mnem/internal/cli"
	"github.com/mnem-project/mnem/internal/perf"
	"github.com/mnem-project/mnem/internal/testkit/effort"
)

// asProgram makes the test binary be the program.
const asProgram = "TEST_AS_MNEM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
		code := run(ctx, os.Args[1:])
		stop()
		os.Exit(code)
	}
	if err := os.Setenv(asProgram, "1"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// run is both programs: the one that measures where the first argument is a command of it.
func run(ctx context.Context, args []string) int {
	if args[0] == perf.WatchCommand || args[0] == perf.OpenCommand {
		return bench.Run(ctx, cli.System(), args)
	}
	return cli.System().Run(ctx, args)
}

func options(t *testing.T) perf.Options {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return perf.Options{
		Nodes: []int{200, 250}, Dims: 8, Hub: 50, Seed: 1, Runs: 1, Seconds: 1, Writers: 2, Dir: t.TempDir(),
		Program: program, Mnem: program,
	}
}

func empty(t *testing.T, dir string) {
	t.Helper()
	left, err := os.ReadDir(dir)
	if err != nil || len(left) > 0 {
		t.Errorf("%d files are left behind, %v", len(left), err)
	}
}

// TestEverythingIsMeasured looks at what no machine changes; times only have to be there.
func TestEverythingIsMeasured(t *testing.T) {
	if effort.Race {
		t.Skip("processes under the race detector take a second to start: see TestReaders")
	}
	opt := options(t)
	opt.Nodes = opt.Nodes[:effort.Pick(1, 2, 2)] // each is measured for seconds
	opt.Commits, opt.Readers = 15, 2
	told := 0
	opt.Progress = func(string, int, int) { told++ }
	report, err := perf.Run(t.Context(), opt)
	if err != nil {
		t.Fatal(err)
	}
	empty(t, opt.Dir)
	if told < 50 || len(report.Sizes) != len(opt.Nodes) || len(report.Remarks) > 0 || len(report.Figures) < 2 {
		t.Fatalf("%d steps, %+v", told, report)
	}
	for _, s := range report.Sizes {
		got := make(map[string]perf.Figure)
		var groups []string
		for _, f := range s.Figures {
			if _, ok := got[f.Group+" "+f.Name]; ok {
				t.Errorf("%s %q twice", f.Group, f.Name)
			}
			got[f.Group+" "+f.Name] = f
			groups = append(groups, f.Group)
			unknown := f.Why != "" && runtime.GOOS != "linux" && runtime.GOOS != "darwin"
			if f.Runs == 0 && !unknown || f.Median < 0 || f.Low > f.Median || f.Median > f.High ||
				f.High > f.P99 {
				t.Errorf("%+v", f)
			}
			if y := f.Yardstick; y != nil && (y.Runs != f.Runs || y.Median <= 0) {
				t.Errorf("%s: yardstick %+v", f.Name, y)
			}
		}
		for _, name := range perf.Names() {
			if name != "version" && !slices.Contains(groups, name) {
				t.Errorf("nothing about %s", name)
			}
		}
		for name, most := range map[string]int64{
			"commit commit of one node: bytes written":          12 << 10,
			"commit commit of one node and edge: bytes written": 40 << 10,
			"commit commit of one node: blocks written":         20,
			"bulk blocks for each node":                         6,
			"bulk bytes of blocks for each node":                4 << 10,
			"readers reads and writes that failed":              0,
		} {
			f, ok := got[name]
			if !ok || f.Median > most || f.Median == 0 && most > 0 {
				t.Errorf("%s: %d, want at most %d", name, f.Median, most)
			}
		}
		if hub := got["hub edges to the node with most"].Median; hub <= 50 {
			t.Errorf("hub of %d edges", hub)
		}
		total := 0
		for _, part := range s.Slices {
			total += part.Commits
			if part.Blocks < 8 || part.Blocks > 20 || part.Bytes < 1000 || part.Bytes > 12<<10 {
				t.Errorf("%+v", part)
			}
		}
		if len(s.Slices) != 10 || total != 15 {
			t.Errorf("%d parts of %d commits", len(s.Slices), total)
		}
	}
	checkForms(t, report)
	checkPage(t, report)
}

// checkForms checks how a report is shown.
func checkForms(t *testing.T, report *perf.Report) {
	t.Helper()
	text := report.Text()
	section, charts := report.Markdown("perf")
	for _, s := range report.Sizes {
		for _, f := range s.Figures {
			if !strings.Contains(text, f.Name) || !strings.Contains(section, "| "+f.Name+" |") {
				t.Errorf("%q is not shown", f.Name)
			}
		}
	}
	if len(report.Sizes) > 1 && len(charts) < 10 { // most are by size
		t.Errorf("%d charts", len(charts))
	}
	for _, c := range charts {
		if !strings.Contains(section, "("+c.Name+")") || filepath.Ext(c.Name) != ".svg" {
			t.Errorf("chart %q is not shown", c.Name)
		}
		d := xml.NewDecoder(strings.NewReader(c.Text))
		for {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", c.Name, err)
			}
		}
	}
	columns := 0
	for line := range strings.Lines(section) {
		if !strings.HasPrefix(line, "|") {
			columns = 0
			continue
		}
		n := strings.Count(line, "|")
		if columns > 0 && n != columns {
			t.Errorf("%d columns, want %d: %s", n, columns, line)
		}
		columns = n
	}
	if data, err := json.Marshal(report); err != nil || bytes.Contains(data, []byte("null")) {
		t.Errorf("%v in %s", err, data)
	}
}

// rowsOf lists the rows of each table of a page that a report wrote, by heading, each name once.
func rowsOf(page string) map[string][]string {
	rows, heading := make(map[string][]string), ""
	for line := range strings.Lines(page) {
		if name, ok := strings.CutPrefix(line, "### "); ok {
			heading = strings.TrimSpace(name)
		}
		cell, ok := strings.CutPrefix(line, "| ")
		name, _, _ := strings.Cut(cell, " |")
		if ok && name != "" && !strings.HasPrefix(cell, "|") && !slices.Contains(rows[heading], name) {
			rows[heading] = append(rows[heading], name)
		}
	}
	return rows
}

// checkPage checks that the page of the documentation has the rows that are measured now. It cuts the report.
func checkPage(t *testing.T, report *perf.Report) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "docs", "performance.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, page, _ := strings.Cut(strings.ReplaceAll(string(data), "\r\n", "\n"), perf.BeginMark)
	page, _, ok := strings.Cut(page, perf.EndMark)
	if !ok {
		t.Fatal("no report in docs/performance.md")
	}
	for _, s := range report.Sizes { // what takes --commits is not on the page
		s.Slices = nil
		s.Figures = slices.DeleteFunc(s.Figures, func(f perf.Figure) bool { return f.Group == "commits" })
	}
	section, _ := report.Markdown("performance")
	have, want := rowsOf(page), rowsOf(section)
	if len(want) < 10 {
		t.Errorf("%d tables", len(want))
	}
	for heading, rows := range want {
		if diff := cmp.Diff(rows, have[heading]); diff != "" {
			t.Errorf("docs/performance.md, %s (-now +there): measure it again\n%s", heading, diff)
		}
	}
}

func TestCountsAreTheSameEachTime(t *testing.T) {
	effort.Long(t)
	effort.Alone(t)
	counts := func() (list []perf.Figure) {
		opt := options(t)
		opt.Nodes, opt.Only = []int{250}, []string{"commit", "diff", "warm"}
		report, err := perf.Run(t.Context(), opt)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range report.Sizes[0].Figures {
			if f.Unit != perf.Nanoseconds && f.Name != "heap at its peak" {
				list = append(list, f)
			}
		}
		return list
	}
	first, second := counts(), counts()
	if len(first) < 10 || len(first) != len(second) {
		t.Fatalf("%d and %d counts", len(first), len(second))
	}
	for i := range first {
		if first[i].Stats != second[i].Stats {
			t.Errorf("%+v, then %+v", first[i], second[i])
		}
	}
}

// TestReaders is what runs on several goroutines.
func TestReaders(t *testing.T) {
	opt := options(t)
	opt.Nodes, opt.Only, opt.Readers = []int{200}, []string{"readers"}, 2
	report, err := perf.Run(t.Context(), opt)
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Sizes) != 1 || len(report.Sizes[0].Figures) == 0 {
		t.Fatalf("nothing was measured: %+v", report)
	}
	for _, f := range report.Sizes[0].Figures {
		if f.Runs == 0 || f.Group != "readers" {
			t.Errorf("%+v", f)
		}
	}
}

// TestInterruptLeavesNothing stops at several points.
func TestInterruptLeavesNothing(t *testing.T) {
	stops := []int{1, 5, 40}
	if effort.Race {
		stops = stops[2:]
	}
	for _, after := range stops {
		opt := options(t)
		ctx, cancel := context.WithCancel(t.Context())
		steps := 0
		opt.Progress = func(string, int, int) {
			if steps++; steps == after {
				cancel()
			}
		}
		if _, err := perf.Run(ctx, opt); !errors.Is(err, context.Canceled) {
			t.Errorf("after %d steps: %v", after, err)
		}
		cancel()
		empty(t, opt.Dir)
	}
}

func TestOptionsAreChecked(t *testing.T) {
	for _, tt := range []struct {
		option string
		change func(*perf.Options)
	}{
		{"nodes", func(o *perf.Options) { o.Nodes = nil }},
		{"nodes", func(o *perf.Options) { o.Nodes = []int{199} }},
		{"nodes", func(o *perf.Options) { o.Nodes = []int{perf.MaxNodes + 1} }},
		{"nodes", func(o *perf.Options) { o.Nodes = []int{1000, 500} }},
		{"nodes", func(o *perf.Options) { o.Nodes = []int{500, 500} }},
		{"nodes", func(o *perf.Options) { o.Nodes = make([]int, perf.MaxSizes+1) }},
		{"dims", func(o *perf.Options) { o.Dims = -1 }},
		{"dims", func(o *perf.Options) { o.Dims = perf.MaxDims + 1 }},
		{"hub", func(o *perf.Options) { o.Hub = 200 }},
		{"seed", func(o *perf.Options) { o.Seed = perf.MaxSeed + 1 }},
		{"runs", func(o *perf.Options) { o.Runs = 0 }},
		{"commits", func(o *perf.Options) { o.Commits = -1 }},
		{"readers", func(o *perf.Options) { o.Readers = perf.MaxReaders + 1 }},
		{"seconds", func(o *perf.Options) { o.Seconds = 0 }},
		{"only", func(o *perf.Options) { o.Only = []string{"warm", "hot"} }},
		{"only", func(o *perf.Options) { o.Only = []string{"commits"} }},
		{"only", func(o *perf.Options) { o.Only = []string{"readers"} }},
	} {
		opt := options(t)
		tt.change(&opt)
		_, err := perf.Run(t.Context(), opt)
		var bad *perf.OptionError
		if !errors.As(err, &bad) || !errors.Is(err, perf.ErrOption) || bad.Option != tt.option {
			t.Errorf("%s: %v", tt.option, err)
		}
		empty(t, opt.Dir)
	}
}
