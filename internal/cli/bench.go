package cli

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/evaluate"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/operation"
	"github.com/mnem-project/mnem/repo"
	"github.com/mnem-project/mnem/retrieve"
	"github.com/mnem-project/mnem/store"
)

// benchOptions are the flags of bench eval as they are given.
type benchOptions struct {
	retrieveOptions
	by, results, baseline, tolerance string
	settings                         []*pflag.Flag // those that a report repeats
	profiles                         *retrieve.Profiles
	models                           *benchModels
}

// benchBy are the values of --by.
var benchBy = []evaluate.By{
	evaluate.ByCategory, evaluate.ByProfile, evaluate.ByIntent, evaluate.ByLane,
	evaluate.ByStage,
}

func (c *cli) benchCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "bench",
		GroupID: groupCare,
		Short:   "Measure how well memory is found, and at what cost",
		Long: "Measure how well retrieval finds what a memory of your own holds, and what work costs as a\n" +
			"memory grows, so that settings, versions and machines can be compared by figures. No repository\n" +
			"is written.",
		Example: "  mnem bench eval . --by cat\n" +
			"  mnem bench perf --nodes 200 --dims 8 --runs 1 --only warm",
	}
	return c.parent(cmd, c.benchEval(), c.benchCheck(), c.benchPerf(), c.benchWatch(), c.benchOpen())
}

func (c *cli) benchEval() *cobra.Command {
	opt := &benchOptions{}
	cmd := &cobra.Command{
		Use:   "eval DIR [flags]",
		Short: "Answer questions with known answers and print how well",
		Long: "DIR holds pairs of files, NAME.changes.jsonl with change lines and NAME.queries.jsonl\n" +
			"with a question a line. Each pair becomes a repository in memory, of which nothing is\n" +
			"left behind, and the figures are over all of them together. A question is an object with\n\n" +
			"  qid            its name, given once in DIR\n" +
			"  text           the question\n" +
			"  gold           the keys of all nodes that answer it (ids for nodes without a key)\n" +
			"  cat            its category, if any; see --by\n" +
			"  gold_sessions  if wanted: the keys of the sessions to be found. Keys in gold are then of\n" +
			"                 the form SESSION:TURN; nodes without a colon in their key are sessions\n\n" +
			"and any parameter that a line of 'mnem retrieve --batch' may have. A profile that --profile or\n" +
			"a question names is built in; with --profile or --by profile it may be one of the repository\n" +
			"here, if there is one. Limit and budget are not taken from profiles. Printed are, each from 0\n" +
			"to 1 and averaged over the questions that have it:\n\n" +
			"  R@5, R@10      the share of gold among the first 5 or 10 items\n" +
			"  All@10         1 where all of gold is among the first 10, else 0\n" +
			"  MRR            1/rank of the first item of gold\n" +
			"  nDCG@10        how far up gold is among the first 10, 1 where all of it comes first\n" +
			"  R@1024         the share of gold in the items that fit into 1,024 tokens\n" +
			"  session R@5    the share of gold_sessions among the first 5 sessions of the items\n\n" +
			"--by intent has a row for the questions of each intent that 'mnem recall' knows, whether --intent\n" +
			"ranks by them or not: without it the figures are those of plain retrieval.\n\n" +
			"--by lane has a row for each lane on its own, with expansion as --expand says: text, the vectors\n" +
			"that there are, entity, time, and recency, which looks at no question; exact is what questions\n" +
			"name by key or id, which every lane has in front. --by stage has a row for each stage of\n" +
			"retrieval, all else being equal: what runs is left out, and what does not is put in.\n\n" +
			"With --embed the nodes that have no embedding by the model are embedded first, and then each\n" +
			"question; --rewrite and --rerank let models help with each question, as in 'mnem retrieve'. How\n" +
			"often a model failed, so that a question was answered without it, is counted and printed.\n\n" +
			"--baseline compares with what --json printed before, and the exit code is 1 where a figure\n" +
			"over all questions is worse by more than --tolerance.",
		Example: "  mnem bench eval .\n" +
			"  mnem bench eval . --by cat --expand 2\n" +
			"  mnem bench eval . --profile docs\n" +
			"  mnem bench eval . --by stage\n" +
			"  mnem bench eval . --by intent --intent auto\n" +
			"  mnem bench eval . --by lane --embed=hash --expand 0\n" +
			"  mnem bench eval . --json >before.json\n" +
			"  mnem bench eval . --baseline before.json --tolerance 0.01\n" +
			"  mnem bench eval . --results results.jsonl",
		Args: cobra.ExactArgs(1),
	}
	c.requestFlags(cmd, &opt.retrieveOptions)
	f := cmd.Flags()
	changeDefault(f, "limit", evaluate.DefaultLimit)
	changeDefault(f, "budget", evaluate.DefaultBudget)
	for _, name := range []string{"unseen", "order", "summarize"} { // refused: there is no session, and no display
		f.Lookup(name).Hidden = true
	}
	c.profileFlag(cmd, &opt.profile, "")
	opt.modelFlags(cmd)
	f.Lookup("also").Usage = "search for this `TEXT` too with each question (repeatable, at most 8)"
	f.Lookup("now").Usage = "count dates like 'last week' in queries from the day of this `TIME`: " +
		"without it from today, or from that of the report that --baseline compares with"
	f.VisitAll(func(flag *pflag.Flag) { opt.settings = append(opt.settings, flag) })
	f.StringVar(&opt.by, "by", "", "print figures by this `FIELD` too: cat, profile, intent, lane or stage")
	f.StringVar(&opt.results, "results", "",
		"write the answers to `FILE`, as 'mnem retrieve --batch' prints them")
	f.StringVar(&opt.baseline, "baseline", "", "compare with the report in `FILE`, made with --json")
	f.StringVar(&opt.tolerance, "tolerance", "0",
		"a figure that falls by no more than `N` is no worse: 0 to 1, at most 4 decimals")
	return c.command(cmd, func(cmd *cobra.Command, args []string) error {
		return c.runBench(cmd, args[0], opt)
	})
}

