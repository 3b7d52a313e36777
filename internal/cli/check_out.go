package cli

import (
	"fmt"
	"strings"

	"github.com/mnem-project/mnem/memory"
)

// checkJSON is the answer of check.
type checkJSON struct {
	Commit     *string            `json:"commit"`
	Query      string             `json:"query"`
	Verdict    memory.Verdict     `json:"verdict"`
	Gate       memory.Gate        `json:"gate"`
	Item       *checkItemJSON     `json:"item"`    // null for MISS
	Signals    *checkSignalsJSON  `json:"signals"` // of the best memory, null where there is none
	Missing    []checkMissingJSON `json:"missing"` // of it; empty for STRONG
	Nearest    []checkNearJSON    `json:"nearest"`
	ReadAs     []readingJSON      `json:"read_as,omitempty"`
	Thresholds thresholdsJSON     `json:"thresholds"`
}

type checkItemJSON struct {
	ID    string  `json:"id"`
	Key   *string `json:"key"`
	Type  string  `json:"type"`
	Title string  `json:"title"`
	Span  *string `json:"span"`
	State *string `json:"state"`
}

type checkSignalsJSON struct {
	Coverage int64            `json:"coverage"`
	Evidence int64            `json:"evidence"`
	Lead     int64            `json:"lead"`
	Score    int64            `json:"score"`
	Cosines  map[string]int64 `json:"cosines,omitempty"`
	Held     []string         `json:"held"`
}

type checkMissingJSON struct {
	Kind string  `json:"kind"`
	Text *string `json:"text"`
}

type checkNearJSON struct {
	checkItemJSON
	Coverage int64 `json:"coverage"`
	Evidence int64 `json:"evidence"`
	Score    int64 `json:"score"`
}

type readingJSON struct {
	Term string `json:"term"`
	As   string `json:"as"`
}

// thresholdsJSON is in units of 2^-16, as all scores are.
type thresholdsJSON struct {
	Coverage     int64            `json:"coverage"`
	Evidence     int64            `json:"evidence"`
	Lead         int64            `json:"lead"`
	WeakCoverage int64            `json:"weak_coverage"`
	WeakEvidence int64            `json:"weak_evidence"`
	Cosines      map[string]int64 `json:"cosines,omitempty"`
}

func jsonThresholds(t memory.Thresholds) thresholdsJSON {
	return thresholdsJSON{t.Coverage, t.Evidence, t.Lead, t.WeakCoverage, t.WeakEvidence, t.Cosines}
}

func jsonCheck(query string, r *memory.CheckResult) checkJSON {
	out := checkJSON{
		Commit: jsonCID(r.Commit), Query: query, Verdict: r.Verdict, Gate: r.Gate,
		Missing: []checkMissingJSON{}, Nearest: []checkNearJSON{},
		Thresholds: jsonThresholds(r.Thresholds),
	}
	if e := r.Signals; e != nil {
		out.Signals = &checkSignalsJSON{
			Coverage: e.Coverage, Evidence: e.Evidence, Lead: e.Lead, Score: e.Score,
			Held: append([]string{}, e.Held...),
		}
		for _, c := range e.Cosines {
			if out.Signals.Cosines == nil {
				out.Signals.Cosines = make(map[string]int64)
			}
			out.Signals.Cosines[c.Model] = c.Cosine
		}
		for _, m := range e.Missing {
			out.Missing = append(out.Missing, checkMissingJSON{m.Kind, orNull(m.Text)})
		}
	}
	if r.Best != nil {
		out.Item = new(jsonCheckItem(r.Best))
	}
	for _, e := range r.Nearest {
		out.Nearest = append(out.Nearest, checkNearJSON{jsonCheckItem(e), e.Coverage, e.Evidence, e.Score})
	}
	for _, x := range r.Readings {
		out.ReadAs = append(out.ReadAs, readingJSON{x.Term, x.As})
	}
	return out
}

