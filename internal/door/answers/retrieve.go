package answers

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/mnem-project/mnem/internal/door/show"
	"github.com/mnem-project/mnem/internal/rank"
	"github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/asking"
	"github.com/mnem-project/mnem/internal/verb/upkeep"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

func Recalled(c *show.Console, q *asking.RecallRequest, a *asking.Answer) error {
	return Answer(c, &q.RetrieveRequest, a)
}

// Answer prints the rendered items with an empty line between them, and what is said of them on the side.
// No rendered line is empty, so that items cannot be mistaken. Answers to lines are lines.
func Answer(c *show.Console, q *asking.RetrieveRequest, a *asking.Answer) error {
	if q.Batch != "" {
		return c.PrintJSON(a)
	}
	if e := a.Explanation; e != nil {
		printExplanation(c, a)
	}
	printVerdict(c, a)
	for i, d := range a.Digests {
		if i > 0 || a.Explanation != nil {
			c.Put("\n")
		}
		c.Put("%s", d.Rendered)
	}
	for i := range a.Items {
		if i > 0 || a.Explanation != nil || len(a.Digests) > 0 {
			c.Put("\n")
		}
		c.Put("%s", a.Items[i].Rendered)
	}
	if err := c.Out.Flush(); err != nil { // what is said of the answer comes after it
		return err
	}
	c.Remark("%s", answerSummary(a))
	for _, w := range a.Warnings {
		from := ""
		if w.Repository != "" {
			from = w.Repository + ": "
		}
		_, err := fmt.Fprintf(c.Aside, "warning: %s%s (%s)\n", from, show.Line(w.Message), show.Line(w.Remedy))
		if err != nil {
			return err
		}
	}
	return nil
}

func answerSummary(a *asking.Answer) string {
	budget := "no budget"
	if a.TokensBudget > 0 {
		budget = fmt.Sprintf("of %d", a.TokensBudget)
	}
	tokens := fmt.Sprintf("%d tokens (%s)", a.TokensUsed, budget)
	items, candidates := show.Plural(len(a.Items), "item"), show.Plural(a.Candidates, "candidate")
	if r := a.Repositories; r != nil {
		return fmt.Sprintf("%s (%d of the project, %d global), %s, %d dropped, %s", items, r[0].Items,
			r[1].Items, tokens, a.Dropped, candidates)
	}
	parts := []string{items, tokens, droppedSummary(a), candidates, "commit " + show.ShortCID(a.Commit)}
	if a.Intent != "" {
		parts = append(parts, "intent "+string(a.Intent))
	}
	if a.Profile != "" {
		parts = append(parts, "profile "+show.Line(a.Profile))
	}
	if a.Receipt.Defined() {
		parts = append(parts, "receipt "+a.Receipt.String())
	}
	return strings.Join(parts, ", ")
}

func droppedSummary(a *asking.Answer) string {
	why := counts(count{a.DroppedBy.Budget, "over budget"})
	if n := a.DroppedBy.Duplicate; n > 0 {
		why = append(why, show.Plural(n, "duplicate"))
	}
	text := fmt.Sprintf("%d dropped", a.Dropped)
	if len(why) == 0 {
		return text
	}
	return text + " (" + strings.Join(why, ", ") + ")"
}

// printExplanation prints how an answer came about, and before the first empty line how each item was found.
func printExplanation(c *show.Console, a *asking.Answer) {
	for _, text := range []string{datesText(a.Explanation), recallText(a)} {
		if text != "" {
			c.Put("%s\n", text)
		}
	}
	rows := [][]show.Cell{show.HeadRow("rank", "item", "score", "tokens", "why")}
	for _, d := range a.Digests {
		why := fmt.Sprintf("digest above %s of the best", show.Plural(d.Found, "node"))
		if len(d.Covers) > 0 {
			names := make([]string, len(d.Covers))
			for i, id := range d.Covers {
				names[i] = fmt.Sprintf("%.8s", id)
			}
			why += ", covers " + strings.Join(names, ", ")
		}
		rows = append(rows, show.Row("", "", show.Line(d.Digest), show.Bold, asking.Share(d.Score), "",
			fmt.Sprint(d.Tokens), "", why, ""))
	}
	for i := range a.Items {
		it := &a.Items[i]
		rows = append(rows, show.Row(fmt.Sprint(it.Rank), "", itemName(it), show.Bold, asking.Share(it.Score), "",
			fmt.Sprint(it.Tokens), "", show.Line(string(it.Why)), ""))
	}
	for _, d := range a.DroppedItems {
		rows = append(rows, show.Row("-", "", d.ID.String(), "", "", "", fmt.Sprint(d.Tokens), "",
			whyDropped(d, a.Items), show.Red))
	}
	c.PutTable(rows)
	printTrace(c, &a.Trace)
}

