package cli

import (
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/internal/evaluate"
	"github.com/mnem-project/mnem/memory"
	"github.com/mnem-project/mnem/retrieve"
)

// benchCheckOptions are the flags of bench check.
type benchCheckOptions struct {
	benchOptions
	gate   string
	sample int
}

func (c *cli) benchCheck() *cobra.Command {
	opt := &benchCheckOptions{}
	cmd := &cobra.Command{
		Use:   "check DIR [flags]",
		Short: "Measure whether 'mnem check' knows what a memory does not answer",
		Long: "DIR is as for 'mnem bench eval': pairs of files, whose questions have an answer in the memory of\n" +
			"their pair. Questions without one are made of them, by two rules:\n\n" +
			"  other sets  every question is asked of the memory of every other pair. Names that the pair\n" +
			"              is about are replaced by those that the other is about, so that no name gives it\n" +
			"              away: string properties of one to three capitalised words that one node of\n" +
			"              twenty has, the most frequent for the most frequent and so on\n" +
			"  removed     every question is asked of its own memory without the nodes in gold. What is\n" +
			"              left may say it too, so not every STRONG of these is false\n\n" +
			"Printed are, with the built-in thresholds: STRONG, the share of the answerable questions that\n" +
			"are; right, those that rely on a node in gold; precision, right of STRONG; false STRONG, the\n" +
			"share of unanswerable questions that are; not MISS, the shares that are STRONG or WEAK. Then\n" +
			"the curve: for each number of false STRONG from other sets the thresholds with the most right\n" +
			"ones; and for each pair how its questions come out with thresholds that are calibrated on the\n" +
			"others alone. With a single pair the rule removed stands for other sets.",
		Example: "  mnem bench check .\n  mnem bench check . --sample 100\n" +
			"  mnem bench check . --embed=hash --gate fused\n  mnem bench check . --json",
		Args: cobra.ExactArgs(1),
	}
	f := cmd.Flags()
	f.StringVar(&opt.gate, "gate", "", "judge by `GATE`: lexical, semantic or fused")
	f.IntVar(&opt.sample, "sample", 0, "count only `N` questions of each kind, chosen by hash; 0 for all")
	f.StringVar(&opt.embed, "embed", "", "embed nodes and questions by `SPEC` (alone: MNEM_EMBED_MODEL; "+
		"config: "+keyEmbedModel+")")
	f.Lookup("embed").NoOptDefVal = modelConfigured
	f.StringVar(&opt.now, "now", "",
		"count dates like 'last week' in questions from the day of this `TIME`, not from today")
	return c.command(cmd, func(cmd *cobra.Command, args []string) error {
		report, err := c.measureChecks(cmd, args[0], opt)
		if err != nil {
			return err
		}
		if c.global.json {
			return c.printJSON(jsonBenchCheck(report))
		}
		if err := c.printBenchCheck(report); err != nil {
			return err
		}
		if opt.models.dated {
			c.remark("dates count from %s", day(opt.models.today))
		}
		return nil
	})
}

func (c *cli) measureChecks(
	cmd *cobra.Command, dir string, opt *benchCheckOptions,
) (*evaluate.CheckReport, error) {
	if err := checkRange("sample", opt.sample, 0, maxListed); err != nil {
		return nil, err
	}
	if cmd.Flags().Changed("embed") && opt.embed == "" {
		return nil, usagef("--embed=: want a model, or --embed alone for the configured one")
	}
	var base retrieve.Request
	models, err := c.openModels(cmd, &opt.benchOptions, &base)
	if err != nil {
		return nil, err
	}
	opt.models = models
	if models.today, err = parseNow(cmd, opt.now); err != nil {
		return nil, err
	}
	p := c.progress()
	defer p.done()
	with := evaluate.CheckOptions{
		Gate: memory.Gate(opt.gate), Sample: opt.sample, Shown: filepath.ToSlash(dir), Progress: p.set,
		Ask: models.ask,
	}
	if models.queries != nil {
		with.Prepare = models.embedNodes
		if with.Gate == "" {
			with.Gate = memory.GateFused
		}
	} else if with.Gate != "" && with.Gate != memory.GateLexical {
		return nil, usagef("--gate %s needs --embed", opt.gate)
	}
	return evaluate.Check(cmd.Context(), os.DirFS(c.absolute(dir)), with)
}