func jsonCheckItem(e *memory.Evidence) checkItemJSON {
	return checkItemJSON{
		e.ID.String(), orNull(e.Key), e.Type, e.Title, orNull(e.Span), orNull(string(e.State)),
	}
}

// missingText says what is missing.
func missingText(m memory.Missing) string {
	text := "'" + line(m.Text) + "'"
	switch m.Kind {
	case memory.MissingUnknown:
		return text + " (in no memory)"
	case memory.MissingName, memory.MissingNumber, memory.MissingPhrase:
		return "the " + m.Kind + " " + text
	case memory.MissingDate:
		return "the date"
	case memory.MissingCount:
		return "a number"
	case memory.MissingTopic:
		return "anything but names and numbers"
	case memory.MissingNegation:
		return "agreement: one of the two says not"
	case memory.MissingLead:
		return "a lead: others fit about as well"
	case memory.MissingEvidence:
		return "words that tell more"
	case memory.MissingCertain:
		return "certainty: it is marked " + line(m.Text)
	case memory.MissingAsserted:
		return "an answer: it asks itself"
	}
	return text
}

// verdictStyles are the colours of verdicts.
var verdictStyles = map[memory.Verdict]string{
	memory.Strong: styleGreen, memory.Weak: styleYellow, memory.Miss: styleRed,
}

// whyMiss says why no memory was pointed to, and no more: one may answer in words that the question
// does not have.
func whyMiss(r *memory.CheckResult) string {
	e := r.Signals
	switch {
	case e == nil:
		return "no memory has anything of that"
	case r.Gate == memory.GateSemantic:
		return "no memory is like enough to that"
	case e.Coverage < r.Thresholds.WeakCoverage:
		return "no memory was found that says enough of that"
	}
	return "what the nearest memory has of that may be chance"
}

func (c *cli) printCheck(r *memory.CheckResult) error {
	var b strings.Builder
	b.WriteString(c.paint(verdictStyles[r.Verdict], string(r.Verdict)))
	if e := r.Best; e != nil {
		fmt.Fprintf(&b, "  %s\n  id: %s\n", line(e.Title), e.ID)
		if e.Key != "" {
			fmt.Fprintf(&b, "  key: %s\n", line(e.Key))
		}
		if e.Span != "" && e.Span != e.Title {
			fmt.Fprintf(&b, "  says: %s\n", line(e.Span))
		}
	} else {
		fmt.Fprintf(&b, "  %s\n", whyMiss(r))
	}
	if e := r.Signals; e != nil {
		signals := fmt.Sprintf("coverage %s, evidence %s bits, lead %s", shareText(e.Coverage),
			bitsText(e.Evidence), shareText(e.Lead))
		for _, m := range e.Cosines {
			signals += fmt.Sprintf(", cosine %s by %s", shareText(m.Cosine), line(m.Model))
		}
		fmt.Fprintf(&b, "  %s\n", c.paint(styleDim, signals))
		if len(e.Held) > 0 && r.Best != nil {
			fmt.Fprintf(&b, "  holds: %s\n", line(strings.Join(e.Held, ", ")))
		}
		if len(e.Missing) > 0 && e.Coverage > 0 {
			parts := make([]string, len(e.Missing))
			for i, m := range e.Missing {
				parts[i] = missingText(m)
			}
			fmt.Fprintf(&b, "  missing: %s\n", strings.Join(parts, "; "))
		}
	}
	for _, x := range r.Readings {
		fmt.Fprintf(&b, "  read %s as %s\n", line(x.Term), line(x.As))
	}
	if r.Verdict != memory.Strong && len(r.Nearest) > 0 {
		b.WriteString("nearest:\n")
		for _, e := range r.Nearest {
			fmt.Fprintf(&b, "  %s  %s\n", c.paint(styleDim, e.ID.String()), brief(e.Title, summaryWidth))
		}
	}
	return c.printf("%s", b.String())
}
