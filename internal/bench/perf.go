package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/internal/cli"
	"github.com/mnem-project/mnem/internal/filestate"
	"github.com/mnem-project/mnem/internal/perf"
)

// perfOptions are the flags of bench perf as they are given.
type perfOptions struct {
	perf.Options
	nodes, dir, write, mnem, save string
	from                          []string
}

func perfCommand(h *cli.Host) *cobra.Command {
	opt := &perfOptions{}
	var names strings.Builder
	for _, name := range perf.Names() {
		fmt.Fprintf(&names, "  %-9s %s\n", name, perf.Describe(name))
	}
	cmd := &cobra.Command{
		Use:   "perf [flags]",
		Short: "Measure what work costs in memories of several sizes",
		Long: "Generate memories of the sizes in --nodes and measure the cost of work on them: time, bytes and\n" +
			"blocks written and read, memory and disk. The same --seed generates the same nodes, edges,\n" +
			"vectors and questions everywhere: texts of 20 to 200 words and a long tail, word frequencies\n" +
			"as in prose, three edges a node with a few hubs, and vectors in clusters. Timed work alternates\n" +
			"with a yardstick, where there is one: the least that such work can cost. Times hold for this\n" +
			"machine and moment, counts hold everywhere. The measurements, all of them unless --only selects\n" +
			"some:\n\n" + names.String() + "\n" +
			"All files are in a temporary directory, which is removed at the end; no repository is touched.",
		Example: "  mnem-bench perf --nodes 200 --dims 8 --runs 1 --only commit,warm",
		Args:    cli.Positionals("[flags]"),
	}
	f := cmd.Flags()
	f.StringVar(&opt.nodes, "nodes", "1000,10000", "sizes of the memories, in nodes")
	f.IntVar(&opt.Dims, "dims", 384, "dimensions of vectors; 0 for none")
	f.IntVar(&opt.Hub, "hub", 0, "give one node `N` more edges")
	f.Uint64Var(&opt.Seed, "seed", 1, "what the memories are made from")
	f.IntVar(&opt.Runs, "runs", 5, "how often long work is repeated; short work is repeated more often")
	f.StringSliceVar(&opt.Only, "only", nil, "the measurements that are wanted, of those above")
	f.IntVar(&opt.Commits, "commits", 0, "measure this many commits of one node in a row")
	f.IntVar(&opt.Readers, "readers", 0, "measure this many readers beside --writers")
	f.IntVar(&opt.Writers, "writers", 2, "how many write beside --readers")
	f.IntVar(&opt.Seconds, "seconds", 10, "how many seconds these run")
	f.StringVar(&opt.dir, "dir", "", "make the temporary directory in `DIR` (default: the system's)")
	f.StringVar(&opt.mnem, "mnem", "", "the `PROGRAM` that whole processes are measured of "+
		"(default: the mnem beside this program, or in PATH)")
	f.StringVar(&opt.save, "save", "", "keep what was measured so far in `FILE` as JSON, after each measurement")
	f.StringSliceVar(&opt.from, "from", nil, "measure nothing: take what runs kept in `FILE`s with --save, "+
		"of different sizes")
	f.StringVar(&opt.write, "write", "",
		"put tables, and charts beside them, into the page `FILE`.md, made if need be")
	return h.Command(cmd, func(cmd *cobra.Command, _ []string) error {
		return runPerf(h, cmd, opt)
	})
}

func runPerf(h *cli.Host, cmd *cobra.Command, opt *perfOptions) error {
	var err error
	if opt.Nodes, err = parseSizes(opt.nodes); err != nil {
		return err
	}
	f := cmd.Flags()
	switch {
	case f.Changed("seconds") && opt.Readers == 0:
		return cli.Usagef("--seconds is for --readers")
	case f.Changed("dir") && opt.dir == "":
		return cli.Usagef("--dir: want a directory")
	}
	if err := opt.Validate(); err != nil {
		return cli.Usagef("%w", err)
	}
	var page *perfPage
	if f.Changed("write") { // looked at before the work begins
		if page, err = openPage(h, opt.write); err != nil {
			return err
		}
	}
	if opt.dir != "" {
		opt.Dir = h.Absolute(opt.dir)
	}
	if opt.Program, err = os.Executable(); err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	if len(opt.from) == 0 && opt.Starts() {
		if opt.Mnem, err = findMnem(opt.mnem, opt.Program, h); err != nil {
			return err
		}
	}
	if opt.save != "" {
		opt.Measured = func(r *perf.Report) error { return saveReport(h.Absolute(opt.save), r) }
	}
	report, err := opt.report(cmd.Context(), h)
	if err != nil {
		return err
	}
	if page != nil {
		if err := page.write(report); err != nil {
			return err
		}
	}
	if h.InJSON {
		return h.PrintJSON(report)
	}
	return h.Printf("%s", report.Text())
}

