package cli

import (
	"context"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/memory"
	"github.com/mnem-project/mnem/model/embed"
	"github.com/mnem-project/mnem/ops"
	"github.com/mnem-project/mnem/repo"
	"github.com/mnem-project/mnem/retrieve"
)

// checkOptions are the flags of check.
type checkOptions struct {
	retrieveOptions // types, where, marks, times, vectors, embed and now of it
	gate            string
	nearest         int
	thresholds      []string
	calibrate       string
	dryRun, reset   bool
	write           profileWrite
}

func (c *cli) checkCommand() *cobra.Command {
	opt := &checkOptions{}
	cmd := &cobra.Command{
		Use:     "check QUERY… [flags]",
		GroupID: groupRead,
		Short:   "Say whether the memory may be relied on for an answer",
		Long: "Find the memory that answers a question, or says what a statement says, and judge it:\n\n" +
			"  STRONG  it holds what is asked, lacks nothing that matters and stands out from the next\n" +
			"  WEAK    it is about it, and something is missing, which is named\n" +
			"  MISS    nothing that is more than chance; the nearest are listed\n\n" +
			"It is judged by words, with no model: the coverage is the share of the question's words that\n" +
			"two sentences in a row hold, each word weighing the more the fewer memories have it; the\n" +
			"evidence is by how many bits that is more than chance explains; the lead is how far it is\n" +
			"ahead of the next memory. Names, numbers, quoted phrases and dates of the question must all be\n" +
			"there, no word may be one that no memory has, a name alone proves nothing, and sentences that\n" +
			"ask assert nothing. What is marked stale or contradicted is never STRONG.\n\n" +
			"STRONG says that the memory was found, not that it is true. With --vector or --embed likeness\n" +
			"counts too: --gate fused (then the default) is STRONG by words, or by vectors where no name,\n" +
			"number, phrase or date is missing; semantic goes by vectors alone.\n\n" +
			"--calibrate finds the thresholds on questions of your own, JSON objects a line: question,\n" +
			"answerable (true or false), and if known evidence, the keys or ids that hold the answer. It\n" +
			"prints the curve of what can be had, and keeps with the memory, as one commit, the thresholds\n" +
			"with the most right STRONG of which at most .05 of the unanswerable and at most .2 of the\n" +
			"answerable ones are wrong, with one standard error to spare; --dry-run only prints. --reset\n" +
			"goes back to the built-in ones. Thresholds merge, revert and branch as the memory does.\n\n" +
			"A check reads as much as one retrieval of twenty items, and writes nothing. Any verdict exits 0.",
		Example: "  mnem check 'who owns billing?'\n" +
			"  mnem check 'does Alice own billing' --json\n" +
			"  mnem check 'when did the migration end?' --type Decision --nearest 5\n" +
			"  mnem check 'charged twice' --embed=hash\n" +
			"  mnem check 'who owns billing?' --threshold coverage=0.7\n" +
			"  mnem check --calibrate questions.jsonl --dry-run",
	}
	c.atFlag(cmd)
	f := cmd.Flags()
	f.StringVar(&opt.gate, "gate", "",
		"judge by `GATE`: lexical, semantic or fused; default lexical, with vectors fused")
	f.IntVar(&opt.nearest, "nearest", memory.DefaultNearest, "list `N` memories beside the best; 0 to 9")
	f.StringArrayVar(&opt.thresholds, "threshold", nil, "use another threshold this once: `NAME=X` with "+
		"coverage, evidence (bits), lead, weak-coverage or weak-evidence (repeatable)")
	c.paramFlags(cmd, "types", "where", "validAt", "now")
	marksFlag(cmd, &opt.marks)
	f.StringArrayVar(&opt.vectors, "vector", nil,
		"judge by this `MODEL=@FILE` too: the query's embedding (repeatable)")
	f.StringVar(&opt.embed, "embed", "", "judge by the embedding of the query too, made by `SPEC` (alone: "+
		"MNEM_EMBED_MODEL; config: "+keyEmbedModel+")")
	f.Lookup("embed").NoOptDefVal = modelConfigured
	f.StringVar(&opt.calibrate, "calibrate", "", "find thresholds on the labelled questions in `FILE`, - "+
		"for standard input")
	f.BoolVar(&opt.dryRun, "dry-run", false, "with --calibrate or --reset: write nothing")
	f.BoolVar(&opt.reset, "reset", false, "go back to the built-in thresholds")
	c.profileFlags(cmd, &opt.write)
	return c.command(cmd, func(cmd *cobra.Command, args []string) error {
		return c.check(cmd, opt, args)
	})
}

func (c *cli) check(cmd *cobra.Command, opt *checkOptions, args []string) error {
	if err := opt.refuse(cmd, args); err != nil {
		return err
	}
	req, err := c.checkRequest(cmd, opt)
	if err != nil {
		return err
	}
	if opt.reset {
		return c.resetCheck(cmd, opt)
	}
	if req.Request.Text, err = c.queryText(cmd.Context(), args); err != nil {
		return err
	}
	e, err := c.queryEmbedder(&opt.retrieveOptions, req.Request)
	if err != nil {
		return err
	}
	if opt.calibrate != "" {
		return c.calibrateCheck(cmd, opt, req, e)
	}
	if req.Request, err = c.embedQuery(cmd.Context(), e, req.Request); err != nil {
		return err
	}
	return c.withRepo(cmd, false, func(ctx context.Context, r *repo.Repo) error {
		s, err := r.Snapshot(ctx, c.global.at)
		if err != nil {
			return ops.CommitHint(err)
		}
		if err := opt.override(ctx, s, &req); err != nil {
			return err
		}
		if req.Request, err = c.withNow(req.Request); err != nil {
			return err
		}
		res, err := memory.Check(ctx, s, req)
		if err != nil {
			return err
		}
		if c.global.json {
			return c.printJSON(jsonCheck(req.Request.Text, res))
		}
		return c.printCheck(res)
	})
}

