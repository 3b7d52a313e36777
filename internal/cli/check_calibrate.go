package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/memory"
	"github.com/mnem-project/mnem/model/embed"
	"github.com/mnem-project/mnem/operation"
	"github.com/mnem-project/mnem/ops"
	"github.com/mnem-project/mnem/repo"
)

// calibrationJSON is what check --calibrate prints.
type calibrationJSON struct {
	Commit       *string     `json:"commit"` // that was made, null for none
	Branch       *string     `json:"branch"`
	DryRun       bool        `json:"dry_run"`
	Gate         memory.Gate `json:"gate"`
	Answerable   int         `json:"answerable"`
	Unanswerable int         `json:"unanswerable"`
	Now          curveJSON   `json:"now"`
	Chosen       *curveJSON  `json:"chosen,omitempty"` // missing where no thresholds keep both bounds
	Curve        []curveJSON `json:"curve"`
}

// curveJSON is how questions come out with thresholds.
type curveJSON struct {
	Thresholds       thresholdsJSON `json:"thresholds"`
	Strong           int            `json:"strong"`
	Right            int            `json:"right"`
	Weak             int            `json:"weak"`
	FalseStrong      int            `json:"false_strong"`
	UnanswerableWeak int            `json:"unanswerable_weak"`
}

func jsonCurve(p memory.CurvePoint) curveJSON {
	f := p.Figures
	return curveJSON{
		jsonThresholds(p.Thresholds), f.Strong, f.Right, f.Weak, f.FalseStrong, f.UnanswerableWeak,
	}
}

func jsonCurves(list []memory.CurvePoint) []curveJSON {
	out := make([]curveJSON, len(list))
	for i, p := range list {
		out[i] = jsonCurve(p)
	}
	return out
}

// resetCheck takes a memory's own thresholds away.
func (c *cli) resetCheck(cmd *cobra.Command, opt *checkOptions) error {
	return c.storeCheck(cmd, opt, "reset the thresholds of check",
		func(context.Context, *repo.Repo) (*memory.Thresholds, printCommit, error) {
			t := memory.DefaultThresholds()
			return &t, func(res *repo.CommitResult) error {
				if c.global.json {
					return c.printJSON(struct {
						Commit     *string        `json:"commit"`
						Branch     *string        `json:"branch"`
						DryRun     bool           `json:"dry_run"`
						Thresholds thresholdsJSON `json:"thresholds"`
					}{committed(res), branchOf(res), opt.dryRun, jsonThresholds(t)})
				}
				return c.printStored(res, opt.dryRun)
			}, nil
		})
}

// findThresholds returns thresholds to keep, nil for none, and what prints them and the commit that
// they are kept in, nil for none.
type findThresholds func(context.Context, *repo.Repo) (*memory.Thresholds, printCommit, error)

type printCommit func(*repo.CommitResult) error

// storeCheck runs find, and commits the thresholds that it returns unless they are nil or the run is
// dry; then what it returned prints.
func (c *cli) storeCheck(
	cmd *cobra.Command, opt *checkOptions, message string,
	find findThresholds,
) error {
	var with repo.CommitOptions
	if !opt.dryRun {
		by, err := c.signedStamp(cmd)
		if err != nil {
			return err
		}
		with = repo.CommitOptions{
			Stamp: by, Branch: c.branch(), Message: firstOf(opt.write.message, message),
		}
		if with.Expect, err = ops.ParseExpect(opt.write.expect); err != nil {
			return err
		}
	}
	return c.withRepo(cmd, !opt.dryRun, func(ctx context.Context, r *repo.Repo) error {
		t, print, err := find(ctx, r)
		if err != nil {
			return err
		}
		var res *repo.CommitResult
		if t != nil && !opt.dryRun {
			if res, err = memory.New(r).SetCheckThresholds(ctx, *t, with); err != nil {
				return err
			}
		}
		return print(res)
	})
}

