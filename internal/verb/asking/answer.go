package asking

import (
	"bytes"
	"context"

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

// Answer is what answers a question. What only an explanation has is left out without one.
type Answer struct {
	QID          string                   `json:"qid,omitempty"` // of a line
	Echo         []ipld.Entry             `json:"-"`             // members of a line, which come after its qid
	Commit       ipld.CID                 `json:"commit"`
	Receipt      ipld.CID                 `json:"receipt" shape:"null"`
	Query        string                   `json:"query"`
	Profile      string                   `json:"profile,omitempty"`
	Intent       retrieve.Intent          `json:"intent,omitempty" shape:"why|when|entity|general"`
	Repositories verb.List[Scope]         `json:"repositories,omitempty"` // where two were asked
	Digests      verb.List[AnswerDigest]  `json:"digests,omitempty"`      // before the items, with an altitude
	Items        verb.List[AnswerItem]    `json:"items"`
	TokensUsed   int                      `json:"tokens_used"`
	TokensBudget int                      `json:"tokens_budget"`
	Dropped      int                      `json:"dropped"`
	DroppedBy    DropCounts               `json:"dropped_by"`
	Candidates   int                      `json:"candidates_seen"`
	Warnings     verb.List[AnswerWarning] `json:"warnings"`
	*Explanation `shape:"?"`

	// Draft is the receipt of an answer to a program of this machine that asked for it.
	Draft *core.DraftReceipt `json:"_draft,omitempty"`
}

// MarshalJSON writes the answer with the members of its line that are repeated.
func (a *Answer) MarshalJSON() ([]byte, error) {
	type plain Answer
	data, err := verb.Encode((*plain)(a))
	if err != nil || len(a.Echo) == 0 {
		return data, err
	}
	var b bytes.Buffer
	b.WriteByte('{')
	rest := data[1:]
	if a.QID != "" {
		n := bytes.Index(rest, []byte(`,"commit":`)) + 1 // no text has a quote that is not escaped
		b.Write(rest[:n])
		rest = rest[n:]
	}
	for _, e := range a.Echo {
		name, err := verb.Encode(e.Key)
		if err != nil {
			return nil, err
		}
		b.Write(append(name, ':'))
		b.Write(verb.Value(&e.Value))
		b.WriteByte(',')
	}
	b.Write(rest)
	return b.Bytes(), nil
}

// Scope is one of the repositories that were asked.
type Scope struct {
	Repository string   `json:"repository" shape:"project|global"`
	Commit     ipld.CID `json:"commit" shape:"null"` // null before the first
	Share      int64    `json:"share"`               // what its scores count, of 65,536
	Items      int      `json:"items"`               // of the answer
}

// AnswerDigest is a digest of an answer, which stands before the items.
type AnswerDigest struct {
	Digest   string              `json:"digest"`
	Source   string              `json:"source"`
	Facts    int                 `json:"facts"` // below
	Found    int                 `json:"found"` // of what fits the query best, how many are below
	Band     retrieve.Band       `json:"band,omitempty" shape:"answer|maybe|rest"`
	Score    int64               `json:"score"`
	Tokens   int                 `json:"tokens"`
	Rendered string              `json:"rendered"`
	Covers   verb.List[graph.ID] `json:"covers"` // nodes that are no items since it has them
}

func (a *Answer) digestTokens() (n int) {
	for _, d := range a.Digests {
		n += d.Tokens
	}
	return n
}

// AnswerItem is a node of an answer.
type AnswerItem struct {
	Repository string               `json:"repository,omitempty" shape:"project|global"`
	ID         graph.ID             `json:"id"`
	Key        verb.Text            `json:"key"`
	Type       string               `json:"type"`
	Band       retrieve.Band        `json:"band,omitempty" shape:"answer|maybe|rest"` // how sure it is
	Rank       int                  `json:"rank"`
	Score      int64                `json:"score"`
	Tokens     int                  `json:"tokens"`
	Rendered   string               `json:"rendered"`
	Lanes      verb.List[LanePlace] `json:"lanes"`
	Signals    *Signals             `json:"signals,omitempty"` // that a recall ranked it by
	*ItemWhy   `shape:"?"`
}

// LanePlace is the place of an item in the list of a lane.
type LanePlace struct {
	Lane        retrieve.Lane `json:"lane"`
	Rank        int           `json:"rank"`
	Score       int64         `json:"score"`
	*FusedPlace `shape:"?"`
}

// FusedPlace is the arithmetic of fusion for it.
type FusedPlace struct {
	Share  int64 `json:"share"`
	Weight int64 `json:"weight"`
}

// Signals are what a recall ranks by, in units of 2^-16.
type Signals struct {
	Keyword    int64 `json:"keyword"`
	Entity     int64 `json:"entity"`
	Similarity int64 `json:"similarity"`
	Graph      int64 `json:"graph"`
}

// ItemWhy is how an item was found.
type ItemWhy struct {
	Tier  int                    `json:"tier"`
	Terms verb.List[TermScore]   `json:"terms"`             // of the query that it has
	Seed  graph.ID               `json:"seed" shape:"null"` // where expansion came from, null where it did not
	Hops  *int                   `json:"hops"`
	Path  verb.List[ReachedStep] `json:"path"` // from there, empty where it did not

	Community   *Membership `json:"community,omitempty"`  // that raised it or brought it in
	Beam        *BeamWay    `json:"beam,omitempty"`       // of a recall: how links led to it
	Contradicts graph.ID    `json:"contradicts,omitzero"` // the item that it follows for that
}

// TermScore is a term of the query that an item has.
type TermScore struct {
	Term   string `json:"term"`
	ReadAs string `json:"read_as,omitempty"` // left out where it is the term itself
	Added  bool   `json:"added,omitempty"`   // kindred to one of the query
	Score  int64  `json:"score"`
}

// ReachedStep is one step of a way to an item.
type ReachedStep struct {
	ID      graph.ID  `json:"id"`   // where it leads
	Edge    verb.Text `json:"edge"` // type of the edge, null for a mention
	Forward bool      `json:"forward"`
}

// BeamWay is the way of the beam search to an item.
type BeamWay struct {
	Seed graph.ID               `json:"seed"`
	Hops int                    `json:"hops"`
	Path verb.List[ReachedStep] `json:"path"`
}

// Membership is the community that raised an item, or brought it in.
type Membership struct {
	Number int      `json:"number"`
	Size   int      `json:"size"`
	Seed   graph.ID `json:"seed"`
}

// DropCounts is how many nodes were dropped for each reason.
type DropCounts struct {
	Budget    int `json:"budget"`
	Duplicate int `json:"duplicate"`
}

// AnswerWarning is what to know about an answer.
type AnswerWarning struct {
	Repository string        `json:"repository,omitempty" shape:"project|global"`
	Code       retrieve.Code `json:"code"`
	Message    string        `json:"message"`
	Remedy     string        `json:"remedy"`
}

// Explanation is how an answer came about.
type Explanation struct {
	DroppedItems verb.List[DroppedItem] `json:"dropped_items"`
	Trace        Trace                  `json:"trace"`
	Dates        verb.List[DateSpan]    `json:"dates"` // that the query names
	Recall       *Recollection          `json:"recall,omitempty"`

	Today string            `json:"_today,omitempty"` // the day that the dates count from
	Names map[string]string `json:"_names,omitempty"` // the keys of nodes on the way to items, by id
}

// DroppedItem is a node that was examined and left out.
type DroppedItem struct {
	ID      graph.ID `json:"id"`
	Reason  string   `json:"reason"`
	Tokens  int      `json:"tokens"`
	Repeats graph.ID `json:"repeats" shape:"null"` // the item that a duplicate repeats
}

// Trace is what the lanes found, and how long the stages took.
type Trace struct {
	Fusion retrieve.Fusion       `json:"fusion"`
	Lanes  verb.List[LaneTrace]  `json:"lanes"`
	Stages verb.List[StageTaken] `json:"stages"`
}

// LaneTrace is one lane's part in an answer.
type LaneTrace struct {
	Lane    retrieve.Lane `json:"lane"`
	Weight  int64         `json:"weight"`
	Passed  int           `json:"passed"`
	Found   int           `json:"found"`
	LeftOut LeftOut       `json:"left_out"`
	Best    int64         `json:"best"`
	Worst   int64         `json:"worst"`
}

// LeftOut is how many nodes each filter left out.
type LeftOut struct {
	Exclude int `json:"exclude"`
	Types   int `json:"type"`
	Times   int `json:"time"`
	Where   int `json:"where"`
	Marks   int `json:"marks"`
}

// StageTaken is how long a stage took.
type StageTaken struct {
	Stage  stage.Stage `json:"stage"`
	Micros int64       `json:"micros"`
}

// DateSpan is a time that a query names; an end that is open is null.
type DateSpan struct {
	From verb.Text `json:"from" shape:"time|null"`
	To   verb.Text `json:"to" shape:"time|null"`
}

// Recollection is how a recall went.
type Recollection struct {
	Weights Signals `json:"weights"`
	Width   int     `json:"width"`
	Depth   int     `json:"depth"`
	Visited int     `json:"visited"`
	Limit   int     `json:"visited_limit"`
}

// AnswerOf returns the form of an answer to a line, or to a question of its own.
func AnswerOf(a *retrieve.Answer, q complete.Query) *Answer {
	out := &Answer{
		QID: q.ID, Echo: q.Echo, Commit: a.Commit, Query: a.Request.Text, Profile: a.Request.Profile,
		TokensUsed: a.TokensUsed, TokensBudget: a.TokensBudget, Dropped: a.Dropped,
		DroppedBy: dropsOf(a.DroppedItems), Candidates: a.Candidates, Warnings: warningsOf("", a),
	}
	if a.Recall != nil {
		out.Intent = a.Recall.Intent
	}
	for i := range a.Digests {
		d := &a.Digests[i]
		out.Digests = append(out.Digests, AnswerDigest{
			Digest: d.Name, Source: distill.Source(d.Source).String(), Facts: d.Facts, Found: d.Found, Band: d.Band,
			Score: d.Score, Tokens: d.Tokens, Rendered: d.Rendered, Covers: d.Covers,
		})
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

func warningsOf(repository string, a *retrieve.Answer) (all verb.List[AnswerWarning]) {
	for _, w := range a.Warnings {
		all = append(all, AnswerWarning{repository, w.Code, w.Message(), w.Remedy()})
	}
	return all
}

func itemOf(it *retrieve.Item) AnswerItem {
	out := AnswerItem{
		ID: it.ID, Key: verb.Text(it.Key), Type: it.Type, Band: it.Band, Rank: it.Rank, Score: it.Score, Tokens: it.Tokens,
		Rendered: it.Rendered,
	}
	for _, l := range it.Lanes {
		out.Lanes = append(out.Lanes, LanePlace{Lane: l.Lane, Rank: l.Rank, Score: l.Score})
	}
	if it.Recall != nil {
		out.Signals = new(Signals(it.Recall.Signals))
	}
	return out
}

// explain adds how the answer came about, as a trace tells. s is the memory that it is from.
func (out *Answer) explain(
	ctx context.Context, s *core.Snapshot, a *retrieve.Answer, trace *stage.Trace, human bool,
) error {
	e := &Explanation{Trace: Trace{Fusion: a.Request.Fusion}}
	out.Explanation = e
	for _, d := range a.DroppedItems {
		e.DroppedItems = append(e.DroppedItems, DroppedItem{d.ID, d.Reason, d.Tokens, d.Repeats})
	}
	for _, l := range trace.Lanes {
		e.Trace.Lanes = append(e.Trace.Lanes, LaneTrace{
			l.Lane, l.Weight, l.Passed, l.Found, LeftOut(l.LeftOut), l.Best, l.Worst,
		})
	}
	for _, t := range trace.Stages {
		e.Trace.Stages = append(e.Trace.Stages, StageTaken{t.Stage, t.Took.Microseconds()})
	}
	for _, d := range a.Dates {
		e.Dates = append(e.Dates, DateSpan{verb.Text(d.From.String()), verb.Text(d.To.String())})
	}
	if r := a.Recall; r != nil {
		e.Recall = &Recollection{Signals(r.Weights), r.Width, r.Depth, r.Visited, r.Limit}
	}
	ids := make([]graph.ID, len(a.Items))
	for i := range a.Items {
		ids[i] = a.Items[i].ID
	}
	terms, err := rank.TermScores(ctx, s, a, ids)
	if err != nil {
		return err
	}
	for i := range a.Items {
		out.Items[i].explain(&a.Items[i], a.Request.Fusion, trace, terms[i])
	}
	if !human {
		return nil
	}
	if a.Request.Now.Given {
		e.Today = a.Request.Now.String()
	}
	return e.name(ctx, reading.NewLabels(s), a.Items)
}

func (out *AnswerItem) explain(
	it *retrieve.Item, fusion retrieve.Fusion, trace *stage.Trace, terms []rank.TermScore,
) {
	for i, hit := range it.Lanes {
		for _, l := range trace.Lanes {
			if l.Lane == hit.Lane {
				out.Lanes[i].FusedPlace = &FusedPlace{l.Share(fusion, hit), l.Weight}
				break
			}
		}
	}
	why := &ItemWhy{Tier: it.Tier, Contradicts: it.Against}
	for _, t := range terms {
		why.Terms = append(why.Terms, TermScore(t))
	}
	if it.Reach != nil {
		why.Seed, why.Hops, why.Path = it.Reach.Seed, &it.Reach.Hops, stepsOf(it.Reach)
	}
	if m := it.Community; m != nil {
		why.Community = &Membership{m.Number + 1, m.Size, m.Seed}
	}
	if it.Recall != nil && it.Recall.Way != nil {
		way := it.Recall.Way
		why.Beam = &BeamWay{way.Seed, way.Hops, stepsOf(way)}
	}
	out.ItemWhy = why
}

func stepsOf(way *retrieve.Reach) (steps verb.List[ReachedStep]) {
	for _, s := range way.Path {
		steps = append(steps, ReachedStep{s.Node, verb.Text(s.Type), s.Forward})
	}
	return steps
}

// name finds out how the nodes on the way to items are called.
func (e *Explanation) name(ctx context.Context, labels *reading.Labels, items []retrieve.Item) error {
	var ids []graph.ID
	way := func(r *retrieve.Reach) {
		if r != nil {
			ids = append(ids, r.Seed)
			for _, step := range r.Path {
				ids = append(ids, step.Node)
			}
		}
	}
	for i := range items {
		if m := items[i].Community; m != nil {
			ids = append(ids, m.Seed)
		}
		way(items[i].Reach)
		if items[i].Recall != nil {
			way(items[i].Recall.Way)
		}
	}
	e.Names = make(map[string]string, len(ids))
	for _, id := range ids {
		key, err := labels.Key(ctx, id)
		if err != nil {
			return err
		}
		if key != "" {
			e.Names[id.String()] = string(key)
		}
	}
	return nil
}
