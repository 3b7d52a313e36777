package check

import (
	"context"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/retrieve"
)

// CalibrateRequest says how labelled questions are checked.
type CalibrateRequest struct {
	Check Request // but for the text
	// Complete adds to a question what models make of it; nil for nothing. Embeds is whether that may
	// be a vector: then the gate is GateFused unless Check names one.
	Complete func(context.Context, retrieve.Request) (retrieve.Request, error)
	Embeds   bool
	Now      func(*retrieve.Request) error // gives a request the day that its dates count from
	File     string                        // how errors call what the questions are from
	Progress func(done, total int)         // after each question; nil for none
}

// Calibrated is what labelled questions say about a memory.
type Calibrated struct {
	Gate        Gate
	Now         CurvePoint // with the thresholds of today
	Calibration Calibration
}

// CheckLabelled refuses questions that are too few to tell anything.
func CheckLabelled(list []Labelled, file string) error {
	yes := 0
	for _, q := range list {
		if q.Answerable {
			yes++
		}
	}
	if no := len(list) - yes; yes < MinLabelled || no < MinLabelled {
		return graph.Fieldf(file, "%d answerable and %d unanswerable questions, want at least "+
			"%d of each: fewer tell little", yes, no, MinLabelled)
	}
	return nil
}

// CalibrateOn checks labelled questions at a snapshot, and returns how they come out today and what they
// say about thresholds. The error of a question names its line.
func CalibrateOn(
	ctx context.Context, s *core.Snapshot, list []Labelled, req CalibrateRequest,
) (*Calibrated, error) {
	out := &Calibrated{Gate: req.Check.Gate}
	var err error
	if out.Now.Thresholds, _, err = ThresholdsAt(ctx, s); err != nil {
		return nil, err
	}
	if out.Gate == "" {
		if out.Gate = GateLexical; req.Embeds {
			out.Gate = GateFused
		}
	}
	req.Check.Gate = out.Gate
	points := make([]CheckPoint, len(list))
	for i, q := range list {
		if points[i], err = req.point(ctx, s, q); err != nil {
			return nil, &graph.LineError{File: req.File, Line: q.Line, Err: err}
		}
		if req.Progress != nil {
			req.Progress(i+1, len(list))
		}
	}
	out.Now.CheckFigures = out.Now.Thresholds.Measure(out.Gate, points)
	out.Calibration = Calibrate(points, CalibrateOptions{Gate: out.Gate, Base: DefaultThresholds()})
	return out, nil
}

// point checks one question.
func (r *CalibrateRequest) point(
	ctx context.Context, s *core.Snapshot, q Labelled,
) (p CheckPoint, err error) {
	req := r.Check
	req.Request.Text = q.Question
	ids := make([]graph.ID, len(q.Evidence))
	for i, name := range q.Evidence {
		if ids[i], err = s.Name(ctx, name); err != nil {
			return p, err
		}
	}
	if r.Complete != nil {
		if req.Request, err = r.Complete(ctx, req.Request); err != nil {
			return p, err
		}
	}
	if len(req.Request.Vectors) == 0 { // the model failed, and said so
		req.Gate = GateLexical
	}
	if err := r.Now(&req.Request); err != nil {
		return p, err
	}
	res, err := Check(ctx, s, req)
	if err != nil {
		return p, err
	}
	return res.Point(q.Answerable, ids), nil
}
