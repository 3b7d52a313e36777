package bench

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/internal/cli"
	"github.com/mnem-project/mnem/internal/evaluate"
	"github.com/mnem-project/mnem/internal/plain"
	"github.com/mnem-project/mnem/internal/show"
	"github.com/mnem-project/mnem/memory"
	"github.com/mnem-project/mnem/ops"
)

// checkOptions are the flags of check.
type checkOptions struct {
	*cli.Retrieval
	gate   string
	sample int
}

func checkCommand(h *cli.Host) *cobra.Command {
	opt := &checkOptions{}
	cmd := &cobra.Command{
		Use:   "check DIR [flags]",
		Short: "Measure whether 'mnem check' knows what a memory does not answer",
		Long: "DIR is as for 'mnem-bench eval': pairs of files, whose questions have an answer in the memory of\n" +
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
		Example: "  mnem-bench check .\n  mnem-bench check . --sample 100\n" +
			"  mnem-bench check . --embed=hash --gate fused\n  mnem-bench check . --json",
		Args: cli.Positionals("DIR [flags]"),
	}
	f := cmd.Flags()
	f.StringVar(&opt.gate, "gate", "", "judge by `GATE`: lexical, semantic or fused")
	f.IntVar(&opt.sample, "sample", 0, "count only `N` questions of each kind, chosen by hash; 0 for all")
	opt.Retrieval = h.EmbedFlags(cmd)
	return h.Command(cmd, func(cmd *cobra.Command, args []string) error {
		report, err := measureChecks(h, cmd, args[0], opt)
		if err != nil {
			return err
		}
		if h.InJSON {
			return h.PrintJSON(jsonCheck(report))
		}
		if err := printCheck(h, report); err != nil {
			return err
		}
		if opt.Models.Dated {
			day, _, _ := strings.Cut(opt.Models.Today.String(), "T")
			h.Remark("dates count from %s", day)
		}
		return nil
	})
}

// maxSample is far more questions than any set has.
const maxSample = 1_000_000

func measureChecks(
	h *cli.Host, cmd *cobra.Command, dir string, opt *checkOptions,
) (*evaluate.CheckReport, error) {
	if opt.sample < 0 || opt.sample > maxSample {
		return nil, cli.Usagef("--sample: %d is outside 0 to %d", opt.sample, maxSample)
	}
	if err := opt.Embedding(evaluate.Stamp()); err != nil {
		return nil, err
	}
	set, done := h.Progress()
	defer done()
	with := evaluate.CheckOptions{
		Gate: memory.Gate(opt.gate), Sample: opt.sample, Shown: filepath.ToSlash(dir), Progress: set,
		Ask: opt.Models.Ask,
	}
	if opt.Models.Embeds() {
		with.Prepare = opt.Models.EmbedNodes
		if with.Gate == "" {
			with.Gate = memory.GateFused
		}
	} else if with.Gate != "" && with.Gate != memory.GateLexical {
		return nil, cli.Usagef("--gate %s needs --embed", opt.gate)
	}
	return evaluate.Check(cmd.Context(), os.DirFS(h.Absolute(dir)), with)
}

// checkJSON is what bench check prints. Figures are counts of questions.
type checkJSON struct {
	Gate       memory.Gate      `json:"gate"`
	Files      []fileJSON       `json:"files"`
	Thresholds ops.Thresholds   `json:"thresholds"`
	OtherSets  *checkCountsJSON `json:"other_sets,omitempty"` // missing for a single pair
	Removed    checkCountsJSON  `json:"removed"`
	Curve      []ops.Curve      `json:"curve"`
	Chosen     *ops.Curve       `json:"chosen,omitempty"` // missing where no thresholds keep both bounds
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
	Thresholds *ops.Thresholds `json:"thresholds,omitempty"` // missing where the others give none
	checkCountsJSON
}

func jsonCheckCounts(f memory.CheckFigures) checkCountsJSON {
	return checkCountsJSON{
		f.Answerable, f.Strong, f.Right, f.Weak, f.Unanswerable, f.FalseStrong, f.UnanswerableWeak,
	}
}

func jsonCheck(r *evaluate.CheckReport) checkJSON {
	out := checkJSON{
		Gate: r.Gate, Files: filesJSON(r.Files), Thresholds: ops.Thresholds(r.Thresholds),
		Removed: jsonCheckCounts(r.Removed), Curve: []ops.Curve{},
		LeftOut: []leftOutSetJSON{}, Others: jsonCheckCounts(r.Others),
	}
	for _, p := range r.Calibration.Curve {
		out.Curve = append(out.Curve, ops.CurveOf(p))
	}
	if len(r.Files) > 1 {
		out.OtherSets = new(jsonCheckCounts(r.Figures))
	}
	if p := r.Calibration.Chosen; p != nil {
		out.Chosen = new(ops.CurveOf(*p))
	}
	for _, row := range r.LeftOut {
		one := leftOutSetJSON{Name: row.Name, checkCountsJSON: jsonCheckCounts(row.Figures)}
		if row.Thresholds != nil {
			one.Thresholds = new(ops.Thresholds(*row.Thresholds))
		}
		out.LeftOut = append(out.LeftOut, one)
	}
	return out
}

func printCheck(h *cli.Host, r *evaluate.CheckReport) error {
	rows := [][]show.Cell{show.CurveHead()}
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
		rows = append(rows, curveRow("by others", memory.CurvePoint{Figures: r.Others})[:show.CurveFigures])
	}
	if err := h.Table(rows); err != nil {
		return err
	}
	nodes := 0
	for _, f := range r.Files {
		nodes += f.Nodes
	}
	questions := r.Removed.Answerable
	h.Remark("%s of files, %s, %s, gate %s", plain.Plural(len(r.Files), "pair"), plain.Plural(nodes, "node"),
		plain.Plural(questions, "question"), r.Gate)
	return nil
}

// curveRow is one row of a table of figures.
func curveRow(name string, p memory.CurvePoint) []show.Cell {
	return show.CurveRow(name, ops.CurveOf(p), p.Figures.Answerable, p.Figures.Unanswerable)
}
