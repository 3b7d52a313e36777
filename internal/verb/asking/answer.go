package asking

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/rank"
	"github.com/mnem-project/mnem/internal/rank/complete"
	"github.com/mnem-project/mnem/internal/rank/stage"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/reading"
	"github.com/mnem-project/mnem/internal/view/distill"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// Answer answers a question. Members that only an explanation has are left out without one.
type Answer struct {
	QID          string           `json:"qid,omitempty"` // of a line
	Echo         verb.Inline      `json:"-"`             // members of a line, which are repeated
	Commit       ipld.CID         `json:"commit"`
	Receipt      ipld.CID         `json:"receipt" shape:"null"`
	Query        string           `json:"query"`
	Verdict      retrieve.Verdict `json:"verdict,omitempty" shape:"known|unsure|unknown"`
	Because      string           `json:"because,omitempty"`
	Missing      []retrieve.Lack  `json:"missing,omitempty"`
	Covered      int64            `json:"covered,omitempty"` // how much of the question the best item accounts for, of 65,536
	Profile      string           `json:"profile,omitempty"`
	Intent       retrieve.Intent  `json:"intent,omitempty" shape:"why|when|entity|general"`
	Repositories []Scope          `json:"repositories,omitempty"` // where two were asked
	Digests      []AnswerDigest   `json:"digests,omitempty"`      // before the items, with an altitude
	Items        []AnswerItem     `json:"items"`
	TokensUsed   int              `json:"tokens_used"`
	TokensBudget int              `json:"tokens_budget"`
	Dropped      int              `json:"dropped"`
	DroppedBy    DropCounts       `json:"dropped_by"`
	Candidates   int              `json:"candidates_seen"`
	Warnings     []AnswerWarning  `json:"warnings"`
	*Explanation `shape:"?"`

	// Draft is the receipt of an answer to a program of this machine that asked for it.
	Draft *core.DraftReceipt `json:"_draft,omitempty"`
}

// Scope is one of the repositories that answered.
type Scope struct {
	Repository string   `json:"repository" shape:"project|global"`
	Commit     ipld.CID `json:"commit" shape:"null"` // null before the first
	Share      int64    `json:"share"`               // weight of its scores, of 65,536
	Items      int      `json:"items"`               // of the answer
}

// AnswerDigest is a digest in an answer, printed before the items.
type AnswerDigest struct {
	Digest string `json:"digest"`
	Source string `json:"source"`
	retrieve.DigestItem
}

func (a *Answer) digestTokens() (n int) {
	for _, d := range a.Digests {
		n += d.Tokens
	}
	return n
}

// AnswerItem is a node of an answer.
type AnswerItem struct {
	Repository string `json:"repository,omitempty" shape:"project|global"`
	retrieve.Item
	Lanes    []LanePlace       `json:"lanes"`
	Signals  *retrieve.Signals `json:"signals,omitempty"` // that a recall ranked it by
	*ItemWhy `shape:"?"`
}

// LanePlace is an item's rank in the list of a lane.
type LanePlace struct {
	retrieve.LaneHit
	*FusedPlace `shape:"?"`
}

// FusedPlace is the arithmetic of fusion for it.
type FusedPlace struct {
	Share  int64 `json:"share"`
	Weight int64 `json:"weight"`
}

// ItemWhy is how an item was found.
type ItemWhy struct {
	Why   verb.Text        `json:"why"` // the reasons in words
	Tier  int              `json:"tier"`
	Terms []rank.TermScore `json:"terms"`             // of the query that it has
	Seed  graph.ID         `json:"seed" shape:"null"` // the start of expansion, null if it did not reach the item
	Hops  *int             `json:"hops"`
	Path  []retrieve.Step  `json:"path"` // from there, empty if it did not

	Community   *retrieve.Membership `json:"community,omitempty"`  // that raised it or brought it in
	Beam        *retrieve.Reach      `json:"beam,omitempty"`       // of a recall: how links led to it
	Contradicts graph.ID             `json:"contradicts,omitzero"` // the item that it follows for that
}

// DropCounts is how many nodes were dropped for each reason.
type DropCounts struct {
	Budget    int `json:"budget"`
	Duplicate int `json:"duplicate"`
}

// AnswerWarning is a warning about an answer.
type AnswerWarning struct {
	Repository string        `json:"repository,omitempty" shape:"project|global"`
	Code       retrieve.Code `json:"code"`
	Message    string        `json:"message"`
	Remedy     string        `json:"remedy"`
}

// Explanation is how an answer came about.
type Explanation struct {
	DroppedItems []retrieve.DroppedItem `json:"dropped_items"`
	Trace        Trace                  `json:"trace"`
	Dates        []retrieve.DateRange   `json:"dates"` // that the query names
	Recall       *retrieve.Recollection `json:"recall,omitempty"`

	Today string `json:"_today,omitempty"` // the day that the dates count from
}

