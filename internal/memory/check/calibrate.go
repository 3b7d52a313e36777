package check

import (
	"maps"
	"slices"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/fixed"
)

// Calibration finds the thresholds of check on questions whose answers are known. It tries every
// combination on a coarse grid, so that a handful of questions cannot choose between neighbours.
const (
	coverageSteps = 20 // of 1
	leadSteps     = 50
	cosineSteps   = 50
	leastLead     = 5  // steps that are tried: two memories within a tenth are about as good
	mostLead      = 20 // .4
	leastCosine   = 15 // .3
	mostEvidence  = 12 // bits
)

// Bounds and defaults of a calibration.
const (
	DefaultMaxFalse     = 3277   // .05 in units of 2^-16: unanswerable questions that may be STRONG
	DefaultMinPrecision = 52_429 // .8: answerable STRONG ones that rely on the right memory
	// MinLabelled is how many questions of each kind a calibration needs: with fewer, one question is
	// worth more than the share that is asked for.
	MinLabelled = 20
	// MaxLabelled is how many questions a calibration takes.
	MaxLabelled = 20_000
)

// CheckPoint is a question that is known to have an answer or none, and what a check found.
type CheckPoint struct {
	Answerable bool
	Right      bool // the best memory holds the answer; of a question without evidence: answerable
	known      bool // whether somebody said which memories hold the answer
	best       *Evidence
	// apart says that words were judged apart from vectors: words is the best by them, and rightWords
	// is Right of it.
	apart      bool
	words      *Evidence
	rightWords bool
}

// Point makes a point of a result. evidence are the memories that hold the answer, nil where nobody
// said which.
func (r *Result) Point(answerable bool, evidence []graph.ID) CheckPoint {
	right := func(e *Evidence) bool {
		return answerable && e != nil && (len(evidence) == 0 || slices.Contains(evidence, e.ID))
	}
	return CheckPoint{
		Answerable: answerable, Right: right(r.best), rightWords: right(r.words),
		known: len(evidence) > 0, best: r.best, words: r.words, apart: r.apart,
	}
}

// verdict decides about a point as Check does about a question, and says whether that is right.
func (t Thresholds) verdict(gate Gate, p CheckPoint) (verdict Verdict, right bool) {
	if gate != GateFused || !p.apart {
		verdict, _ = t.decide(gate, p.best)
		return verdict, p.Right
	}
	words, _ := t.decide(GateLexical, p.words)
	verdict, _ = t.byVectors(p.best)
	if wordsDecide(words, verdict) {
		return words, p.rightWords
	}
	return verdict, p.Right
}

// byWords is a point as words alone have it.
func (p CheckPoint) byWords() CheckPoint {
	if p.apart {
		p.best, p.Right = p.words, p.rightWords
	}
	return p
}

// CheckFigures are how a number of questions came out.
type CheckFigures struct {
	Answerable       int `json:"-"`
	Strong           int `json:"strong"`
	Right            int `json:"right"` // STRONG with the right memory
	Weak             int `json:"weak"`
	Unanswerable     int `json:"-"`
	FalseStrong      int `json:"false_strong"`
	UnanswerableWeak int `json:"unanswerable_weak"`
}

// Measure counts how points come out.
func (t Thresholds) Measure(gate Gate, points []CheckPoint) CheckFigures {
	var f CheckFigures
	for _, p := range points {
		var verdict Verdict
		verdict, p.Right = t.verdict(gate, p)
		f.count(p, verdict)
	}
	return f
}

// Plus returns the sum of two.
func (f CheckFigures) Plus(o CheckFigures) CheckFigures {
	return CheckFigures{
		f.Answerable + o.Answerable, f.Strong + o.Strong, f.Right + o.Right, f.Weak + o.Weak,
		f.Unanswerable + o.Unanswerable, f.FalseStrong + o.FalseStrong,
		f.UnanswerableWeak + o.UnanswerableWeak,
	}
}