func committed(res *repo.CommitResult) *string {
	if res == nil || res.NoChange {
		return nil
	}
	return jsonCID(res.Commit)
}

func branchOf(res *repo.CommitResult) *string {
	if res == nil {
		return nil
	}
	return orNull(res.Branch)
}

func (c *cli) printStored(res *repo.CommitResult, dry bool) error {
	switch {
	case dry:
		return c.printf("dry run: nothing written\n")
	case res == nil:
		return nil
	case res.NoChange:
		return c.printf("nothing to commit\n")
	}
	return c.printf("[%s %s] thresholds of check\n", c.paint(styleCyan, line(res.Branch)),
		c.paint(styleYellow, shortCID(res.Commit)))
}

// calibrateCheck finds thresholds on labelled questions.
func (c *cli) calibrateCheck(
	cmd *cobra.Command, opt *checkOptions, req memory.CheckRequest, e embed.Embedder,
) error {
	list, name, err := c.labelled(cmd.Context(), opt.calibrate)
	if err != nil {
		return err
	}
	return c.storeCheck(cmd, opt, "calibrate check on "+name,
		func(ctx context.Context, r *repo.Repo) (*memory.Thresholds, printCommit, error) {
			at := c.global.at
			if b := c.branch(); b != "" && !cmd.Flags().Changed("at") {
				at = b // what is measured is what the thresholds are kept with
			}
			s, err := r.Snapshot(ctx, at)
			if err != nil {
				return nil, nil, ops.CommitHint(err)
			}
			run := &calibrateRun{c: c, s: s, req: req, embed: e, file: name}
			now, got, err := run.all(ctx, list)
			if err != nil {
				return nil, nil, err
			}
			var t *memory.Thresholds
			if got.Chosen != nil {
				t = &got.Chosen.Thresholds
			} else {
				c.exit = operation.Failed.Exit
			}
			return t, func(res *repo.CommitResult) error {
				return c.printCalibration(now, got, run, res, opt.dryRun)
			}, nil
		})
}

// labelled reads the questions of a file.
func (c *cli) labelled(ctx context.Context, arg string) ([]memory.Labelled, string, error) {
	in, name, err := c.open(ctx, arg)
	if err != nil {
		return nil, name, err
	}
	defer func() { _ = in.Close() }() // only read from
	list, err := memory.ReadLabelled(in, name)
	if err != nil {
		return nil, name, err
	}
	yes := 0
	for _, q := range list {
		if q.Answerable {
			yes++
		}
	}
	if no := len(list) - yes; yes < memory.MinLabelled || no < memory.MinLabelled {
		return nil, name, graph.Fieldf(name, "%d answerable and %d unanswerable questions, want at least "+
			"%d of each: fewer tell little", yes, no, memory.MinLabelled)
	}
	return list, name, nil
}

// calibrateRun checks labelled questions.
type calibrateRun struct {
	c     *cli
	s     *repo.Snapshot
	req   memory.CheckRequest
	embed embed.Embedder
	file  string
}

// all returns how the questions come out now, and what they say about thresholds.
func (r *calibrateRun) all(
	ctx context.Context, list []memory.Labelled,
) (memory.CurvePoint, memory.Calibration, error) {
	var now memory.CurvePoint
	p := r.c.progress()
	defer p.done()
	var err error
	if now.Thresholds, _, err = memory.CheckThresholds(ctx, r.s); err != nil {
		return now, memory.Calibration{}, err
	}
	if r.req.Gate == "" {
		if r.req.Gate = memory.GateLexical; r.embed != nil {
			r.req.Gate = memory.GateFused
		}
	}
	points := make([]memory.CheckPoint, len(list))
	for i, q := range list {
		if points[i], err = r.one(ctx, q); err != nil {
			return now, memory.Calibration{}, &graph.LineError{File: r.file, Line: q.Line, Err: err}
		}
		p.set("questions:", i+1, len(list))
	}
	now.Figures = now.Thresholds.Measure(r.req.Gate, points)
	return now, memory.Calibrate(points, memory.CalibrateOptions{
		Gate: r.req.Gate, Base: memory.DefaultThresholds(),
	}), nil
}