// changeDefault gives a flag that commands share another default.
func changeDefault(f *pflag.FlagSet, name string, n int) {
	flag := f.Lookup(name)
	flag.DefValue = intText(n)
	if err := flag.Value.Set(flag.DefValue); err != nil {
		panic(err) // a mistake in this file
	}
}

func (c *cli) runBench(cmd *cobra.Command, dir string, opt *benchOptions) error {
	f := cmd.Flags()
	switch {
	case f.Changed("by") && !slices.Contains(benchBy, evaluate.By(opt.by)):
		return usagef("--by: %q is not cat, profile, intent, lane or stage", opt.by)
	case f.Changed("by") && evaluate.By(opt.by) != evaluate.ByCategory && f.Changed("baseline"):
		return usagef("--by %s and --baseline exclude each other: a baseline has categories", opt.by)
	case f.Changed("results") && (opt.results == "" || opt.results == stdinName):
		return usagef("--results: want a file")
	case f.Changed("unseen"):
		return usagef("--unseen is about a session: there is none here")
	case f.Changed("order"):
		return usagef("--order is about how an answer is shown: ranks are what is measured")
	case f.Changed("summarize"):
		return usagef("--summarize is about what is shown beside the items: these are measured")
	case f.Changed("tolerance") && !f.Changed("baseline"):
		return usagef("--tolerance is for --baseline")
	}
	if err := opt.checkModels(cmd, true, nil); err != nil {
		return err
	}
	tolerance, err := parseFigure(opt.tolerance)
	if err != nil {
		return usagef("--tolerance: %w", err)
	}
	base, err := c.benchRequest(cmd, opt)
	if err != nil {
		return err
	}
	var before *baseline
	if f.Changed("baseline") { // read before the work begins
		if before, err = c.readBaseline(cmd.Context(), opt.baseline); err != nil {
			return err
		}
		opt.models.today = before.now
	}
	report, err := c.evaluate(cmd.Context(), dir, base, opt)
	if err != nil {
		return err
	}
	out := &benchReport{Report: report, opt: opt, base: base}
	if before != nil {
		if out.compared, err = before.compare(opt.baseline, report, tolerance); err != nil {
			return err
		}
		if len(out.compared.worse) > 0 {
			c.exit = operation.Failed.Exit
		}
	}
	if c.global.json {
		return c.printBenchJSON(out)
	}
	return c.printBench(out)
}

// evaluate answers the questions of a directory and writes the answers to a file if one is named.
func (c *cli) evaluate(
	ctx context.Context, dir string, base retrieve.Request, to *benchOptions,
) (*evaluate.Report, error) {
	p := c.progress()
	defer p.done()
	opt := evaluate.Options{
		Base: base, Shown: filepath.ToSlash(dir), Progress: p.set, Profiles: to.profiles,
		By: evaluate.By(to.by), Counters: counters(),
	}
	to.models.set(&opt)
	results := to.results
	from := os.DirFS(c.absolute(dir))
	if results == "" {
		return evaluate.Run(ctx, from, opt)
	}
	var report *evaluate.Report
	err := writeOut(ctx, c.absolute(results), func(w io.Writer) (err error) {
		side := &cli{app: c.app, out: bufio.NewWriterSize(w, outBuffer)}
		a := &answerer{c: side}
		opt.Answer = func(q *evaluate.Query, answer *retrieve.Answer) error {
			return a.printJSON(answer, ipld.CID{}, q.Query)
		}
		if report, err = evaluate.Run(ctx, from, opt); err != nil {
			return err
		}
		return side.out.Flush()
	})
	return report, err
}

// benchRequest returns the request that flags make, and finds the profiles that may be named.
func (c *cli) benchRequest(cmd *cobra.Command, opt *benchOptions) (retrieve.Request, error) {
	base, err := c.request(cmd, &opt.retrieveOptions)
	if err != nil {
		return base, err
	}
	if opt.models, err = c.openModels(cmd, opt, &base); err != nil {
		return base, err
	}
	base.Limit, base.Budget = &opt.limit, &opt.budget // metrics look further down than profiles
	named := cmd.Flags().Changed("profile")
	if named || opt.by == string(evaluate.ByProfile) {
		if opt.profiles, err = c.profilesHere(cmd); err != nil {
			return base, err
		}
	}
	if named {
		if base.Profile, err = c.profileName(cmd, opt.profile); err == nil {
			_, err = opt.profiles.Choose(base.Profile, nil)
		}
	}
	return base, profileHint(err)
}

// profilesHere returns the profiles of the repository that the command runs in, none outside of
// one.
func (c *cli) profilesHere(cmd *cobra.Command) (p *retrieve.Profiles, err error) {
	if _, err := c.dir(); errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	c.global.at = string(graph.Head)
	err = c.withRepo(cmd, false, func(ctx context.Context, r *repo.Repo) error {
		p, err = c.profiles(ctx, r)
		return err
	})
	return p, err
}