func (f *CheckFigures) count(p CheckPoint, verdict Verdict) {
	switch {
	case !p.Answerable:
		f.Unanswerable++
		switch verdict {
		case Strong:
			f.FalseStrong++
		case Weak:
			f.UnanswerableWeak++
		}
		return
	case verdict == Strong:
		f.Strong++
		if p.Right {
			f.Right++
		}
	case verdict == Weak:
		f.Weak++
	}
	f.Answerable++
}

// CalibrateOptions say what thresholds must keep. The zero value asks for the defaults.
type CalibrateOptions struct {
	MaxFalse     int64 // default DefaultMaxFalse; units of 2^-16
	MinPrecision int64 // default DefaultMinPrecision
	Gate         Gate  // "" for GateLexical
	Base         Thresholds
}

// CurvePoint is thresholds and how the questions come out with them.
type CurvePoint struct {
	Thresholds Thresholds `json:"thresholds"`
	CheckFigures
}

// Calibration is what questions say about thresholds.
type Calibration struct {
	// Curve has, for each number of unanswerable questions that are STRONG, the thresholds with the
	// most right STRONG of those that are precise enough, with one standard error to spare, where
	// these are more than with fewer false ones: the whole trade.
	Curve []CurvePoint
	// Chosen keeps both bounds with one standard error to spare; nil where nothing does.
	Chosen *CurvePoint
}

// Calibrate finds thresholds. Of those that keep both bounds it chooses the most right STRONG, then
// the fewest false ones, then the strictest. It is a function of its arguments alone.
func Calibrate(points []CheckPoint, opt CalibrateOptions) Calibration {
	if opt.MaxFalse == 0 {
		opt.MaxFalse = DefaultMaxFalse
	}
	if opt.MinPrecision == 0 {
		opt.MinPrecision = DefaultMinPrecision
	}
	c := &calibrator{opt: opt, points: points, best: make(map[int]CurvePoint)}
	c.lexical()
	if opt.Gate != "" && opt.Gate != GateLexical {
		c.cosine()
	}
	out := Calibration{Curve: c.curve()}
	for i := range out.Curve {
		p := &out.Curve[i]
		if p.CheckFigures.keeps(opt) {
			out.Chosen = p
		}
	}
	if out.Chosen != nil {
		chosen := *out.Chosen
		chosen.Thresholds = c.weak(chosen.Thresholds)
		chosen.CheckFigures = chosen.Thresholds.Measure(opt.Gate, points)
		out.Chosen = &chosen
	}
	return out
}

// keeps reports whether figures keep both bounds with one standard error to spare.
func (f CheckFigures) keeps(opt CalibrateOptions) bool {
	spare := int64(fixed.Isqrt(uint64(max(f.FalseStrong, 1)) << (2 * fixed.FracBits)))
	return f.precise(opt) && int64(f.FalseStrong)*fixed.One+spare <= opt.MaxFalse*int64(f.Unanswerable)
}

// precise reports whether the right ones are so many of those that are STRONG, with one standard
// error of a share of that many to spare.
func (f CheckFigures) precise(opt CalibrateOptions) bool {
	least := opt.MinPrecision
	spare := int64(fixed.Isqrt(uint64(int64(f.Strong) * least * (fixed.One - least))))
	return f.Right > 0 && int64(f.Right)*fixed.One >= least*int64(f.Strong)+spare
}

type calibrator struct {
	opt    CalibrateOptions
	points []CheckPoint
	best   map[int]CurvePoint // by the number of false STRONG
}

// offer keeps thresholds that are the best of their number of false STRONG. Stricter ones come last.
func (c *calibrator) offer(t Thresholds, f CheckFigures) {
	if !f.precise(c.opt) {
		return
	}
	if old, ok := c.best[f.FalseStrong]; !ok || f.Right >= old.CheckFigures.Right {
		c.best[f.FalseStrong] = CurvePoint{t, f}
	}
}

