package core_test

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
	"github.com/mnem-project/mnem/ipld"
)

// TestOrderAndBatchesLeaveNoTrace commits the same facts in several orders and batches: the graph must have one CID.
func TestOrderAndBatchesLeaveNoTrace(t *testing.T) {
	effort.Alone(t)
	t.Parallel()
	data := must.Get(os.ReadFile("../../testdata/demo/memory.jsonl"))(t)
	var nodes, edges []string
	for line := range strings.Lines(string(data)) {
		if strings.HasPrefix(line, `{"node"`) {
			nodes = append(nodes, line)
		} else {
			edges = append(edges, line)
		}
	}
	must.Require(t, len(nodes) >= 150 && len(edges) >= 300, "%d nodes and %d edges", len(nodes), len(edges))
	want := repokit.Lines(t, repokit.OpenMem(t), string(data)).Graph
	for seed := range uint64(4) {
		t.Logf("seed %d", seed)
		rng := rand.New(rand.NewPCG(seed, 1))
		all := append(append([]string(nil), nodes...), edges...)
		rng.Shuffle(len(nodes), func(i, j int) { all[i], all[j] = all[j], all[i] })
		rest := all[len(nodes):]
		rng.Shuffle(len(rest), func(i, j int) { rest[i], rest[j] = rest[j], rest[i] })
		small := repokit.OpenMem(t)
		for len(all) > 0 {
			n := min(1+rng.IntN(40), len(all))
			repokit.Lines(t, small, strings.Join(all[:n], ""))
			all = all[n:]
		}
		must.Equal(t, repokit.Head(t, small).Graph(), want, "many commits: graph")
		mixed := append(append([]string(nil), nodes...), edges...)
		rng.Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
		got := repokit.Lines(t, repokit.OpenMem(t), strings.Join(mixed, "")).Graph
		must.True(t, got == want, "one shuffled commit: graph %s, want %s", got, want)
	}
}

func commitStaged(t testing.TB, r *core.Repo) (*core.CommitResult, error) {
	t.Helper()
	return r.Stages().Commit(t.Context(), "", core.CommitOptions{Stamp: repokit.By, Message: "staged"})
}

func status(t testing.TB, r *core.Repo) *core.Status {
	t.Helper()
	return must.Get(r.Stages().Status(t.Context(), ""))(t)
}

// staged returns what is staged against its base.
func staged(t testing.TB, r *core.Repo) (nodes, edges state.Counts) {
	t.Helper()
	nodes, edges, err := status(t, r).Diff.Count(t.Context())
	must.OK(t, err)
	return nodes, edges
}

// TestDanglingStage stages an edge before the node it needs.
func TestDanglingStage(t *testing.T) {
	r := repokit.OpenMem(t)
	first := repokit.Lines(t, r, repokit.TwoPeople)
	repokit.StageLines(t, r, `{"edge":{"type":"knows","src":"alice","dst":"carol"}}`)
	refused := func(what string) {
		t.Helper()
		_, err := commitStaged(t, r)
		must.True(t, errors.Is(err, state.ErrInvalid) && strings.Contains(err.Error(),
			graph.NodeID("carol").String()), "%s: error %v does not name the missing node", what, err)
		_, edges := staged(t, r)
		must.True(t, edges == (state.Counts{Added: 1}), "%s: %+v staged", what, edges)
	}
	refused("dangling")
	must.Equal(t, repokit.Head(t, r).CID(), first.Commit, "the branch moved")
	repokit.Lines(t, r, `{"node":{"key":"dave","type":"Person"}}`)
	refused("dangling, and the branch moved")
	repokit.StageLines(t, r, `{"node":{"key":"carol","type":"Person"}}`)
	must.Get(commitStaged(t, r))(t)
	must.Equal(t, repokit.Sizes(repokit.Head(t, r)), [4]uint64{4, 2, 0, 0}, "sizes")

	repokit.StageLines(t, r, `{"edge":{"type":"knows","src":"alice","dst":"erin"}}`)
	repokit.Lines(t, r, `{"node":{"key":"erin","type":"Person"}}`)
	must.Get(commitStaged(t, r))(t, "the branch has the missing node by now")
}

// TestReadChangesAsReader compares the changes of many lines, some long, blank or wrong, with those that
// a reader returns one by one.
func TestReadChangesAsReader(t *testing.T) {
	broken := errors.New("broken pipe")
	line := func(i int) string {
		switch {
		case i%31 == 5:
			return "  \n"
		case i%97 == 9:
			return fmt.Sprintf(`{"node":{"key":"n%d","type":"T","summary":%q}}`+"\n", i,
				strings.Repeat("long ", 10_000))
		}
		return fmt.Sprintf(`{"node":{"key":"n%d","type":"T","props":{"n":%d}}}`+"\r\n", i, i)
	}
	for _, n := range []int{0, 1, 2, 63, 64, 65, 500} {
		for name, end := range map[string]string{
			"nothing": "", "no line end": `{"edge":{"type":"t","src":"a","dst":"b"}}`,
			"wrong": "{\"node\":{}}\n{}\n", "no JSON": "x\n" + line(1),
		} {
			for _, cut := range []error{nil, broken} {
				var b strings.Builder
				for i := range n {
					b.WriteString(line(i))
				}
				b.WriteString(end)
				in := func() io.Reader {
					if cut == nil {
						return strings.NewReader(b.String())
					}
					return io.MultiReader(strings.NewReader(b.String()), iotest.ErrReader(cut))
				}
				want, wantErr := oneByOne(in())
				var got []string
				var gotErr error
				for c, err := range state.ReadChanges(in(), "f") {
					if gotErr = err; err == nil {
						got = append(got, show(c))
					}
				}
				must.True(t, fmt.Sprint(gotErr) == fmt.Sprint(wantErr) &&
					errors.Is(gotErr, broken) == errors.Is(wantErr, broken),
					"%d lines, %s, %v: error %v, want %v", n, name, cut, gotErr, wantErr)
				must.Same(t, got, want, n, " lines, ", name)
			}
		}
	}
}

func show(c graph.Change) string {
	if c.Node != nil {
		return fmt.Sprintf("%s:%d node %+v %d", c.File, c.Line, c.Node.Key, len(c.Node.Props))
	}
	return fmt.Sprintf("%s:%d edge %+v", c.File, c.Line, c.Edge)
}

func oneByOne(in io.Reader) (all []string, err error) {
	r := graph.NewReader(in, "f")
	for {
		c, err := r.Next()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return all, err
		}
		all = append(all, show(c))
	}
}

func prop(t testing.TB, n *graph.Node, name string) ipld.Value {
	t.Helper()
	v, ok := ipld.FindEntry(n.Props, name)
	must.Require(t, ok, "node %s has no property %q", n.Key, name)
	return v
}
