package spec_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/merging"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
)

func init() {
	runners["merge"] = runMerges
	runners["conflict"] = runRecord
	runners["merge-record"] = runRecord
	decoders["conflict"] = func(b []byte) (record, error) { return commit.DecodeConflict(b) }
	decoders["merge-record"] = func(b []byte) (record, error) { return commit.DecodeMerge(b) }
}

type mergeInput struct {
	Author  string
	Verb    string // "" for a merge of the last two
	From    *int
	To      int
	Commits []struct {
		Time    int64
		Parents []int
		Lines   []string
	}
}

// mergeOutcome is the graph and embeddings after a merge.
type mergeOutcome struct{ Graph, Vectors string }

type wireConflict struct {
	Item, Kind string
	Fields     []string
}

// mergeRun is a history in a repository.
type mergeRun struct {
	t  *testing.T
	r  *core.Repo
	by state.Stamp
	n  int // of branches made

	// verb does what the case is about with what rev makes of a commit.
	verb func(context.Context, string, core.MergeOptions) (*merging.MergeResult, error)
	rev  func(ipld.CID) string
}

// does makes m do the verb of a case, whose commits are list, from now on.
func (m *mergeRun) does(in mergeInput, list []ipld.CID) {
	m.verb = func(a0 context.Context, a1 string, a2 core.MergeOptions) (*merging.MergeResult, error) {
		return merging.Revert(a0, m.r, a1, a2)
	}
	if in.Verb == "cherry-pick" {
		m.verb = func(a0 context.Context, a1 string, a2 core.MergeOptions) (*merging.MergeResult, error) {
			return merging.CherryPick(a0, m.r, a1, a2)
		}
	}
	m.rev = func(c ipld.CID) string {
		if in.From == nil {
			return c.String()
		}
		return list[*in.From].String() + ".." + c.String()
	}
}

func (m *mergeRun) options(branch string) core.CommitOptions {
	return core.CommitOptions{Stamp: m.by, Branch: branch, Message: "m"}
}

// branch makes a branch at a commit and returns its name.
func (m *mergeRun) branch(at ipld.CID) string {
	m.t.Helper()
	m.n++
	name := fmt.Sprintf("b%d", m.n)
	opt := core.RefOptions{Stamp: m.by}
	must.Get(m.r.Branches().Create(m.t.Context(), name, at.String(), opt))(m.t)
	return name
}

func (m *mergeRun) commit(lines []string, opt core.CommitOptions) ipld.CID {
	m.t.Helper()
	text := strings.Join(lines, "\n") + "\n"
	res := must.Get(m.r.Commit(m.t.Context(), state.ReadChanges(strings.NewReader(text), "lines"), opt))(m.t)
	return res.Commit
}

// root makes a commit without parents; one after the first replaces all that the first has.
func (m *mergeRun) root(first ipld.CID, lines []string) ipld.CID {
	m.t.Helper()
	if !first.Defined() {
		return m.commit(lines, m.options(""))
	}
	s := must.Get(m.r.At(m.t.Context(), first))(m.t)
	var all []string
	for id, err := range s.IDs(m.t.Context()) {
		must.OK(m.t, err)
		all = append(all, fmt.Sprintf(`{"remove":{"node":%q}}`, id))
	}
	opt := m.options(m.branch(first))
	opt.Amend = true
	return m.commit(append(all, lines...), opt)
}

func (m *mergeRun) join(ours, theirs ipld.CID, take graph.Take) (*merging.MergeResult, string, error) {
	m.t.Helper()
	branch := m.branch(ours)
	res, err := m.verb(m.t.Context(), m.rev(theirs), core.MergeOptions{
		CommitOptions: m.options(branch), NoFastForward: true, Prefer: take,
	})
	return res, branch, err
}

func (m *mergeRun) same(what string, res *merging.MergeResult, want mergeOutcome) {
	m.t.Helper()
	s := must.Get(m.r.At(m.t.Context(), res.Commit))(m.t)
	vectors := ""
	if s.Commit().Vectors.Defined() {
		vectors = s.Commit().Vectors.String()
	}
	same(m.t, what+": graph", s.Graph().String(), want.Graph)
	same(m.t, what+": vectors", vectors, want.Vectors)
}

func runMerges(t *testing.T, v vector) {
	var in mergeInput
	parse(t, v.Input, &in)
	var want struct {
		mergeOutcome
		Dropped   int
		Conflicts []wireConflict
		Partial   string
		Ours      mergeOutcome `json:"taking-ours"`
		Theirs    mergeOutcome `json:"taking-theirs"`
		Base      mergeOutcome `json:"taking-base"`
		Records   any
	}
	parse(t, v.Expect, &want)
	by := state.Stamp{Author: in.Author, Command: []string{"test"}}
	r := must.Get(care.New(t.Context(), mem.New(), by, core.Options{}))(t)
	t.Cleanup(func() { closeClean(t, r) })
	m := &mergeRun{t: t, r: r, by: by, verb: func(a0 context.Context, a1 string, a2 core.MergeOptions) (*merging.MergeResult, error) {
		return merging.Merge(a0, r, a1, a2)
	}, rev: ipld.CID.String}
	list := m.history(in)
	ours, theirs := list[len(list)-2], list[len(list)-1]
	if in.Verb != "" {
		m.does(in, list)
		ours, theirs = theirs, list[in.To]
	}
	if len(want.Conflicts) == 0 {
		ways := map[string][2]ipld.CID{"merge": {ours, theirs}, "mirrored": {theirs, ours}}
		if in.Verb != "" {
			delete(ways, "mirrored")
		}
		for name, sides := range ways {
			res, _, err := m.join(sides[0], sides[1], "")
			must.OK(t, err, name)
			m.same(name, res, want.mergeOutcome)
			same(t, name+": dropped", fmt.Sprint(res.VectorsDropped), fmt.Sprint(want.Dropped))
		}
		return
	}
	m.conflicts(ours, theirs, want.Conflicts, want.Partial, want.Dropped)
	if in.Verb == "" {
		m.conflicts(theirs, ours, want.Conflicts, "", want.Dropped)
	}
	for take, outcome := range map[graph.Take]mergeOutcome{
		graph.TakeOurs: want.Ours, graph.TakeTheirs: want.Theirs, graph.TakeBase: want.Base,
	} {
		res, _, err := m.join(ours, theirs, take)
		must.OK(t, err, "taking ", take)
		m.same("taking "+string(take), res, outcome)
		m.same("resolving one by one with "+string(take), m.oneByOne(ours, theirs, take), outcome)
	}
}

