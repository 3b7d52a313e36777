package bench

import (
	"context"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/door/reach"
	"github.com/mnem-project/mnem/internal/evaluate"
	"github.com/mnem-project/mnem/internal/rank/complete"
	"github.com/mnem-project/mnem/retrieve"
)

type evalOptions struct {
	*reach.Retrieval
	by, results string
}

// rowsBy are the values of --by.
var rowsBy = []evaluate.By{
	evaluate.ByCategory, evaluate.ByProfile, evaluate.ByIntent, evaluate.ByLane,
	evaluate.ByStage,
}

func evalCommand(h *reach.Host) *cobra.Command {
	opt := &evalOptions{}
	cmd := &cobra.Command{
		Use:   "eval DIR [flags]",
		Short: "Answer questions with known answers and print how well",
		Long: "DIR holds pairs of files, NAME.changes.jsonl with change lines and NAME.queries.jsonl\n" +
			"with one question a line. Each pair becomes a temporary repository in memory, and the figures\n" +
			"are over all pairs together. A question is an object with\n\n" +
			"  qid            its name, given once in DIR\n" +
			"  text           the question\n" +
			"  gold           the keys of all nodes that answer it (ids for nodes without a key)\n" +
			"  cat            its category, if any; see --by\n" +
			"  gold_sessions  optional: the keys of the sessions to be found. Keys in gold then have the\n" +
			"                 form SESSION:TURN; nodes without a colon in their key are sessions\n\n" +
			"and any parameter of a line of 'mnem retrieve --batch'. A profile named by --profile or by a\n" +
			"question is a built-in one; with --profile or --by profile it may also be one of the repository\n" +
			"here, if there is one. Limit and budget are not taken from profiles. The figures are from 0\n" +
			"to 1, averaged over the questions that have them:\n\n" +
			"  R@5, R@10      the share of gold among the first 5 or 10 items\n" +
			"  All@10         1 if all of gold is among the first 10, else 0\n" +
			"  MRR            1/rank of the first item of gold\n" +
			"  nDCG@10        how high gold ranks among the first 10, 1 if all of it comes first\n" +
			"  R@1024         the share of gold in the items that fit into 1,024 tokens\n" +
			"  session R@5    the share of gold_sessions among the first 5 sessions of the items\n\n" +
			"--by intent has a row for the questions of each intent that 'mnem recall' knows, whether --intent\n" +
			"ranks by them or not: without it the figures are those of plain retrieval.\n\n" +
			"--by lane has a row for each lane on its own, with expansion as --expand says: text, the vectors\n" +
			"that there are, time, and recency, which looks at no question; exact is what questions\n" +
			"name by key or id, which every lane has in front. --by stage has a row for each stage of\n" +
			"retrieval, all else being equal: what runs is left out, and what does not is put in.\n\n" +
			"With --embed the nodes that have no embedding by the model are embedded first, and then each\n" +
			"question; --rewrite and --rerank let models help with each question, as in 'mnem retrieve'. How\n" +
			"often a model failed, so that a question was answered without it, is counted and printed.",
		Example: "  mnem-bench eval .\n" +
			"  mnem-bench eval . --by cat --expand 2\n" +
			"  mnem-bench eval . --profile docs\n" +
			"  mnem-bench eval . --by stage\n" +
			"  mnem-bench eval . --by intent --intent auto\n" +
			"  mnem-bench eval . --by lane --embed=hash --expand 0\n" +
			"  mnem-bench eval . --results results.jsonl",
		Args: line.Positionals("DIR [flags]"),
	}
	opt.Retrieval = h.RetrievalFlags(cmd, evaluate.DefaultLimit, evaluate.DefaultBudget)
	f := cmd.Flags()
	for _, name := range []string{"unseen", "order"} { // refused: there is no session, and no display
		f.Lookup(name).Hidden = true
	}
	f.Lookup("also").Usage = "search for this `TEXT` too with each question (repeatable, at most 8)"
	f.Lookup("now").Usage = "count dates like 'last week' in queries from the day of this `TIME`, without it from today"
	f.StringVar(&opt.by, "by", "", "print figures by this `FIELD` too: cat, profile, intent, lane or stage")
	f.StringVar(&opt.results, "results", "",
		"write the answers to `FILE`, as 'mnem retrieve --batch' prints them")
	return h.Command(cmd, func(cmd *cobra.Command, args []string) error {
		return runEval(h, cmd, args[0], opt)
	})
}

func runEval(h *reach.Host, cmd *cobra.Command, dir string, opt *evalOptions) error {
	f := cmd.Flags()
	switch {
	case f.Changed("by") && !slices.Contains(rowsBy, evaluate.By(opt.by)):
		return reach.Usagef("--by: %q is not cat, profile, intent, lane or stage", opt.by)
	case f.Changed("results") && (opt.results == "" || opt.results == "-"):
		return reach.Usagef("--results: want a file")
	case f.Changed("unseen"):
		return reach.Usagef("--unseen is about a session: there is none here")
	case f.Changed("order"):
		return reach.Usagef("--order is about how an answer is shown: ranks are what is measured")
	}
	if err := opt.CheckModels(); err != nil {
		return err
	}
	base, err := opt.Request(opt.by == string(evaluate.ByProfile))
	if err != nil {
		return err
	}
	report, err := answerAll(cmd.Context(), h, dir, base, opt)
	if err != nil {
		return err
	}
	out := &evalReport{Report: report, opt: opt, base: base}
	if h.InJSON {
		return h.PrintJSON(out.json())
	}
	return out.print(h)
}

// answerAll answers the questions of a directory and writes the answers to a file if one is named.
func answerAll(
	ctx context.Context, h *reach.Host, dir string, base retrieve.Request, to *evalOptions,
) (*evaluate.Report, error) {
	set, done := h.Progress()
	defer done()
	opt := evaluate.RunOptions{
		Base: base, Shown: filepath.ToSlash(dir), Progress: set, Profiles: to.Profiles,
		By: evaluate.By(to.by), Ask: to.Models.Ask,
	}
	if to.Models.Embeds() {
		opt.Prepare = to.Models.EmbedNodes
	}
	from := os.DirFS(h.Absolute(dir))
	if to.results == "" {
		return evaluate.Run(ctx, from, opt)
	}
	var report *evaluate.Report
	err := h.WriteAnswers(ctx, to.results,
		func(print func(*retrieve.Answer, complete.Query) error) (err error) {
			opt.Answer = func(q *evaluate.Query, answer *retrieve.Answer) error {
				return print(answer, q.Query)
			}
			report, err = evaluate.Run(ctx, from, opt)
			return err
		})
	return report, err
}
