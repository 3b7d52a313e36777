package repo_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/testkit"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/repo"
	"github.com/mnem-project/mnem/store"
	"github.com/mnem-project/mnem/store/mem"
)

// commitBy commits lines as somebody at a time.
func commitBy(t testing.TB, r *repo.Repo, who repo.Stamp, message, text string) ipld.CID {
	t.Helper()
	if who.Command == nil {
		who.Command = by.Command
	}
	res, err := r.Commit(context.Background(), repo.ReadChanges(strings.NewReader(text), "x"),
		repo.CommitOptions{Stamp: who, Message: message})
	must(t, err)
	return res.Commit
}

// manyVersions makes a memory of some nodes and then n commits, each of which changes one of them; node
// 0 is changed by every tenth.
func manyVersions(t testing.TB, r *repo.Repo, nodes, n int) {
	t.Helper()
	var all strings.Builder
	for i := range nodes {
		line := `{"node":{"key":"n%d","type":"T","summary":"s","props":{"a":0,"b":0}}}` + "\n"
		fmt.Fprintf(&all, line, i)
	}
	commitBy(t, r, by, "all", all.String())
	for i := range n {
		which := 1 + i%(nodes-1)
		if i%10 == 0 {
			which = 0
		}
		line := fmt.Sprintf(`{"node":{"key":"n%d","props":{"a":%d}}}`, which, i+1)
		commitBy(t, r, by, fmt.Sprint("v", i), line)
	}
}

// TestBlameReads counts what blame reads: for each commit the commit, the graph and what differs of
// one path of a tree.
func TestBlameReads(t *testing.T) {
	const nodes, n = 2000, 200
	base := mem.New()
	r, err := repo.New(t.Context(), base, by, repo.Options{})
	must(t, err)
	manyVersions(t, r, nodes, n)
	counting := testkit.NewTamper(base)
	r, err = repo.New(t.Context(), counting, by, repo.Options{ReadOnly: true})
	must(t, err)
	s := head(t, r)
	before := len(counting.Read())
	found, err := s.Blame(t.Context(), graph.NodeID("n0"))
	must(t, err)
	for _, f := range found {
		if want := map[string]string{"props.a": "v190", "updated": "v190"}[f.Field]; want != "" &&
			said(t, r, f.Commit.Message) != want || want == "" && said(t, r, f.Commit.Message) != "all" {
			t.Errorf("%s is blamed on %s", f.Field, said(t, r, f.Commit.Message))
		}
	}
	reads := len(counting.Read()) - before
	t.Logf("%d blocks read over %d commits of %d nodes", reads, n, nodes)
	// The nodes that follow each other in the test are spread: most commits leave the leaf alone.
	if most := (n + 1) * 5; reads > most {
		t.Errorf("%d blocks read, want at most %d", reads, most)
	}
}

func TestBlameErrors(t *testing.T) {
	r, ctx := openMem(t), t.Context()
	empty, err := r.At(ctx, ipld.CID{})
	must(t, err)
	if _, err := empty.Blame(ctx, graph.NodeID("a")); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("in the empty memory: %v", err)
	}
	lines(t, r, `{"node":{"key":"a","type":"T"}}`)
	if _, err := head(t, r).Blame(ctx, graph.NodeID("b")); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a node that is not there: %v", err)
	}
	if _, err := head(t, r).Blame(ctx, graph.NodeID("a")); err != nil {
		t.Error(err)
	}
}

// TestBlameNamesDamage takes a block of history away.
func TestBlameNamesDamage(t *testing.T) {
	base := mem.New()
	r, err := repo.New(t.Context(), base, by, repo.Options{})
	must(t, err)
	first := commitBy(t, r, by, "1", `{"node":{"key":"a","type":"T"}}`)
	commitBy(t, r, by, "2", `{"node":{"key":"a","summary":"s"}}`)
	liar := testkit.NewTamper(base)
	liar.Lie = func(c ipld.CID, data []byte) ([]byte, error) {
		if c == first {
			return nil, store.ErrNotFound
		}
		return data, nil
	}
	r, err = repo.New(t.Context(), liar, by, repo.Options{ReadOnly: true})
	must(t, err)
	if _, err := head(t, r).Blame(t.Context(), graph.NodeID("a")); !errors.Is(err, store.ErrCorrupt) {
		t.Errorf("error %v", err)
	}
}