// history makes the commits of a case.
func (m *mergeRun) history(in mergeInput) []ipld.CID {
	m.t.Helper()
	var list []ipld.CID
	for _, c := range in.Commits {
		m.by.Time = graph.Time(c.Time)
		var id ipld.CID
		switch len(c.Parents) {
		case 0:
			if len(list) > 0 {
				id = list[0]
			}
			id = m.root(id, c.Lines)
		case 1:
			id = m.commit(c.Lines, m.options(m.branch(list[c.Parents[0]])))
		case 2:
			res, branch, err := m.join(list[c.Parents[0]], list[c.Parents[1]], "")
			must.OK(m.t, err)
			if id = res.Commit; len(c.Lines) > 0 {
				opt := m.options(branch)
				opt.Amend = true
				id = m.commit(c.Lines, opt)
			}
		}
		list = append(list, id)
	}
	return list
}

// conflicts merges and compares what conflicts, and the partial graph if that is given.
func (m *mergeRun) conflicts(ours, theirs ipld.CID, want []wireConflict, partial string, dropped int) {
	m.t.Helper()
	res, branch, err := m.join(ours, theirs, "")
	must.Fail(m.t, err, state.ErrConflict, "merge")
	var got []wireConflict
	for _, c := range res.Conflicts {
		w := wireConflict{Item: c.Item.String(), Kind: string(c.Kind)}
		for _, f := range c.Fields {
			w.Fields = append(w.Fields, f.Field)
		}
		got = append(got, w)
	}
	same(m.t, "conflicts", fmt.Sprint(got), fmt.Sprint(want))
	same(m.t, "dropped", fmt.Sprint(res.VectorsDropped), fmt.Sprint(dropped))
	if partial == "" {
		return
	}
	refs := must.Get(m.r.Refs(m.t.Context()))(m.t)
	for _, ref := range refs {
		if string(ref.Name) != "refs/conflicts/merge/"+branch {
			continue
		}
		_, block, err := m.r.Storage().Block(m.t.Context(), ref.Target.String())
		must.OK(m.t, err)
		rec := must.Get(commit.DecodeMerge(block))(m.t)
		same(m.t, "partial", rec.Graph.String(), partial)
		return
	}
	m.t.Error("the merge in progress has no ref")
}

// oneByOne resolves every conflict by itself.
func (m *mergeRun) oneByOne(ours, theirs ipld.CID, take graph.Take) *merging.MergeResult {
	m.t.Helper()
	res, branch, err := m.join(ours, theirs, "")
	must.Fail(m.t, err, state.ErrConflict, "merge")
	for _, c := range res.Conflicts {
		must.Get(merging.ResolveConflict(m.t.Context(), m.r, c.Item.String(), merging.Choice{Take: take},
			m.options(branch)))(m.t)
	}
	res = must.Get(merging.ContinueMerge(m.t.Context(), m.r, core.MergeOptions{CommitOptions: m.options(branch)}))(m.t)
	return res
}

// TestTruthTableIsComplete reduces every combination of base, ours and theirs out of absent, A, B
// and C to a row, and looks for the vector of that row for each sort of thing.
func TestTruthTableIsComplete(t *testing.T) {
	have := map[string]bool{}
	for _, v := range readVectors(t) {
		if v.Clause == "14.6" {
			have[strings.TrimPrefix(v.Path(), "merge/truth-")] = true
		}
	}
	rows := map[string]bool{}
	for i := range 64 {
		rows[reduced([3]int{i / 16, i / 4 % 4, i % 4})] = true
	}
	must.Equal(t, len(rows), 15, "rows")
	sorts := []string{"node", "field", "property", "edge", "mark"}
	for row := range rows {
		for _, sort := range sorts {
			must.True(t, have[sort+"-"+row], "no vector of %s, row %s", sort, row)
		}
	}
	must.Equal(t, len(have), len(rows)*len(sorts), "vectors of the table")
}

// reduced names the values of a row in the order in which they appear, 0 being absent.
func reduced(row [3]int) string {
	names, out := map[int]byte{0: '0'}, ""
	for _, v := range row {
		if names[v] == 0 {
			names[v] = byte('a' + len(names) - 1)
		}
		out += string(names[v])
	}
	return out
}