// Trace holds the results of the lanes, and how long the stages took.
type Trace struct {
	Fusion retrieve.Fusion `json:"fusion"`
	stage.Trace
}

// AnswerOf returns the form of an answer to a line, or to a single question.
func AnswerOf(a *retrieve.Answer, q complete.Query) *Answer {
	out := &Answer{
		QID: q.ID, Echo: q.Echo, Commit: a.Commit, Query: a.Request.Text, Profile: a.Request.Profile,
		TokensUsed: a.TokensUsed, TokensBudget: a.TokensBudget, Dropped: a.Dropped,
		DroppedBy: dropsOf(a.DroppedItems), Candidates: a.Candidates, Warnings: warningsOf("", a),
	}
	out.Verdict, out.Because, out.Missing, out.Covered = a.Verdict, a.Because, a.Missing, a.Covered
	if a.Recall != nil {
		out.Intent = a.Recall.Intent
	}
	for i := range a.Digests {
		d := &a.Digests[i]
		out.Digests = append(out.Digests, AnswerDigest{d.Name, distill.Source(d.Source).String(), *d})
	}
	for i := range a.Items {
		out.Items = append(out.Items, itemOf(&a.Items[i]))
	}
	return out
}

func dropsOf(items []retrieve.DroppedItem) (n DropCounts) {
	for _, d := range items {
		if d.Reason == retrieve.ReasonDuplicate {
			n.Duplicate++
		} else {
			n.Budget++
		}
	}
	return n
}

func warningsOf(repository string, a *retrieve.Answer) (all []AnswerWarning) {
	for _, w := range a.Warnings {
		all = append(all, AnswerWarning{repository, w.Code, w.Message(), w.Remedy()})
	}
	return all
}

func itemOf(it *retrieve.Item) AnswerItem {
	out := AnswerItem{Item: *it}
	for _, l := range it.Lanes {
		out.Lanes = append(out.Lanes, LanePlace{LaneHit: l})
	}
	if it.Recall != nil {
		out.Signals = &it.Recall.Signals
	}
	return out
}

// explain adds the explanation of the answer from a trace. s is the memory that it is from.
func (out *Answer) explain(
	ctx context.Context, s *core.Snapshot, a *retrieve.Answer, trace *stage.Trace, human bool,
) error {
	e := &Explanation{
		DroppedItems: a.DroppedItems, Trace: Trace{a.Request.Fusion, *trace}, Dates: a.Dates, Recall: a.Recall,
	}
	out.Explanation = e
	ids := make([]graph.ID, len(a.Items))
	for i := range a.Items {
		ids[i] = a.Items[i].ID
	}
	terms, err := rank.TermScores(ctx, s, a, ids)
	if err != nil {
		return err
	}
	for i := range a.Items {
		out.Items[i].explain(a.Request.Fusion, trace, terms[i])
	}
	if err := out.sayWhy(ctx, reading.NewLabels(s), a.Request.Text); err != nil {
		return err
	}
	if human && a.Request.Now.Given {
		e.Today = a.Request.Now.String()
	}
	return nil
}

func (it *AnswerItem) explain(fusion retrieve.Fusion, trace *stage.Trace, terms []rank.TermScore) {
	for i, hit := range it.Item.Lanes {
		for _, l := range trace.Lanes {
			if l.Lane == hit.Lane {
				it.Lanes[i].FusedPlace = &FusedPlace{l.Share(fusion, hit), l.Weight}
				break
			}
		}
	}
	why := &ItemWhy{Tier: it.Item.Tier, Terms: terms, Contradicts: it.Against}
	if it.Reach != nil {
		why.Seed, why.Hops, why.Path = it.Reach.Seed, &it.Reach.Hops, it.Reach.Path
	}
	if m := it.Item.Community; m != nil {
		why.Community = &retrieve.Membership{Number: m.Number + 1, Size: m.Size, Seed: m.Seed}
	}
	if it.Recall != nil {
		why.Beam = it.Recall.Way
	}
	it.ItemWhy = why
}

const (
	whyWords = 6  // words of the question that a reason names
	whyTitle = 40 // characters of another memory that a reason names
)

// Share shows units of 2^-16 as people read them, with two decimals.
func Share(n int64) string { return strconv.FormatFloat(float64(n)/65536, 'f', 2, 64) }

type reasons struct {
	labels *reading.Labels
	words  map[string]string // of the question, by term
	list   []string
}