// itemName names an item by its key, or as its heading does.
func itemName(it *asking.AnswerItem) string {
	if it.Key != "" {
		return nodeLabel(verb.Text(it.Key), it.ID)
	}
	return fmt.Sprintf("%.8s", it.ID)
}

// datesText says how the dates of a query were read, "" if it has none.
func datesText(e *asking.Explanation) string {
	if len(e.Dates) == 0 {
		return ""
	}
	parts := make([]string, len(e.Dates))
	for i, d := range e.Dates {
		from, to := dayOrMinute(d.From.String()), dayOrMinute(d.To.String())
		switch {
		case to == "":
			parts[i] = "since " + from
		case from == "":
			parts[i] = "before " + to
		default:
			parts[i] = from + " to " + to
		}
	}
	text := "read dates: " + strings.Join(parts, ", ")
	if e.Today != "" {
		text += fmt.Sprintf(" (today is %s)", DayOf(e.Today))
	}
	return text
}

// dayOrMinute returns the day that begins in UTC at a time, or else the time to the minute.
func dayOrMinute(t string) string {
	day, clock, _ := strings.Cut(t, "T")
	if clock == "" || strings.HasPrefix(clock, "00:00:00") {
		return day
	}
	return day + "T" + clock[:len("23:00")] + "Z"
}

// DayOf returns the day of a time, "" for none.
func DayOf(t string) string {
	s, _, _ := strings.Cut(t, "T")
	return s
}

func recallText(a *asking.Answer) string {
	r := a.Recall
	if r == nil {
		return ""
	}
	return fmt.Sprintf("intent %s: weights %s; beam of width %d and depth %d, %d of at most %d nodes",
		a.Intent, signalsText(r.Weights), r.Width, r.Depth, r.Visited, r.Limit)
}

func signalsText(s retrieve.Signals) string {
	return fmt.Sprintf("keyword %s, entity %s, similarity %s, graph %s", asking.Share(s.Keyword),
		asking.Share(s.Entity), asking.Share(s.Similarity), asking.Share(s.Graph))
}

func whyDropped(d retrieve.DroppedItem, items []asking.AnswerItem) string {
	text := "dropped: " + d.Reason
	if d.Reason != retrieve.ReasonDuplicate {
		return text
	}
	for i := range items {
		if items[i].ID == d.Repeats {
			return text + " of " + nodeLabel(verb.Text(items[i].Key), d.Repeats)
		}
	}
	return text + " of " + d.Repeats.String()
}

func printTrace(c *show.Console, t *asking.Trace) {
	if len(t.Lanes) == 0 {
		return
	}
	rows := [][]show.Cell{show.HeadRow("lane", "weight", "passed", "found", "scores", "left out")}
	for _, l := range t.Lanes {
		rows = append(rows, show.Row(string(l.Lane), show.Bold, asking.Share(l.Weight), "", fmt.Sprint(l.Passed), "",
			fmt.Sprint(l.Found), "", fmt.Sprintf("%s to %s", asking.Share(l.Best), asking.Share(l.Worst)), "",
			leftOutText(l.LeftOut), ""))
	}
	c.PutTable(rows)
	var took []string
	for _, s := range t.Stages {
		took = append(took, fmt.Sprintf("%s %v", s.Stage, time.Duration(s.Micros)*time.Microsecond))
	}
	c.Put("%s\n", strings.Join(took, ", "))
}

func leftOutText(l source.LeftOut) string {
	var parts []string
	for _, p := range []count{
		{l.Exclude, "exclude"}, {l.Types, "type"}, {l.Times, "time"}, {l.Where, "where"}, {l.Marks, "marks"},
	} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%s %d", p.what, p.n))
		}
	}
	return cmp.Or(strings.Join(parts, ", "), "-")
}

var verdictStyles = map[retrieve.Verdict]string{
	retrieve.Known: show.Green, retrieve.Unsure: show.Yellow, retrieve.Unknown: show.Red,
}

