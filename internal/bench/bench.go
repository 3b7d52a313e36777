// Package bench holds the commands of mnem-bench: they measure how well memory is found. They are apart from mnem, which agents start for every question.
package bench

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/internal/base/plain"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/door/reach"
	"github.com/mnem-project/mnem/internal/synth"
)

// Program returns what mnem-bench is.
func Program() reach.Program {
	return reach.Program{
		Name:  "mnem-bench",
		Short: "Measure how well memory is found",
		Long: "Measure how well retrieval finds what a memory of your own holds, so that settings and versions\n" +
			"can be compared by figures; and make memories of any size to try commands on.",
		Example: "  mnem-bench eval . --by cat\n" +
			"  mnem-bench answers memory --cues --also\n" +
			"  mnem-bench load aged --facts 10000",
		Commands: func(h *reach.Host) []*cobra.Command {
			return []*cobra.Command{evalCommand(h), answersCommand(h), loadCommand(h)}
		},
	}
}

// Run runs one command line and returns its exit code.
func Run(ctx context.Context, app *line.App, args []string) int {
	return reach.RunProgram(ctx, app, Program(), args)
}

// maxSeed is the largest seed that every reader of JSON can read.
const maxSeed = 1<<53 - 1

type loadOptions struct {
	facts, commits int
	seed           uint64
}

type loadJSON struct {
	Facts   int    `json:"facts"`
	Commits int    `json:"commits"`
	Commit  string `json:"commit"`
}

func loadCommand(h *reach.Host) *cobra.Command {
	var opt loadOptions
	cmd := &cobra.Command{
		Use:   "load DIR [flags]",
		Short: "Make a repository of many facts, written as agents write them",
		Long: "Make a repository in DIR, which has none yet, and remember made-up facts in it: --facts of them in\n" +
			"batches of 1,000, then --commits of one fact each. Each fact has a time of its own, so that the memory\n" +
			"has the shape of one that grew over time. The same --seed makes the same facts everywhere. Try the\n" +
			"commands of mnem on it, or time them.",
		Example: "  mnem-bench load aged --facts 200 --commits 20",
		Args:    cobra.ExactArgs(1),
	}
	f := cmd.Flags()
	f.IntVar(&opt.facts, "facts", 10_000, "remember `N` facts in batches")
	f.IntVar(&opt.commits, "commits", 1000, "then remember `N` more, each in a commit of its own")
	f.Uint64Var(&opt.seed, "seed", 1, "make the facts from this `NUMBER`")
	return h.Command(cmd, func(cmd *cobra.Command, args []string) error {
		if err := opt.check(); err != nil {
			return err
		}
		out, err := opt.load(cmd.Context(), h, args[0])
		if err != nil {
			return err
		}
		if h.InJSON {
			return h.PrintJSON(out)
		}
		return h.Printf("%s, %s of one fact each, commit %s\n", plain.Plural(out.Facts, "fact"),
			plain.Plural(out.Commits, "commit"), out.Commit)
	})
}

func (o *loadOptions) check() error {
	switch {
	case o.facts < 0 || o.commits < 0 || o.facts+o.commits > synth.MaxNodes || o.facts > synth.MaxNodes:
		return reach.Usagef("--facts and --commits: want 0 to %d together", synth.MaxNodes)
	case o.facts+o.commits == 0:
		return reach.Usagef("--facts and --commits: want one fact at least")
	case o.seed > maxSeed:
		return reach.Usagef("--seed: %d is over %d", o.seed, uint64(maxSeed))
	}
	return nil
}

func (o *loadOptions) load(ctx context.Context, h *reach.Host, dir string) (out *loadJSON, err error) {
	const author = "agent"
	r, err := care.Init(ctx, h.Absolute(dir), synth.Stamp(author, "init"), core.Options{})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	set, done := h.Progress()
	defer done()
	err = synth.New(o.seed).Load(ctx, r, synth.LoadOptions{
		Author: author, Facts: o.facts, Commits: o.commits, Progress: set,
	})
	if err != nil {
		return nil, err
	}
	s, err := r.Snapshot(ctx, "HEAD")
	if err != nil {
		return nil, err
	}
	return &loadJSON{o.facts + o.commits, o.commits, s.CID().String()}, nil
}
