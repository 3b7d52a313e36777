package check

import (
	"maps"
	"slices"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/fixed"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// Verdict says whether a memory may be relied on.
type Verdict string

// The verdicts there are.
const (
	Strong Verdict = "STRONG" // a memory holds what is asked, nothing is missing, and it stands out
	Weak   Verdict = "WEAK"   // a memory is about it, and something is missing
	Miss   Verdict = "MISS"   // nothing that is more than chance
)

// Gate says what decides a verdict.
type Gate string

// The gates there are.
const (
	GateLexical  Gate = "lexical"  // words alone: needs no model
	GateSemantic Gate = "semantic" // vectors alone
	GateFused    Gate = "fused"    // words, or vectors where no name, number, phrase or date is missing
)

// Thresholds decide a verdict. Values are in units of 2^-16; the zero value is no useful one: begin
// with DefaultThresholds.
type Thresholds struct {
	Coverage int64 `json:"coverage"` // of STRONG, at least; 0 to 65,536
	Evidence int64 `json:"evidence"` // of STRONG, at least, in bits; 0 to 64 bits
	Lead     int64 `json:"lead"`     // of STRONG, at least; 0 to 65,536
	// WeakCoverage and WeakEvidence are what WEAK has at least of both: less is MISS.
	WeakCoverage int64 `json:"weak_coverage"`
	WeakEvidence int64 `json:"weak_evidence"`
	// Cosines are the cosine of STRONG by model, at least; DefaultCosine for others. WEAK has three
	// quarters of it. At most retrieve.MaxVectors of them.
	Cosines map[string]int64 `json:"cosines,omitempty"`
}

// DefaultCosine is the cosine of STRONG by vectors of a model that was not calibrated: .80, where
// the models that are in use today call two texts the same rather than about the same.
const DefaultCosine = 52_429

// DefaultThresholds returns the thresholds of a memory that was not calibrated. They come of dialogues
// and encyclopedia passages that nothing was tuned on but these numbers: half of what the question
// says; 4 bits beyond chance, 1 in 16; and nearly a fifth ahead of the next memory.
func DefaultThresholds() Thresholds {
	return Thresholds{
		Coverage: 32_768, // .5
		Evidence: 4 * fixed.One,
		Lead:     11_796, // .18

		WeakCoverage: 26_214, // .4
		WeakEvidence: 0,
	}
}

// maxEvidence bounds thresholds of evidence: 64 bits, which no memory has so many nodes to need.
const maxEvidence = 64 * fixed.One

// Parameters of check in the profiles of a commit.
const (
	verbCheck         = "check"
	paramCoverage     = "coverage"
	paramEvidence     = "evidence"
	paramLead         = "lead"
	paramWeakCoverage = "weakCoverage"
	paramWeakEvidence = "weakEvidence"
	paramCosines      = "cosines"
)

type thresholdParam struct {
	name string
	most int64
	of   func(*Thresholds) *int64
}

var thresholdParams = []thresholdParam{
	{paramCoverage, fixed.One, func(t *Thresholds) *int64 { return &t.Coverage }},
	{paramEvidence, maxEvidence, func(t *Thresholds) *int64 { return &t.Evidence }},
	{paramLead, fixed.One, func(t *Thresholds) *int64 { return &t.Lead }},
	{paramWeakCoverage, fixed.One, func(t *Thresholds) *int64 { return &t.WeakCoverage }},
	{paramWeakEvidence, maxEvidence, func(t *Thresholds) *int64 { return &t.WeakEvidence }},
}

// Validate returns a *retrieve.RequestError unless every threshold is within its bounds.
func (t Thresholds) Validate() error {
	for _, p := range thresholdParams {
		if v := *p.of(&t); v < 0 || v > p.most {
			return badParam(p.name, "%d, want 0 to %d units of 2^-16", v, p.most)
		}
	}
	if len(t.Cosines) > retrieve.MaxVectors {
		return badParam(paramCosines, "%d models, limit %d", len(t.Cosines), retrieve.MaxVectors)
	}
	for _, model := range slices.Sorted(maps.Keys(t.Cosines)) {
		if v := t.Cosines[model]; model == "" || len(model) > graph.MaxModel || v < 0 || v > fixed.One {
			return badParam(paramCosines, "%d of model %q, want 0 to %d and a name of 1 to %d bytes", v,
				model, fixed.One, graph.MaxModel)
		}
	}
	return nil
}

// Equal reports whether two decide alike.
func (t Thresholds) Equal(o Thresholds) bool {
	for _, p := range thresholdParams {
		if *p.of(&t) != *p.of(&o) {
			return false
		}
	}
	return maps.Equal(t.Cosines, o.Cosines)
}

// entries returns thresholds as a commit keeps them, nil for the defaults.
func (t Thresholds) entries() []ipld.Entry {
	if t.Equal(DefaultThresholds()) {
		return nil
	}
	var out []ipld.Entry
	for _, p := range thresholdParams {
		out = append(out, ipld.Entry{Key: p.name, Value: ipld.IntValue(*p.of(&t))})
	}
	if len(t.Cosines) > 0 {
		var models []ipld.Entry
		for model, v := range t.Cosines { // sorted by MapValue
			models = append(models, ipld.Entry{Key: model, Value: ipld.IntValue(v)})
		}
		out = append(out, ipld.Entry{Key: paramCosines, Value: ipld.MapValue(models...)})
	}
	return out
}

// thresholdsOf reads thresholds as a commit keeps them. Names of later versions are passed over.
func thresholdsOf(entries []ipld.Entry) (Thresholds, error) {
	t := DefaultThresholds()
	for _, e := range entries {
		if e.Key == paramCosines {
			t.Cosines = make(map[string]int64)
			for _, m := range e.Value.Entries() {
				if t.Cosines[m.Key] = -1; m.Value.Kind() == ipld.Int {
					t.Cosines[m.Key] = m.Value.Int()
				}
			}
			continue
		}
		for _, p := range thresholdParams {
			if p.name != e.Key {
				continue
			}
			if *p.of(&t) = -1; e.Value.Kind() == ipld.Int {
				*p.of(&t) = e.Value.Int()
			}
		}
	}
	return t, t.Validate()
}

// Cosine returns what STRONG by vectors of a model has at least.
func (t Thresholds) Cosine(model string) int64 {
	if v, ok := t.Cosines[model]; ok {
		return v
	}
	return DefaultCosine
}

// decide gives the verdict about a memory, and what it lacks to be relied on: nothing for STRONG.
func (t Thresholds) decide(gate Gate, e *Evidence) (Verdict, []Missing) {
	if e == nil {
		return Miss, nil
	}
	lexical, missing := t.lexical(e)
	semantic := t.semantic(e)
	verdict := lexical
	switch {
	case gate == GateSemantic:
		verdict = semantic
	case gate == GateFused && lexical != Strong && semantic == Strong:
		if verdict = Weak; !slices.ContainsFunc(missing, hard) {
			verdict = Strong
		}
	case gate == GateFused && lexical == Miss:
		verdict = semantic
	}
	if verdict == Strong && e.State != "" {
		verdict = Weak
	}
	if verdict == Strong {
		missing = nil
	}
	return verdict, missing
}

// byVectors decides by vectors alone, and says what a memory lacks besides: where they find it like
// enough, a name or number that it has not stands against it.
func (t Thresholds) byVectors(e *Evidence) (Verdict, []Missing) {
	if e == nil {
		return Miss, nil
	}
	_, missing := t.lexical(e)
	verdict := t.semantic(e)
	if verdict == Strong && (slices.ContainsFunc(missing, hard) || e.State != "") {
		verdict = Weak
	}
	if verdict == Strong {
		missing = nil
	}
	return verdict, missing
}

// wordsDecide reports whether the verdict by words stands rather than that by vectors, where both were
// judged apart.
func wordsDecide(words, vectors Verdict) bool {
	return words == Strong || vectors != Strong && words != Miss
}

// semantic decides by vectors: one model that finds it like enough will do.
func (t Thresholds) semantic(e *Evidence) Verdict {
	verdict := Miss
	for model, c := range e.Cosines {
		switch least := t.Cosine(model); {
		case c >= least:
			return Strong
		case c >= least-least/4:
			verdict = Weak
		}
	}
	return verdict
}

// lexical decides by words.
func (t Thresholds) lexical(e *Evidence) (Verdict, []Missing) {
	missing := slices.Clone(e.flaws)
	if e.tier == namedWhole { // the question is the name of the memory
		missing = slices.DeleteFunc(missing, func(m Missing) bool { return m.Kind != MissingCertain })
		if len(missing) > 0 {
			return Weak, missing
		}
		return Strong, nil
	}
	if e.Coverage < t.Coverage {
		missing = append(missing, e.unsaid...)
	}
	if e.Evidence < t.Evidence {
		missing = append(missing, Missing{Kind: MissingEvidence})
	}
	if e.Lead < t.Lead {
		missing = append(missing, Missing{Kind: MissingLead})
	}
	switch {
	case e.Coverage < t.WeakCoverage || e.Evidence < t.WeakEvidence:
		return Miss, missing
	case len(missing) > 0 || e.Coverage < t.Coverage:
		return Weak, missing
	}
	return Strong, nil
}

// namedWhole is the tier of an item whose key or id is the whole question: clause 8.4.
const namedWhole = 2

// hard reports whether likeness cannot make up for what is missing.
func hard(m Missing) bool {
	switch m.Kind {
	case MissingName, MissingNumber, MissingPhrase, MissingDate, MissingNegation, MissingCertain:
		return true
	}
	return false
}