func printVerdict(c *show.Console, a *asking.Answer) {
	if a.Verdict == "" {
		return
	}
	nearest := ""
	if a.Verdict == retrieve.Unknown && len(a.Items) > 0 {
		nearest = "; the nearest, unverified:"
	}
	end := "\n"
	if a.Explanation == nil && len(a.Items)+len(a.Digests) > 0 { // what is explained begins with an empty line
		end = "\n\n"
	}
	c.Put("%s: %s%s%s", c.Paint(verdictStyles[a.Verdict], string(a.Verdict)), show.Line(a.Because), nearest, end)
}

// ProfileRow is a profile in a list, with what it sets; nil for one that was asked for by its name and for a change,
// which are printed at once.
func ProfileRow(c *show.Console, answer any) []show.Cell {
	switch a := answer.(type) {
	case *asking.ProfilesChanged:
		_ = profilesChanged(c, a)
	case *asking.Profile:
		if !a.Alone {
			return profileRow(a)
		}
		_ = profile(c, a)
	}
	return nil
}

func profileRow(p *asking.Profile) []show.Cell {
	mark, from, text := " ", "own", ""
	if p.Default {
		mark = "*"
	}
	if p.Builtin {
		from = "built in"
	}
	for _, row := range profileRows(p) {
		text += " " + row[0].Text + "=" + row[1].Text
	}
	return show.Row(mark+" "+p.Name, show.Bold, from, show.Dim, strings.TrimPrefix(text, " "), "")
}

func profileRows(p *asking.Profile) (rows [][]show.Cell) {
	for _, typ := range p.Types {
		rows = append(rows, show.Row("type", "", show.Line(typ), ""))
	}
	for _, e := range p.Params {
		rows = append(rows, show.Row(show.Line(retrieve.FlagName(e.Key)), "", ParamText(e), ""))
	}
	return rows
}

func profile(c *show.Console, p *asking.Profile) error {
	title := "the repository's own"
	if p.Builtin {
		title = "built in: " + p.About
	}
	if p.Default {
		title += "; the default"
	}
	c.Put("%s  %s\n", c.Paint(show.Bold, show.Line(p.Name)), title)
	rows := profileRows(p)
	for _, row := range rows {
		row[0].Text = "  " + row[0].Text
	}
	c.PutTable(rows)
	if p.Misfit != "" {
		return c.Printf("%s\n", show.Line("does not count: "+p.Misfit))
	}
	return nil
}

func profilesChanged(c *show.Console, p *asking.ProfilesChanged) error {
	if p.NoChange {
		return c.Printf("nothing to commit\n")
	}
	c.Put("%s\n", c.At(p.Branch, p.Commit))
	return printProfilesDiff(c, p.Profiles)
}

// ParamText is the value of a parameter as the flag of its name takes it.
func ParamText(e ipld.Entry) string {
	v, _ := retrieve.Share(e.Key, e.Value)
	return plainText(v)
}

func plainText(v ipld.Value) string {
	switch v.Kind() {
	case ipld.String:
		return show.Line(v.Text())
	case ipld.Float:
		return fmt.Sprint(v.Float())
	case ipld.List:
		parts := make([]string, len(v.List()))
		for i, item := range v.List() {
			parts[i] = plainText(item)
		}
		return strings.Join(parts, ",")
	case ipld.Map:
		parts := make([]string, len(v.Entries()))
		for i, e := range v.Entries() {
			parts[i] = show.Line(e.Key) + "=" + plainText(e.Value)
		}
		return strings.Join(parts, ",")
	}
	return show.Line(string(ipld.AppendJSON(nil, v)))
}

func printProfilesDiff(c *show.Console, d *rank.ProfilesDiff) error {
	if d == nil {
		return nil
	}
	if d.Default != nil {
		printItemDiff(c, state.Changed, "profiles", []state.FieldDiff{*d.Default}, false)
	}
	if len(d.Fields) > 0 {
		printItemDiff(c, state.Changed, "profiles", d.Fields, false)
	}
	for _, p := range d.Profiles {
		printItemDiff(c, p.Kind, "profile "+show.Line(p.Name), shareFields(p.Fields), false)
	}
	return c.Failed()
}

// shareFields turns units of 2^-16 into the numbers that flags have.
func shareFields(fields []state.FieldDiff) []state.FieldDiff {
	show := func(name string, v *ipld.Value) *ipld.Value {
		if v == nil {
			return nil
		}
		shown, _ := retrieve.Share(name, *v)
		return &shown
	}
	out := make([]state.FieldDiff, len(fields))
	for i, f := range fields {
		out[i] = state.FieldDiff{Field: f.Field, Old: show(f.Field, f.Old), New: show(f.Field, f.New)}
	}
	return out
}