// lexical tries all thresholds of words. What no threshold changes is looked at once.
func (c *calibrator) lexical() {
	var open []CheckPoint
	var fixedFigures CheckFigures
	loosest := c.opt.Base
	loosest.Coverage, loosest.Evidence, loosest.Lead = 0, 0, 0
	loosest.WeakCoverage, loosest.WeakEvidence = 0, 0
	for _, p := range c.points {
		p = p.byWords()
		if verdict, _ := loosest.decide(GateLexical, p.best); verdict == Strong {
			open = append(open, p)
		} else {
			fixedFigures.count(p, Miss)
		}
	}
	t := c.opt.Base
	leads := c.leads()
	t.WeakCoverage, t.WeakEvidence = 0, 0 // they decide between WEAK and MISS: see weak
	for i := int64(6); i <= coverageSteps; i++ {
		t.Coverage = i * fixed.One / coverageSteps
		for j := int64(0); j <= mostEvidence; j++ {
			t.Evidence = j * fixed.One
			for _, lead := range leads {
				t.Lead = lead
				f := fixedFigures
				for _, p := range open {
					f.count(p, t.strong(p.best))
				}
				c.offer(t, f)
			}
		}
	}
}

// leads are what is tried. The lead keeps the wrong one of two memories from being relied on: where
// nobody said which is the right one, questions tell nothing about it.
func (c *calibrator) leads() []int64 {
	if !slices.ContainsFunc(c.points, func(p CheckPoint) bool { return p.known }) {
		return []int64{c.opt.Base.Lead}
	}
	var out []int64
	for k := int64(leastLead); k <= mostLead; k++ {
		out = append(out, k*fixed.One/leadSteps)
	}
	return out
}

// strong decides by words about what nothing else keeps from being STRONG.
func (t Thresholds) strong(e *Evidence) Verdict {
	if e.tier == namedWhole ||
		e.Coverage >= t.Coverage && e.Evidence >= t.Evidence && e.Lead >= t.Lead {
		return Strong
	}
	return Miss
}

// cosine tries the cosines of each model beside the thresholds of words that were found.
func (c *calibrator) cosine() {
	base := c.opt.Base
	if p := c.curve(); len(p) > 0 {
		base = p[len(p)-1].Thresholds
		for _, q := range p {
			if q.CheckFigures.keeps(c.opt) {
				base = q.Thresholds
			}
		}
	}
	var models []string
	for _, p := range c.points {
		if p.best == nil {
			continue
		}
		models = slices.AppendSeq(models, maps.Keys(p.best.Cosines))
	}
	slices.Sort(models)
	c.best = make(map[int]CurvePoint)
	c.offer(base, base.Measure(c.opt.Gate, c.points))
	for _, model := range slices.Compact(models) {
		for i := int64(leastCosine); i <= cosineSteps; i++ {
			t := base
			t.Cosines = map[string]int64{model: i * fixed.One / cosineSteps}
			c.offer(t, t.Measure(c.opt.Gate, c.points))
		}
	}
}

// curve returns what is best of each number of false STRONG and better than with fewer.
func (c *calibrator) curve() []CurvePoint {
	var out []CurvePoint
	var counts []int
	for n := range c.best {
		counts = append(counts, n)
	}
	slices.Sort(counts)
	for _, n := range counts {
		if len(out) == 0 || c.best[n].CheckFigures.Right > out[len(out)-1].CheckFigures.Right {
			out = append(out, c.best[n])
		}
	}
	return out
}

// weak finds what is WEAK rather than MISS: where the share of answerable questions that do not miss
// is the farthest above that of unanswerable ones.
func (c *calibrator) weak(t Thresholds) Thresholds {
	best, most := t, int64(-1<<62)
	for i := int64(0); i*fixed.One/coverageSteps <= t.Coverage; i++ {
		for j := int64(0); j*fixed.One <= max(t.Evidence, 0); j++ {
			t.WeakCoverage, t.WeakEvidence = i*fixed.One/coverageSteps, j*fixed.One
			f := t.Measure(c.opt.Gate, c.points)
			gain := int64(f.Strong+f.Weak)*int64(max(f.Unanswerable, 1)) -
				int64(f.FalseStrong+f.UnanswerableWeak)*int64(max(f.Answerable, 1))
			if gain >= most {
				best, most = t, gain
			}
		}
	}
	return best
}