func (r *calibrateRun) one(ctx context.Context, q memory.Labelled) (memory.CheckPoint, error) {
	req := r.req
	req.Request.Text = q.Question
	ids := make([]graph.ID, len(q.Evidence))
	var err error
	for i, name := range q.Evidence {
		if ids[i], err = r.s.Name(ctx, name); err != nil {
			return memory.CheckPoint{}, err
		}
	}
	if req.Request, err = r.c.embedAsk(r.embed)(ctx, req.Request); err != nil {
		return memory.CheckPoint{}, err
	}
	if len(req.Request.Vectors) == 0 { // the model failed, and said so
		req.Gate = memory.GateLexical
	}
	if req.Request, err = r.c.withNow(req.Request); err != nil {
		return memory.CheckPoint{}, err
	}
	res, err := memory.Check(ctx, r.s, req)
	if err != nil {
		return memory.CheckPoint{}, err
	}
	return res.Point(q.Answerable, ids), nil
}

func (c *cli) printCalibration(
	now memory.CurvePoint, got memory.Calibration, run *calibrateRun, res *repo.CommitResult, dry bool,
) error {
	f := now.Figures
	if c.global.json {
		out := calibrationJSON{
			Commit: committed(res), Branch: branchOf(res), DryRun: dry, Gate: run.req.Gate,
			Answerable: f.Answerable, Unanswerable: f.Unanswerable, Now: jsonCurve(now),
			Curve: jsonCurves(got.Curve),
		}
		if got.Chosen != nil {
			out.Chosen = new(jsonCurve(*got.Chosen))
		}
		return c.printJSON(out)
	}
	if err := c.printf("%s, %d unanswerable\n", plural(f.Answerable, "answerable question"),
		f.Unanswerable); err != nil {
		return err
	}
	rows := [][]cell{curveHead(), curveRow("now", now)}
	for _, p := range got.Curve {
		rows = append(rows, curveRow("curve", p))
	}
	if got.Chosen != nil {
		rows = append(rows, curveRow("chosen", *got.Chosen))
	}
	if err := c.table(rows); err != nil {
		return err
	}
	if got.Chosen == nil {
		return c.printf("no thresholds keep both bounds: nothing written\n")
	}
	return c.printStored(res, dry)
}

func curveHead() []cell {
	var row []cell
	for _, s := range []string{
		"", "STRONG", "right", "precision", "false STRONG", "not MISS", "unanswerable not MISS",
		"coverage", "evidence", "lead",
	} {
		row = append(row, cell{s, styleDim})
	}
	return row
}

// curveFigures is how many cells of a row are figures; the thresholds come after them.
const curveFigures = 7

// curveRow is one row of figures: shares of the answerable and unanswerable questions.
func curveRow(name string, p memory.CurvePoint) []cell {
	f, t := p.Figures, p.Thresholds
	row := []cell{{line(name), styleBold}}
	for _, s := range []string{
		ratio(f.Strong, f.Answerable), ratio(f.Right, f.Answerable), ratio(f.Right, f.Strong),
		ratio(f.FalseStrong, f.Unanswerable), ratio(f.Strong+f.Weak, f.Answerable),
		ratio(f.FalseStrong+f.UnanswerableWeak, f.Unanswerable),
		shareText(t.Coverage), bitsText(t.Evidence), shareText(t.Lead),
	} {
		row = append(row, cell{s, ""})
	}
	return row
}

// ratio is a share with three decimals, - of nothing.
func ratio(n, of int) string {
	if of == 0 {
		return "-"
	}
	return fmt.Sprintf("%.3f", float64(n)/float64(of))
}