func (out *Answer) sayWhy(ctx context.Context, labels *reading.Labels, query string) error {
	words := stage.Surfaces(query)
	for i := range out.Items {
		r := &reasons{labels: labels, words: words}
		if err := r.of(ctx, &out.Items[i]); err != nil {
			return err
		}
		out.Items[i].Why = verb.Text(strings.Join(r.list, "; "))
	}
	return nil
}

func (r *reasons) add(format string, args ...any) {
	if s := fmt.Sprintf(format, args...); !slices.Contains(r.list, s) {
		r.list = append(r.list, s)
	}
}

func (r *reasons) of(ctx context.Context, it *AnswerItem) error {
	if it.ItemWhy.Tier > 0 {
		r.add("the question names it")
	}
	r.terms(it)
	for _, l := range it.Lanes {
		if err := r.lane(ctx, it, l.LaneHit); err != nil {
			return err
		}
	}
	if b := it.Beam; b != nil {
		if err := r.way(ctx, b.Seed, b.Path); err != nil {
			return err
		}
	}
	for _, o := range []struct {
		id   graph.ID
		says string
	}{{it.Later, "newer than %s"}, {it.Contradicts, "contradicts %s"}} {
		if o.id.IsZero() {
			continue
		}
		title, err := r.title(ctx, o.id)
		if err != nil {
			return err
		}
		r.add(o.says, title)
	}
	if it.Replaced != nil {
		title, err := r.title(ctx, it.Replaced.By)
		if err != nil {
			return err
		}
		r.add("replaced %s by %s", it.Replaced.Time.Std().Format(time.DateOnly), title)
	}
	return nil
}

func (r *reasons) terms(it *AnswerItem) {
	var has []string
	kindred := false
	for _, t := range it.Terms {
		switch {
		case t.Added:
			kindred = true
		case len(has) == whyWords:
		case t.ReadAs != "":
			has = append(has, fmt.Sprintf("'%s' read as '%s'", t.Term, t.ReadAs))
		case r.words[t.Term] != "":
			has = append(has, "'"+r.words[t.Term]+"'")
		default:
			has = append(has, "'"+t.Term+"'")
		}
	}
	if n := len(has); n > 1 {
		has = append(has[:n-2], has[n-2]+" and "+has[n-1])
	}
	if len(has) > 0 {
		r.add("has %s", strings.Join(has, ", "))
	}
	if kindred {
		r.add("has kindred words")
	}
}

// lane says what the place in a lane means. The words of the text lane are said already.
func (r *reasons) lane(ctx context.Context, it *AnswerItem, l retrieve.LaneHit) error {
	_, model := l.Lane.Model()
	switch {
	case l.Lane == retrieve.LaneText, l.Lane == retrieve.LaneExact, l.Lane == retrieve.LaneRecall:
	case model && strings.HasPrefix(string(l.Lane), "dense"):
		r.add("close in meaning (%s)", Share(l.Score))
	case model:
		r.add("shares learned terms (%s)", Share(l.Score))
	case l.Lane == retrieve.LaneTitle:
		r.add("its title is named")
	case l.Lane == retrieve.LaneTime:
		r.add("of the time that is asked for (%s)", Share(l.Score))
	case l.Lane == retrieve.LaneRecency:
		r.add("number %d of the newest", l.Rank)
	case l.Lane == retrieve.LaneRerank:
		r.add("number %d of the reranker (%s)", l.Rank, Share(l.Score))
	case l.Lane == retrieve.LaneExpand:
		if it.Hops != nil {
			return r.way(ctx, it.Seed, it.Path)
		}
	case l.Lane == retrieve.LaneCommunity:
		if m := it.ItemWhy.Community; m != nil {
			title, err := r.title(ctx, m.Seed)
			r.add("in one community with %s", title)
			return err
		}
	default:
		r.add("matches another wording (%s)", Share(l.Score))
	}
	return nil
}

func (r *reasons) way(ctx context.Context, seed graph.ID, path []retrieve.Step) error {
	if len(path) == 0 {
		return nil
	}
	text, err := r.title(ctx, seed)
	for _, s := range path {
		arrow := " <-%s- …"
		if s.Forward {
			arrow = " -%s-> …"
		}
		text += fmt.Sprintf(arrow, cmp.Or(s.Type, "mentions"))
	}
	r.add("linked by %sthis", strings.TrimSuffix(text, "…"))
	return err
}

// title names another memory by its first words, or its key if it has none.
func (r *reasons) title(ctx context.Context, id graph.ID) (string, error) {
	n, err := r.labels.Node(ctx, id)
	if err != nil || n == nil {
		return id.String()[:8], err
	}
	s := cmp.Or(strings.Join(strings.Fields(n.Summary), " "), n.Key)
	if utf8.RuneCountInString(s) > whyTitle {
		s = string([]rune(s)[:whyTitle-1]) + "…"
	}
	return "'" + s + "'", nil
}