// refuse refuses flags that contradict each other or would do nothing.
func (o *checkOptions) refuse(cmd *cobra.Command, args []string) error {
	f := cmd.Flags()
	switch {
	case f.Changed("calibrate") && o.calibrate == "":
		return usagef("--calibrate: want a file, or - for standard input")
	case o.calibrate != "" && o.reset:
		return usagef("--calibrate and --reset exclude each other")
	case (o.calibrate != "" || o.reset) && len(args) > 0:
		return usagef("a query, and --calibrate or --reset, exclude each other")
	case o.calibrate == "" && !o.reset && len(args) == 0:
		return usagef("want a question: mnem check 'who owns billing?'")
	case f.Changed("embed") && o.embed == "":
		return usagef("--embed=: want a model, or --embed alone for the configured one")
	case o.calibrate != "" && len(o.vectors) > 0:
		return usagef("--vector is of one query: with --calibrate use --embed")
	case o.calibrate != "" && len(o.thresholds) > 0:
		return usagef("--threshold and --calibrate exclude each other: it finds them")
	}
	if o.reset {
		for _, name := range []string{
			"at", "gate", "nearest", "threshold", "type", "where", "valid-at", "include", "marks",
			"vector", "embed", "now",
		} {
			if f.Changed(name) {
				return usagef("--%s is of a question: --reset takes the memory's own thresholds away", name)
			}
		}
	}
	if o.calibrate != "" && f.Changed("nearest") {
		return usagef("--nearest does nothing with --calibrate")
	}
	if o.calibrate == "" && !o.reset {
		for _, name := range []string{
			"dry-run", "message", "expect", "branch", "author", "agent", "task", "time",
		} {
			if f.Changed(name) {
				return usagef("--%s needs --calibrate or --reset: a check writes nothing", name)
			}
		}
	}
	return o.checkStdin(args)
}

// checkRequest returns the request that flags make, but for its text.
func (c *cli) checkRequest(cmd *cobra.Command, opt *checkOptions) (memory.CheckRequest, error) {
	out := memory.CheckRequest{Gate: memory.Gate(opt.gate), Nearest: &opt.nearest}
	var req retrieve.Request
	err := setByFlags(cmd.Flags(), &req)
	if err != nil {
		return out, err
	}
	if req.Marks, err = parseMarks(opt.marks); err != nil {
		return out, err
	}
	if req.Vectors, err = c.queryVectors(cmd.Context(), &opt.retrieveOptions); err != nil {
		return out, err
	}
	out.Request = req
	return out, req.ValidateGiven()
}

// override puts the thresholds of --threshold in the place of the memory's.
func (o *checkOptions) override(
	ctx context.Context, s *repo.Snapshot, req *memory.CheckRequest,
) error {
	if len(o.thresholds) == 0 {
		return nil
	}
	t, _, err := memory.CheckThresholds(ctx, s)
	if err != nil {
		return err
	}
	for _, given := range o.thresholds {
		name, value, _ := strings.Cut(given, "=")
		to := thresholdField(&t, name)
		if to == nil {
			return usagef("--threshold %q: want coverage, evidence, lead, weak-coverage or weak-evidence, "+
				"as in coverage=0.7", given)
		}
		x, err := strconv.ParseFloat(value, 64)
		if err != nil || !(x >= 0 && x <= maxThreshold) {
			return usagef("--threshold %q: want a number of 0 to 1, of evidence 0 to %d bits", given,
				maxThreshold)
		}
		*to = int64(math.RoundToEven(float64(x * 65536)))
	}
	req.Thresholds = &t
	return nil
}

// maxThreshold is the largest number that any threshold may be.
const maxThreshold = 64

func thresholdField(t *memory.Thresholds, name string) *int64 {
	switch name {
	case "coverage":
		return &t.Coverage
	case "evidence":
		return &t.Evidence
	case "lead":
		return &t.Lead
	case "weak-coverage":
		return &t.WeakCoverage
	case "weak-evidence":
		return &t.WeakEvidence
	}
	return nil
}

// embedAsk returns what completes the request of a labelled question.
func (c *cli) embedAsk(
	e embed.Embedder,
) func(context.Context, retrieve.Request) (retrieve.Request, error) {
	return func(ctx context.Context, req retrieve.Request) (retrieve.Request, error) {
		return c.embedQuery(ctx, e, req)
	}
}

// shareText shows units of 2^-16 with two decimals.
func shareText(n int64) string { return strconv.FormatFloat(float64(n)/65536, 'f', 2, 64) }

// bitsText shows units of 2^-16 with one decimal.
func bitsText(n int64) string { return strconv.FormatFloat(float64(n)/65536, 'f', 1, 64) }