// report measures, or reads what was measured.
func (opt *perfOptions) report(ctx context.Context, h *cli.Host) (*perf.Report, error) {
	if len(opt.from) > 0 {
		return readReports(h, opt.from)
	}
	var done func()
	opt.Progress, done = h.Progress()
	defer done()
	return perf.Run(ctx, opt.Options)
}

// saveReport keeps a report as JSON.
func saveReport(path string, r *perf.Report) error {
	err := filestate.Replace(path, 0o644, func(w io.Writer) error { return json.NewEncoder(w).Encode(r) })
	if err != nil {
		return fmt.Errorf("--save: %w", err)
	}
	return nil
}

// readReports reads reports of different sizes and puts them together.
func readReports(h *cli.Host, files []string) (*perf.Report, error) {
	var all *perf.Report
	for _, file := range files {
		data, err := readBounded(h.Absolute(file))
		r := new(perf.Report)
		if err == nil {
			err = json.Unmarshal(data, r)
		}
		if err == nil && all != nil {
			err = all.Add(r)
		}
		if err != nil {
			return nil, fmt.Errorf("--from: %s: %w", file, err)
		}
		if all == nil {
			all = r
		}
	}
	return all, nil
}

// readBounded reads a file of at most maxPage bytes.
func readBounded(path string) ([]byte, error) {
	in, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = in.Close() }() // only read from
	data, err := io.ReadAll(io.LimitReader(in, maxPage+1))
	if err == nil && len(data) > maxPage {
		err = fmt.Errorf("more than %d bytes", maxPage)
	}
	return data, err
}

// findMnem returns the program that is measured.
func findMnem(given, self string, h *cli.Host) (string, error) {
	if given != "" {
		return h.Absolute(given), nil
	}
	if path, err := exec.LookPath(filepath.Join(filepath.Dir(self), "mnem")); err == nil {
		return path, nil
	}
	path, err := exec.LookPath("mnem")
	if err != nil {
		return "", cli.Hint(fmt.Errorf("no mnem to measure: %w", err),
			"build it beside this program, or name it with --mnem")
	}
	return path, nil
}

// parseSizes reads sizes that commas part.
func parseSizes(text string) ([]int, error) {
	var sizes []int
	for word := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(word))
		if err != nil {
			return nil, cli.Usagef("--nodes: %q is not a number; want sizes as in 1000,10000", word)
		}
		sizes = append(sizes, n)
	}
	slices.Sort(sizes)
	return slices.Compact(sizes), nil
}

// benchWatch runs a program and prints what it cost, for bench perf.
func watchCommand(h *cli.Host) *cobra.Command {
	cmd := &cobra.Command{
		Use: perf.WatchCommand + " -- PROGRAM [ARG...]", Hidden: true, Args: cobra.MinimumNArgs(1),
		Short: "Run a program and print what it cost",
	}
	return h.Command(cmd, func(cmd *cobra.Command, args []string) error {
		spent, err := perf.Watch(cmd.Context(), args)
		if err != nil {
			return err
		}
		return h.PrintJSON(spent)
	})
}

// benchOpen opens a database and reads one block, for bench perf.
func openCommand(h *cli.Host) *cobra.Command {
	cmd := &cobra.Command{
		Use: perf.OpenCommand + " DB", Hidden: true, Args: cobra.ExactArgs(1),
		Short: "Open a database read-only and read one block",
	}
	return h.Command(cmd, func(_ *cobra.Command, args []string) error { return perf.ReadOne(args[0]) })
}

// maxPage bounds the page that a report is put into.
const maxPage = 16 << 20

// perfPage is the page that a report is put into.
type perfPage struct {
	path, text string
}

// openPage reads a page and sees to it that it has a place for a report. One that is not there has.
func openPage(h *cli.Host, file string) (*perfPage, error) {
	if !strings.HasSuffix(file, ".md") || filepath.Base(file) == ".md" {
		return nil, cli.Usagef("--write: %q is not the name of a page, which ends in .md", file)
	}
	p := &perfPage{h.Absolute(file), perf.NewPage}
	data, err := readBounded(p.path)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Stat(filepath.Dir(p.path)); err != nil {
			return nil, fmt.Errorf("--write: %w", err)
		}
		return p, nil
	}
	p.text = string(data)
	if err == nil {
		_, err = perf.Splice(p.text, "")
	}
	if err != nil {
		return nil, fmt.Errorf("--write: %s: %w", file, err)
	}
	return p, nil
}

// write puts the report in its place and its charts beside the page.
func (p *perfPage) write(report *perf.Report) error {
	section, charts := report.Markdown(strings.TrimSuffix(filepath.Base(p.path), ".md"))
	text, err := perf.Splice(p.text, section)
	if err != nil {
		return err
	}
	for _, f := range append(charts, perf.File{Name: filepath.Base(p.path), Text: text}) {
		path := filepath.Join(filepath.Dir(p.path), f.Name)
		err := filestate.Replace(path, 0o644, func(w io.Writer) error {
			_, err := io.WriteString(w, f.Text)
			return err
		})
		if err != nil {
			return fmt.Errorf("--write: %w", err)
		}
	}
	return nil
}