// benchCheckJSON is what bench check prints. Figures are counts of questions.
type benchCheckJSON struct {
	Gate       memory.Gate      `json:"gate"`
	Files      []benchFileJSON  `json:"files"`
	Thresholds thresholdsJSON   `json:"thresholds"`
	OtherSets  *checkCountsJSON `json:"other_sets,omitempty"` // missing for a single pair
	Removed    checkCountsJSON  `json:"removed"`
	Curve      []curveJSON      `json:"curve"`
	Chosen     *curveJSON       `json:"chosen,omitempty"` // missing where no thresholds keep both bounds
	LeftOut    []leftOutSetJSON `json:"left_out"`
	Others     checkCountsJSON  `json:"others"` // the sum of left_out
}

type checkCountsJSON struct {
	Answerable       int `json:"answerable"`
	Strong           int `json:"strong"`
	Right            int `json:"right"`
	Weak             int `json:"weak"`
	Unanswerable     int `json:"unanswerable"`
	FalseStrong      int `json:"false_strong"`
	UnanswerableWeak int `json:"unanswerable_weak"`
}

type leftOutSetJSON struct {
	Name       string          `json:"name"`
	Thresholds *thresholdsJSON `json:"thresholds,omitempty"` // missing where the others give none
	checkCountsJSON
}

func jsonCheckCounts(f memory.CheckFigures) checkCountsJSON {
	return checkCountsJSON{
		f.Answerable, f.Strong, f.Right, f.Weak, f.Unanswerable, f.FalseStrong, f.UnanswerableWeak,
	}
}

func jsonBenchCheck(r *evaluate.CheckReport) benchCheckJSON {
	out := benchCheckJSON{
		Gate: r.Gate, Files: jsonBenchFiles(r.Files), Thresholds: jsonThresholds(r.Thresholds),
		Removed: jsonCheckCounts(r.Removed), Curve: jsonCurves(r.Calibration.Curve),
		LeftOut: []leftOutSetJSON{}, Others: jsonCheckCounts(r.Others),
	}
	if len(r.Files) > 1 {
		out.OtherSets = new(jsonCheckCounts(r.Figures))
	}
	if p := r.Calibration.Chosen; p != nil {
		out.Chosen = new(jsonCurve(*p))
	}
	for _, row := range r.LeftOut {
		one := leftOutSetJSON{Name: row.Name, checkCountsJSON: jsonCheckCounts(row.Figures)}
		if row.Thresholds != nil {
			one.Thresholds = new(jsonThresholds(*row.Thresholds))
		}
		out.LeftOut = append(out.LeftOut, one)
	}
	return out
}

func (c *cli) printBenchCheck(r *evaluate.CheckReport) error {
	rows := [][]cell{curveHead()}
	if len(r.Files) > 1 {
		rows = append(rows, curveRow("other sets", memory.CurvePoint{
			Thresholds: r.Thresholds, Figures: r.Figures,
		}))
	}
	rows = append(rows, curveRow("removed", memory.CurvePoint{
		Thresholds: r.Thresholds, Figures: r.Removed,
	}))
	for _, p := range r.Calibration.Curve {
		rows = append(rows, curveRow("curve", p))
	}
	if p := r.Calibration.Chosen; p != nil {
		rows = append(rows, curveRow("calibrated", *p))
	}
	for _, row := range r.LeftOut {
		if row.Thresholds != nil {
			rows = append(rows, curveRow("by others: "+row.Name, memory.CurvePoint{
				Thresholds: *row.Thresholds, Figures: row.Figures,
			}))
		}
	}
	if len(r.LeftOut) > 0 {
		rows = append(rows, curveRow("by others", memory.CurvePoint{Figures: r.Others})[:curveFigures])
	}
	if err := c.table(rows); err != nil {
		return err
	}
	if err := c.out.Flush(); err != nil {
		return err
	}
	nodes := 0
	for _, f := range r.Files {
		nodes += f.Nodes
	}
	questions := r.Removed.Answerable
	c.remark("%s of files, %s, %s, gate %s", plural(len(r.Files), "pair"), plural(nodes, "node"),
		plural(questions, "question"), r.Gate)
	return nil
}
