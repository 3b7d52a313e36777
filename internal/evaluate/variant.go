package evaluate

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/rank"
	stagepkg "github.com/mnem-project/mnem/internal/rank/stage"
	"github.com/mnem-project/mnem/retrieve"
)

// variant is another way to answer a query.
type variant struct {
	order int // of its row; those of one order are in that of their names
	name  string
	req   retrieve.Request
	items []Ranked // what answers the query, if found
	found bool     // whether no answer has to be asked for
}

// variants returns what makes the variants of a query's settled request, whose answer is known too;
// nil if the report has no rows of variants.
func (r *runner) variants() func(retrieve.Request, *retrieve.Answer) []variant {
	switch r.opt.By {
	case ByLane:
		return lanes
	case ByStage:
		return func(req retrieve.Request, _ *retrieve.Answer) []variant {
			return stages(req, r.types)
		}
	}
	return nil
}

// vary answers a query in all variants. A row is over all queries: one that has no such lane is
// answered with nothing by it, and one without such a stage as it is.
func (r *runner) vary(ctx context.Context, s *core.Snapshot, q *Query, list []variant, whole Scores) error {
	rest := whole
	if r.opt.By == ByLane {
		rest = Score(q, nil)
	}
	scores := make(map[string]Scores, len(list))
	for _, v := range list {
		if !v.found {
			answer, err := rank.Retrieve(ctx, s, v.req)
			if err != nil {
				return fmt.Errorf("%s: %w", v.name, err)
			}
			v.items = ranked(answer)
		}
		scores[v.name] = Score(q, v.items)
		r.varied.begin(v)
	}
	r.varied.add(scores, rest)
	return nil
}

type variantTallies struct {
	byName map[string]*variantTally
	rest   tally // what a variant has that no query had so far
}

type variantTally struct {
	tally
	order int
}

// begin makes sure that there is a row of a variant.
func (t *variantTallies) begin(v variant) {
	if t.byName == nil {
		t.byName = make(map[string]*variantTally)
	}
	if t.byName[v.name] == nil {
		t.byName[v.name] = &variantTally{t.rest.clone(), v.order}
	}
}

// add adds the scores of one query: by variant, and for all others.
func (t *variantTallies) add(scores map[string]Scores, rest Scores) {
	for name, of := range t.byName {
		if s, ok := scores[name]; ok {
			of.add(s)
		} else {
			of.add(rest)
		}
	}
	t.rest.add(rest)
}

func (t *variantTallies) rows() []Row {
	names := slices.SortedFunc(maps.Keys(t.byName), func(a, b string) int {
		return cmp.Or(cmp.Compare(t.byName[a].order, t.byName[b].order), cmp.Compare(a, b))
	})
	rows := make([]Row, len(names))
	for i, name := range names {
		rows[i] = t.byName[name].row(name)
	}
	return rows
}

func (t *tally) clone() tally {
	c := tally{queries: t.queries, counts: t.counts}
	for m := range t.sums {
		c.sums[m] = *new(big.Rat).Set(&t.sums[m])
	}
	return c
}

// lanes returns a variant for each lane of a request alone. What the exact look-up finds stands in
// the answer already, at its head, unless other parameters leave it out.
func lanes(req retrieve.Request, answer *retrieve.Answer) []variant {
	var list []variant
	for _, lane := range append(stagepkg.Lanes(req), retrieve.LaneRecency) {
		if alone, ok := stagepkg.Alone(req, lane); ok {
			list = append(list, variant{order: laneOrder(lane), name: string(lane), req: alone})
		}
	}
	exact := variant{order: laneOrder(retrieve.LaneExact), name: string(retrieve.LaneExact), found: true}
	all := ranked(answer)
	for i := range answer.Items {
		if slices.ContainsFunc(answer.Items[i].Lanes, func(h retrieve.LaneHit) bool {
			return h.Lane == retrieve.LaneExact
		}) {
			exact.items = append(exact.items, all[i])
		}
	}
	return append(list, exact)
}

// laneOrder returns the place of a lane among the rows.
func laneOrder(lane retrieve.Lane) int {
	at := slices.Index([]retrieve.Lane{
		retrieve.LaneText, "", "", retrieve.LaneTime, retrieve.LaneExact, retrieve.LaneRecency,
	}, lane)
	switch {
	case at >= 0:
		return at
	case strings.HasPrefix(string(lane), string(retrieve.LaneText)):
		return 1 // of a rewrite
	}
	return 2 // of vectors
}

// edgeTypes returns the types of the edges that are there, ascending, if stages are measured.
func (r *runner) edgeTypes(ctx context.Context, s *core.Snapshot) ([]string, error) {
	if r.opt.By != ByStage {
		return nil, nil
	}
	types := make(map[string]bool)
	for e, err := range s.Edges(ctx, graph.ID{}) {
		if err != nil {
			return nil, err
		}
		if e.Edge != nil {
			types[e.Edge.Type] = true
		}
	}
	return slices.Sorted(maps.Keys(types)), nil
}