// Session prints the state of a session after a verb changed it.
func Session(c *show.Console, s *asking.Session) error {
	text := "session " + show.Line(s.Known)
	switch {
	case s.Ended:
		text += " has ended"
	case s.Follow:
		text += " follows HEAD"
	default:
		text += " is at " + show.ShortCID(s.Commit)
	}
	return c.Printf("%s\n", text)
}

func SessionRow(c *show.Console, s *asking.Session) []show.Cell {
	where := "follows HEAD"
	if !s.Follow {
		where = show.ShortCID(s.Commit)
	}
	state := "open"
	if s.Ended {
		state = "ended"
	}
	if s.Name != s.Known {
		state += ", next to " + show.Line(s.Name)
	}
	return show.Row(show.Line(s.Known), show.Bold, where, show.Yellow, state, "", s.Time.String(), show.Dim,
		show.Line(show.JoinText(s.Agent, s.Task)), "")
}

func SessionRecord(c *show.Console, v *asking.SessionRecord) error {
	parts := []string{c.Paint(show.Dim, v.Time.String()), v.Event}
	if v.Commit.Defined() {
		parts = append(parts, c.Commit(v.Commit))
	}
	if v.Receipt.Defined() {
		parts = append(parts, show.Plural(*v.Items, "item"), show.Plural(*v.Tokens, "token"),
			strconv.Quote(show.Brief(*v.Query, show.SummaryWidth)))
		if *v.Title != "" {
			parts = append(parts, c.Paint(show.Dim, *v.Title))
		}
	}
	return c.Printf("%s\n", strings.Join(parts, "  "))
}

// Last prints what an agent was given at one time.
func Last(c *show.Console, g *asking.GivenContext) error {
	parts := []string{c.Paint(show.Dim, g.Time.String())}
	if g.Event != "" {
		parts = append(parts, show.Line(string(g.Host))+" "+show.Line(string(g.Event)))
	}
	parts = append(parts, c.Paint(show.Bold, show.Line(g.Session)))
	if g.Commit.Defined() {
		parts = append(parts, "commit "+c.Commit(g.Commit))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", strings.Join(parts, "  "))
	if g.Query != nil && *g.Query != "" {
		fmt.Fprintf(&b, "asked: %s\n", strconv.Quote(show.Brief(*g.Query, show.SummaryWidth)))
	}
	switch {
	case g.Why != "":
		fmt.Fprintf(&b, "nothing was given: %s\n", show.Line(string(g.Why)))
	case len(g.Items) == 0:
		b.WriteString("nothing was known\n")
	case g.Exact:
		fmt.Fprintf(&b, "%s, %s\n", show.Plural(len(g.Items), "item"), show.Plural(g.Tokens, "token"))
	default:
		fmt.Fprintf(&b, "%s were found, and some of them given\n", show.Plural(len(g.Items), "item"))
	}
	for _, it := range g.Items {
		name := cmp.Or(string(it.Key), it.ID.String())
		fmt.Fprintf(&b, "  %s  %s\n", c.Paint(show.Bold, show.Line(name)), show.Plural(it.Tokens, "token"))
		if it.Rendered == nil {
			b.WriteString("    hidden, erased or changed in form since\n")
			continue
		}
		for text := range strings.Lines(strings.TrimRight(*it.Rendered, "\n")) {
			fmt.Fprintf(&b, "    %s\n", show.Line(strings.TrimRight(text, "\n")))
		}
	}
	if g.Receipt.Defined() {
		fmt.Fprintf(&b, "receipt %s\n", g.Receipt)
	}
	return c.Printf("%s", b.String())
}

func Replay(c *show.Console, r *upkeep.Replayed) error {
	if len(r.Redacted) > 0 {
		c.Put("%s: receipt %d needs what was purged since\n", c.Paint(show.Yellow, "redacted"), r.Receipts)
		for _, e := range r.Redacted {
			c.Put("  %s: %s\n", e.CID, show.Line(e.About))
		}
		return c.Failed()
	}
	d := r.FirstDifference
	if d == nil {
		return c.Printf("%s: %s\n", c.Paint(show.Green, "identical"), show.Plural(r.Receipts, "receipt"))
	}
	where := ""
	if d.Item != nil {
		where = "item " + strconv.Itoa(*d.Item+1) + ", "
	}
	return c.Printf("%s: receipt %d (%s), %s%s\n  recorded: %s\n  now:      %s\n",
		c.Paint(show.Red, "different"), d.Number+1, d.Receipt, where, show.Line(d.Field), show.Line(d.Old),
		show.Line(d.New))
}
