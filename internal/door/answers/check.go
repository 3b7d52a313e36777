package answers

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/mnem-project/mnem/internal/door/show"
	"github.com/mnem-project/mnem/internal/memory/check"
	"github.com/mnem-project/mnem/internal/verb/asking"
)

// shareText shows units of 2^-16 with two decimals.
func shareText(n int64) string { return strconv.FormatFloat(float64(n)/65536, 'f', 2, 64) }

// bitsText shows units of 2^-16 with one decimal.
func bitsText(n int64) string { return strconv.FormatFloat(float64(n)/65536, 'f', 1, 64) }

// missingText says what is missing.
func missingText(m check.Missing) string {
	text := "'" + show.Line(m.Text) + "'"
	switch m.Kind {
	case check.MissingUnknown:
		return text + " (in no memory)"
	case check.MissingName, check.MissingNumber, check.MissingPhrase:
		return "the " + m.Kind + " " + text
	case check.MissingDate:
		return "the date"
	case check.MissingCount:
		return "a number"
	case check.MissingTopic:
		return "anything but names and numbers"
	case check.MissingNegation:
		return "agreement: one of the two says not"
	case check.MissingLead:
		return "a lead: others fit about as well"
	case check.MissingEvidence:
		return "words that tell more"
	case check.MissingCertain:
		return "certainty: it is marked " + show.Line(m.Text)
	case check.MissingAsserted:
		return "an answer: it asks itself"
	}
	return text
}

// verdictStyles are the colours of verdicts.
var verdictStyles = map[check.Verdict]string{
	check.Strong: show.Green, check.Weak: show.Yellow, check.Miss: show.Red,
}

// whyMiss says why no memory was pointed to, and no more: one may answer in words that the question
// does not have.
func whyMiss(r *asking.Checked) string {
	switch {
	case r.Signals == nil:
		return "no memory has anything of that"
	case r.Gate == check.GateSemantic:
		return "no memory is like enough to that"
	case r.Signals.Coverage < r.Thresholds.WeakCoverage:
		return "no memory was found that says enough of that"
	}
	return "what the nearest memory has of that may be chance"
}

func Check(c *show.Console, res any) error {
	switch r := res.(type) {
	case *asking.Calibrated:
		return printCalibrated(c, r)
	case *asking.ThresholdsReset:
		return printKept(c, r.ThresholdsKept)
	case *asking.Checked:
		return c.Printf("%s", checkedText(c, r))
	}
	return nil
}

func checkedText(c *show.Console, r *asking.Checked) string {
	var b strings.Builder
	b.WriteString(c.Paint(verdictStyles[r.Verdict], string(r.Verdict)))
	if e := r.Item; e != nil {
		fmt.Fprintf(&b, "  %s\n  id: %s\n", show.Line(e.Title), e.ID)
		if e.Key != "" {
			fmt.Fprintf(&b, "  key: %s\n", show.Line(e.Key))
		}
		if e.Span != "" && e.Span != e.Title {
			fmt.Fprintf(&b, "  says: %s\n", show.Line(e.Span))
		}
	} else {
		fmt.Fprintf(&b, "  %s\n", whyMiss(r))
	}
	if e := r.Signals; e != nil {
		signals := fmt.Sprintf("coverage %s, evidence %s bits, lead %s", shareText(e.Coverage),
			bitsText(e.Evidence), shareText(e.Lead))
		for _, model := range slices.Sorted(maps.Keys(e.Cosines)) {
			signals += fmt.Sprintf(", cosine %s by %s", shareText(e.Cosines[model]), show.Line(model))
		}
		fmt.Fprintf(&b, "  %s\n", c.Paint(show.Dim, signals))
		if len(e.Held) > 0 && r.Item != nil {
			fmt.Fprintf(&b, "  holds: %s\n", show.Line(strings.Join(e.Held, ", ")))
		}
		if len(r.Missing) > 0 && e.Coverage > 0 {
			parts := make([]string, len(r.Missing))
			for i, m := range r.Missing {
				parts[i] = missingText(m)
			}
			fmt.Fprintf(&b, "  missing: %s\n", strings.Join(parts, "; "))
		}
	}
	for _, x := range r.ReadAs {
		fmt.Fprintf(&b, "  read %s as %s\n", show.Line(x.Term), show.Line(x.As))
	}
	if r.Verdict != check.Strong && len(r.Nearest) > 0 {
		b.WriteString("nearest:\n")
		for _, e := range r.Nearest {
			fmt.Fprintf(&b, "  %s  %s\n", c.Paint(show.Dim, e.ID.String()), show.Brief(e.Title, show.SummaryWidth))
		}
	}
	return b.String()
}

// printKept says what became of thresholds that were to be kept.
func printKept(c *show.Console, k asking.ThresholdsKept) error {
	switch {
	case k.DryRun:
		return c.Printf("dry run: nothing written\n")
	case !k.Commit.Defined():
		return c.Printf("nothing to commit\n")
	}
	return c.Printf("%s thresholds of check\n", c.At(string(k.Branch), k.Commit))
}

func printCalibrated(c *show.Console, r *asking.Calibrated) error {
	c.Put("%s, %d unanswerable\n", show.Plural(r.Answerable, "answerable question"),
		r.Unanswerable)
	row := func(name string, p check.CurvePoint) []show.Cell {
		return CurveRow(name, p, r.Answerable, r.Unanswerable)
	}
	rows := [][]show.Cell{CurveHead(), row("now", r.Now)}
	for _, p := range r.Curve {
		rows = append(rows, row("curve", p))
	}
	if r.Chosen != nil {
		rows = append(rows, row("chosen", *r.Chosen))
	}
	c.PutTable(rows)
	if r.Chosen == nil {
		return c.Printf("no thresholds keep both bounds: nothing written\n")
	}
	return printKept(c, r.ThresholdsKept)
}

func CurveHead() []show.Cell {
	return show.HeadRow("", "STRONG", "right", "precision", "false STRONG", "not MISS", "unanswerable not MISS",
		"coverage", "evidence", "lead")
}

// CurveFigures is how many cells of a row are figures; the thresholds come after them.
const CurveFigures = 7

// CurveRow is one row of figures: shares of the answerable and unanswerable questions.
func CurveRow(name string, p check.CurvePoint, answerable, unanswerable int) []show.Cell {
	row := []show.Cell{{Text: show.Line(name), Style: show.Bold}}
	for _, s := range []string{
		ratio(p.Strong, answerable), ratio(p.Right, answerable), ratio(p.Right, p.Strong),
		ratio(p.FalseStrong, unanswerable), ratio(p.Strong+p.Weak, answerable),
		ratio(p.FalseStrong+p.UnanswerableWeak, unanswerable),
		shareText(p.Thresholds.Coverage), bitsText(p.Thresholds.Evidence), shareText(p.Thresholds.Lead),
	} {
		row = append(row, show.Cell{Text: s, Style: ""})
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
