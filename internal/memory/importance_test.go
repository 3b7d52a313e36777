package memory

import (
	"fmt"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/history"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/memkit"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
	"github.com/mnem-project/mnem/ipld"
)

func TestHalfLives(t *testing.T) {
	r := memkit.Open(t, `{"node":{"key":"a","type":"fact","summary":"x"}}`)
	before := memkit.Tip(t, r)
	weigh := func() int {
		e := must.Get(Importance(t.Context(), memkit.Tip(t, r), graph.NodeID("a"), memkit.By.Time,
			ImportanceOptions{}))(t)
		return e.HalfLife
	}
	must.Equal(t, weigh(), DefaultHalfLife, "half-life")
	for _, bad := range []HalfLives{{"fact": 0}, {"fact": MaxHalfLife + 1}, {"": 3}} {
		must.Check(t, must.Err(SetHalfLives(t.Context(), r, memkit.Opt, bad)) != nil, "%v is taken", bad)
	}
	must.Get(SetHalfLives(t.Context(), r, memkit.Opt, HalfLives{"fact": 3, "x": 4}))(t)
	must.Equal(t, weigh(), 3, "half-life")
	must.Get(history.Undo(t.Context(), r, "", memkit.By))(t)
	must.Equal(t, weigh(), DefaultHalfLife, "undo leaves something")
	must.Equal(t, memkit.Tip(t, r).Graph(), before.Graph(), "undo leaves something")
	must.Get(SetHalfLives(t.Context(), r, memkit.Opt, HalfLives{"fact": 3}))(t)
	if _, err := SetHalfLives(t.Context(), r, memkit.Opt, nil); err != nil || weigh() != DefaultHalfLife {
		t.Error("the defaults do not come back", err)
	}
}

// TestStoredHalfLives refuses parameters that somebody wrote by hand.
func TestStoredHalfLives(t *testing.T) {
	r := memkit.Open(t, `{"node":{"key":"a","type":"fact"}}`)
	for _, v := range []ipld.Value{
		ipld.IntValue(3), ipld.MapValue(ipld.Entry{Key: "fact", Value: ipld.StringValue("3")}),
		ipld.MapValue(ipld.Entry{Key: "fact", Value: ipld.IntValue(0)}),
	} {
		_, err := ChangeVerbParams(t.Context(), r, importanceVerb, memkit.Opt, func([]ipld.Entry, error) ([]ipld.Entry, error) {
			return []ipld.Entry{{Key: "halfLife", Value: v}}, nil
		})
		must.OK(t, err)
		must.Check(t, must.Err(HalfLivesAt(t.Context(), memkit.Tip(t, r))) != nil, "%v is taken", v)
		must.Get(SetHalfLives(t.Context(), r, memkit.Opt, nil))(t, v, " cannot be taken away")
	}
}

// TestLifeWork bounds what marking one node and weighing one node read, whatever else there is.
func TestLifeWork(t *testing.T) {
	effort.Alone(t)
	read := map[int][2]int64{}
	for _, n := range []int{500, 8000} {
		st := mem.New()
		r := must.Get(care.New(t.Context(), st, memkit.By, core.Options{}))(t)
		var lines []string
		for i := range n {
			lines = append(lines, fmt.Sprintf(`{"node":{"key":"n%d","type":"fact","summary":"note %d"}}`, i, i))
			if i > 0 {
				lines = append(lines, fmt.Sprintf(`{"edge":{"type":"about","src":"n%d","dst":"n0"}}`, i))
			}
		}
		memkit.Tell(t, r, lines...)
		c := repokit.NewCounted(st)
		cold := must.Get(care.New(t.Context(), c, memkit.By, core.Options{}))(t)
		r = cold
		s := memkit.Tip(t, r)
		c.FactCounts.Reset()
		must.Get(Importance(t.Context(), s, graph.NodeID("n0"), memkit.By.Time,
			ImportanceOptions{}))(t)
		weighed := c.FactCounts.Counts().BlocksRead
		c.FactCounts.Reset()
		must.Get(Mark(t.Context(), r, memkit.Opt, MarkRequest{State: graph.Contradicted,
			Nodes: []string{"n7"}, By: "n9"}))(t)
		read[n] = [2]int64{weighed, c.FactCounts.Counts().BlocksRead}
	}
	t.Logf("blocks read: %v", read)
	for i := range 2 {
		must.Check(t, read[8000][i] <= read[500][i]+24, "blocks read: %v", read)
	}
}
