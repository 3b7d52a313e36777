package cli

import (
	"fmt"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// itemJSON is an item of an answer. What --explain adds is left out without it.
type itemJSON struct {
	ID       string     `json:"id"`
	Key      *string    `json:"key"`
	Type     string     `json:"type"`
	Rank     int        `json:"rank"`
	Score    int64      `json:"score"`
	Tokens   int        `json:"tokens"`
	Rendered string     `json:"rendered"`
	Lanes    []laneJSON `json:"lanes"`
	// Signals are what a recall ranked it by.
	Signals *signalsJSON `json:"signals,omitempty"`
	*whyJSON
}

type laneJSON struct {
	Lane  retrieve.Lane `json:"lane"`
	Rank  int           `json:"rank"`
	Score int64         `json:"score"`
	*laneWhyJSON
}

// whyJSON is what --explain adds to an item.
type whyJSON struct {
	Tier  int           `json:"tier"`
	Terms []termJSON    `json:"terms"` // of the query that it has
	Seed  *string       `json:"seed"`  // where expansion came from, null where it did not
	Hops  *int          `json:"hops"`
	Path  []wayStepJSON `json:"path"` // from there, empty where it did not

	Community *membershipJSON `json:"community,omitempty"` // that raised it or brought it in
	Entities  []string        `json:"entities,omitempty"`  // of the query that it has
	Beam      *beamWayJSON    `json:"beam,omitempty"`      // of a recall: how links led to it
	// Contradicts is the item that it follows because the two contradict each other.
	Contradicts *string `json:"contradicts,omitempty"`
}

type termJSON struct {
	Term   string  `json:"term"`
	ReadAs *string `json:"read_as,omitempty"` // left out where it is the term itself
	Added  bool    `json:"added,omitempty"`   // by feedback
	Score  int64   `json:"score"`
}

// wayStepJSON is one step of the way of expansion.
type wayStepJSON struct {
	ID      string  `json:"id"`   // where it leads
	Edge    *string `json:"edge"` // type of the edge, null for a mention
	Forward bool    `json:"forward"`
}

type warningJSON struct {
	Code    retrieve.Code `json:"code"`
	Message string        `json:"message"`
	Remedy  string        `json:"remedy"`
}

func (a *answerer) item(i int, it *retrieve.Item, fusion retrieve.Fusion) itemJSON {
	out := itemJSON{
		ID: it.ID.String(), Key: orNull(it.Key), Type: it.Type, Rank: it.Rank, Score: it.Score,
		Tokens: it.Tokens, Rendered: it.Rendered, Lanes: make([]laneJSON, len(it.Lanes)),
	}
	for i, l := range it.Lanes {
		out.Lanes[i] = laneJSON{l.Lane, l.Rank, l.Score, a.fused(l, fusion)}
	}
	out.Signals = jsonSignals(it.Recall)
	if !a.explain {
		return out
	}
	out.whyJSON = &whyJSON{Tier: it.Tier, Terms: []termJSON{}, Path: []wayStepJSON{}}
	out.Community = jsonMembership(it.Community)
	out.Entities = it.Entities
	if !it.Against.IsZero() {
		out.Contradicts = orNull(it.Against.String())
	}
	for _, t := range a.terms[i] {
		out.Terms = append(out.Terms, termJSON{t.Term, orNull(t.ReadAs), t.Added, t.Score})
	}
	if it.Reach != nil {
		out.Seed, out.Hops = orNull(it.Reach.Seed.String()), &it.Reach.Hops
		out.Path = jsonPath(it.Reach)
	}
	out.Beam = jsonBeamWay(it.Recall)
	return out
}

// jsonPath returns the steps of a way.
func jsonPath(way *retrieve.Reach) []wayStepJSON {
	steps := make([]wayStepJSON, len(way.Path))
	for i, s := range way.Path {
		steps[i] = wayStepJSON{s.Node.String(), orNull(s.Type), s.Forward}
	}
	return steps
}

// printJSON prints an answer in one line. q says what of a batch's line is repeated.
func (a *answerer) printJSON(ans *retrieve.Answer, receipt ipld.CID, q retrieve.Query) error {
	out := a.c.stream()
	if q.ID != "" {
		out.field("qid", q.ID)
	}
	for _, e := range q.Echo {
		out.entry(e)
	}
	out.field("commit", ans.Commit.String())
	out.field("receipt", jsonCID(receipt))
	out.field("query", ans.Request.Text)
	if ans.Request.Profile != "" {
		out.field("profile", ans.Request.Profile)
	}
	if ans.Recall != nil {
		out.field("intent", ans.Recall.Intent)
	}
	out.list("items")
	for i := range ans.Items {
		if err := out.item(a.item(i, &ans.Items[i], ans.Request.Fusion)); err != nil {
			return err
		}
	}
	out.endList()
	out.field("tokens_used", ans.TokensUsed)
	out.field("tokens_budget", ans.TokensBudget)
	out.field("dropped", ans.Dropped)
	out.field("dropped_by", countDrops(ans.DroppedItems))
	out.field("candidates_seen", ans.Candidates)
	warnings := make([]warningJSON, len(ans.Warnings))
	for i, w := range ans.Warnings {
		warnings[i] = warningJSON{w.Code, w.Message(), w.Remedy()}
	}
	out.field("warnings", warnings)
	if ans.Summary != nil {
		out.field("summary", jsonSummary(ans.Summary))
	}
	if a.explain {
		out.field("dropped_items", jsonDropped(ans.DroppedItems))
		out.field("trace", jsonTrace(a.trace, ans.Request.Fusion))
		out.field("dates", jsonDates(ans.Dates))
		if ans.Recall != nil {
			out.field("recall", jsonRecollection(ans.Recall))
		}
		if ans.Request.Feedback > 0 {
			out.field("feedback", jsonFeedback(ans.Feedback))
		}
	}
	return out.end()
}

// printText prints the rendered items with an empty line between them, and a summary on the side.
// No rendered line is empty, so that items cannot be mistaken.
func (a *answerer) printText(ans *retrieve.Answer, receipt ipld.CID) error {
	if a.explain {
		if err := a.printDates(ans); err != nil {
			return err
		}
		if err := a.printFeedback(ans); err != nil {
			return err
		}
		if err := a.printRecollection(ans.Recall); err != nil {
			return err
		}
		if err := a.printWhy(ans); err != nil {
			return err
		}
	}
	for i := range ans.Items {
		if i > 0 || a.explain {
			if err := a.c.printf("\n"); err != nil {
				return err
			}
		}
		if err := a.c.printf("%s", ans.Items[i].Rendered); err != nil {
			return err
		}
	}
	if err := a.printSummary(ans.Summary); err != nil {
		return err
	}
	if err := a.c.out.Flush(); err != nil { // the summary comes after what it sums up
		return err
	}
	a.c.remark("%s", answerSummary(ans, receipt))
	for _, w := range ans.Warnings {
		_, err := fmt.Fprintf(a.c.app.Stderr, "warning: %s (%s)\n", w.Message(), w.Remedy())
		if err != nil {
			return err
		}
	}
	return nil
}

func answerSummary(ans *retrieve.Answer, receipt ipld.CID) string {
	budget := "no budget"
	if ans.TokensBudget > 0 {
		budget = fmt.Sprintf("of %d", ans.TokensBudget)
	}
	parts := []string{
		plural(len(ans.Items), "item"), fmt.Sprintf("%d tokens (%s)", ans.TokensUsed, budget),
		droppedSummary(ans), plural(ans.Candidates, "candidate"),
		"commit " + shortCID(ans.Commit),
	}
	if ans.Recall != nil {
		parts = append(parts, "intent "+string(ans.Recall.Intent))
	}
	if ans.Request.Profile != "" {
		parts = append(parts, "profile "+line(ans.Request.Profile))
	}
	if ans.Summary != nil {
		parts = append(parts, fmt.Sprintf("summary of %s (%d tokens beside the budget)",
			plural(len(ans.Summary.Sentences), "sentence"), ans.Summary.Tokens))
	}
	if receipt.Defined() {
		parts = append(parts, "receipt "+receipt.String())
	}
	return strings.Join(parts, ", ")
}

// printWhy prints how each item was found, as a table before the first empty line.
func (a *answerer) printWhy(ans *retrieve.Answer) error {
	head := func(s string) cell { return cell{s, styleDim} }
	rows := [][]cell{{head("rank"), head("item"), head("tier"), head("score"), head("tokens"),
		head("found by")}}
	for i := range ans.Items {
		it := &ans.Items[i]
		rows = append(rows, []cell{
			{fmt.Sprint(it.Rank), ""}, {firstOf(line(it.Key), it.ID.String()), styleBold},
			{fmt.Sprint(it.Tier), ""}, {fmt.Sprint(it.Score), ""}, {fmt.Sprint(it.Tokens), ""},
			{a.whyText(i, it, ans.Request.Fusion), ""},
		})
	}
	for _, d := range ans.DroppedItems {
		rows = append(rows, []cell{
			{"-", ""}, {d.ID.String(), ""}, {"", ""}, {"", ""}, {fmt.Sprint(d.Tokens), ""},
			{whyDropped(d, ans.Items), styleRed},
		})
	}
	if err := a.c.table(rows); err != nil {
		return err
	}
	return a.printTrace()
}

// whyText names the lists in which an item was found, with its rank and score in each, the terms
// that it has, and the way by which others lent to it.
func (a *answerer) whyText(i int, it *retrieve.Item, fusion retrieve.Fusion) string {
	parts := make([]string, len(it.Lanes))
	for j, l := range it.Lanes {
		parts[j] = fmt.Sprintf("%s #%d %d", l.Lane, l.Rank, l.Score)
		if w := a.fused(l, fusion); w != nil && len(a.trace.Lanes) > 1 {
			parts[j] += fmt.Sprintf(" = %d × %d", w.Share, w.Weight)
		}
		switch {
		case l.Lane == retrieve.LaneText:
			parts[j] += " (" + termsText(a.terms[i]) + ")"
		case l.Lane == retrieve.LaneEntity:
			names := make([]string, len(it.Entities))
			for n, name := range it.Entities {
				names[n] = line(name)
			}
			parts[j] += " (" + strings.Join(names, ", ") + ")"
		case l.Lane == retrieve.LaneExpand && it.Reach != nil:
			parts[j] += " (" + a.wayText(it.Reach) + ")"
		case l.Lane == retrieve.LaneCommunity && it.Community != nil:
			parts[j] += " (" + a.membershipText(it.Community) + ")"
		}
	}
	if !it.Against.IsZero() {
		parts = append(parts, "contradicts the item before it")
	}
	return strings.Join(append(parts, a.recallText(it)...), ", ")
}

// nameOf names a node that is told of in an explanation.
func (a *answerer) nameOf(id graph.ID) string {
	if n, _ := a.names.Seen(id); n != nil {
		return label(n)
	}
	return id.String()
}

// wayText is the way of expansion to an item, as in alice -owns-> svc/billing -> this.
func (a *answerer) wayText(r *retrieve.Reach) string {
	text := a.nameOf(r.Seed)
	for i, s := range r.Path {
		typ := firstOf(line(s.Type), "mentions")
		arrow := " <-" + typ + "- "
		if s.Forward {
			arrow = " -" + typ + "-> "
		}
		text += arrow
		if i == len(r.Path)-1 {
			text += "this"
		} else {
			text += a.nameOf(s.Node)
		}
	}
	return text
}