// TestHistoryOptions leaves commits out by each option and by all of them.
func TestHistoryOptions(t *testing.T) {
	r, ctx := openMem(t), t.Context()
	stamp := func(author, agent string, hour int) repo.Stamp {
		at := by.Time + graph.Time(hour)*3_600_000_000
		return repo.Stamp{Author: author, Agent: agent, Time: at}
	}
	commitBy(t, r, stamp("ada", "", 0), "one", `{"node":{"key":"a","type":"Person"}}
{"node":{"key":"b","type":"Place"}}`)
	commitBy(t, r, stamp("ben", "bot", 1), "two", `{"edge":{"type":"in","src":"a","dst":"b"}}`)
	commitBy(t, r, stamp("ada", "bot", 2), "three", `{"node":{"key":"a","type":"Robot"}}`)
	commitBy(t, r, stamp("cleo", "", 3), "four",
		`{"mark":{"edge":{"type":"in","src":"a","dst":"b"},"state":"stale"}}`)
	commitBy(t, r, stamp("cleo", "pen", 4), "five", `{"remove":{"node":"b"}}`)
	hour := func(n int) graph.OptTime { return graph.At(by.Time + graph.Time(n)*3_600_000_000) }
	for _, c := range []struct {
		name string
		opt  repo.LogOptions
		want string
	}{
		{"none", repo.LogOptions{}, "five four three two one"},
		{"range", repo.LogOptions{Rev: "HEAD~3..HEAD~1"}, "four three"},
		{"node", repo.LogOptions{Node: graph.NodeID("a")}, "five four three two one"},
		{"other node", repo.LogOptions{Node: graph.NodeID("b")}, "five four two one"},
		{"type before", repo.LogOptions{Types: []string{"Person"}}, "three one"},
		{"type after", repo.LogOptions{Types: []string{"Robot"}}, "three"},
		{"edge type", repo.LogOptions{Types: []string{"in"}}, "five four two"},
		{"types", repo.LogOptions{Types: []string{"Robot", "Place"}}, "five three one"},
		{"node and type", repo.LogOptions{Node: graph.NodeID("a"), Types: []string{"Place"}}, "five one"},
		{"authors", repo.LogOptions{Authors: []string{"ben", "cleo"}}, "five four two"},
		{"agents", repo.LogOptions{Agents: []string{"bot"}}, "three two"},
		{"since", repo.LogOptions{Since: hour(3)}, "five four"},
		{"until", repo.LogOptions{Until: hour(3)}, "three two one"},
		{"grep", repo.LogOptions{Grep: regexp.MustCompile("^t")}, "three two"},
		{"all", repo.LogOptions{Node: graph.NodeID("b"), Types: []string{"in"},
			Authors: []string{"cleo", "ben"}, Agents: []string{"bot"}, Since: hour(1), Until: hour(2),
			Grep: regexp.MustCompile("w")}, "two"},
	} {
		var got []string
		for e, err := range r.History(ctx, c.opt) {
			must(t, err)
			got = append(got, e.Message)
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%s: %s, want %s", c.name, text, c.want)
		}
	}
	for _, err := range r.History(ctx, repo.LogOptions{Rev: "nobody"}) {
		if !errors.Is(err, store.ErrNotFound) {
			t.Errorf("a revision that is not there: %v", err)
		}
	}
	stopped := slices.Collect(func(yield func(int) bool) {
		for range r.Log(ctx, "HEAD") {
			yield(1)
			break
		}
	})
	if len(stopped) != 1 {
		t.Error("a log that is left goes on")
	}
}

// BenchmarkBlame is the blame of one node among 10,000 after 1,000 commits, on disk.
func BenchmarkBlame(b *testing.B) {
	r, err := repo.Init(b.Context(), b.TempDir(), by, repo.Options{})
	must(b, err)
	defer func() { must(b, r.Close()) }()
	manyVersions(b, r, 10_000, 1000)
	s := head(b, r)
	for name, run := range map[string]func(){
		"blame": func() {
			_, err := s.Blame(b.Context(), graph.NodeID("n0"))
			must(b, err)
		},
		"log": func() {
			for _, err := range r.History(b.Context(), repo.LogOptions{Node: graph.NodeID("n0")}) {
				must(b, err)
			}
		},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				run()
			}
		})
	}
}
