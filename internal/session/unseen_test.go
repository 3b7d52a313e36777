package session_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/rank"
	sessionpkg "github.com/mnem-project/mnem/internal/session"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
	"github.com/mnem-project/mnem/retrieve"
)

// boats returns change lines of n nodes with one word.
func boats(n int) string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprintf(`{"node":{"key":"n%d","type":"Note","summary":"boat"}}`, i))
	}
	return strings.Join(out, "\n")
}

func unseenIn(t testing.TB, r *core.Repo, session string, req retrieve.Request) *retrieve.Answer {
	t.Helper()
	req.Text, req.Unseen, req.Floor = "boat", true, retrieve.FloorRest
	a, _, err := sessionpkg.RetrieveIn(t.Context(), r, session, req, repokit.By)
	must.OK(t, err)
	return a
}

// TestUnseen queries a session repeatedly, until it has seen everything, and replays it.
func TestUnseen(t *testing.T) {
	r := repokit.OpenMem(t)
	repokit.Lines(t, r, boats(25))
	startSession(t, r, "work", sessionpkg.SessionOptions{})
	seen := map[graph.ID]bool{graph.NodeID("n7"): true}
	for i, want := range []int{10, 10, 4, 0} {
		a := unseenIn(t, r, "work", retrieve.Request{Exclusions: retrieve.Exclusions{ExcludeNames: []string{"n7"}}})
		must.Require(t, len(a.Items) == want && !a.Request.Unseen && a.Request.UnseenFrom == 0,
			"time %d: %d items, want %d; %+v", i, len(a.Items), want, a.Request)
		for _, item := range a.Items {
			must.True(t, !seen[item.ID], "time %d: %s comes again", i, item.Key)
			seen[item.ID] = true
		}
	}
	// The default session has shown nothing yet, and need not exist.
	must.Equal(t, len(unseenIn(t, r, sessionpkg.DefaultSession, retrieve.Request{}).Items), 10, "items")
	a := unseenIn(t, r, sessionpkg.DefaultSession, retrieve.Request{Limit: new(0)})
	must.True(t, len(a.Items) == 15, "%d items left", len(a.Items))
	for name, n := range map[string]int{"work": 4, sessionpkg.DefaultSession: 2} {
		res, err := sessionpkg.Replay(t.Context(), r, name)
		must.True(t, err == nil && res.Identical && res.Receipts == n, "%s: %+v, %v", name, res, err)
	}
}

// TestUnseenCut shows more than a request can exclude.
func TestUnseenCut(t *testing.T) {
	r := repokit.OpenMem(t)
	repokit.Lines(t, r, boats(1100))
	startSession(t, r, "work", sessionpkg.SessionOptions{})
	whole := retrieve.Request{Limit: new(600), Budget: new(0),
		ExpansionOptions: retrieve.ExpansionOptions{Expand: new(0)}, Floor: retrieve.FloorRest}
	first := unseenIn(t, r, "work", whole)  // record 1
	second := unseenIn(t, r, "work", whole) // record 2
	must.Require(t, len(first.Items) == 600 && len(second.Items) == 500 && len(second.Warnings) == 0,
		"%d and %d items, warnings %v", len(first.Items), len(second.Items), second.Warnings)
	third := unseenIn(t, r, "work", whole)
	must.True(t, third.Request.UnseenFrom == 2 && len(third.Request.Exclude) == 500 && len(third.Items) == 600,
		"from %d, %d excluded, %d items", third.Request.UnseenFrom, len(third.Request.Exclude), len(third.Items))
	must.True(t, len(third.Warnings) == 1 && third.Warnings[0].Code == retrieve.UnseenCut,
		"warnings %v", third.Warnings)
	res, err := sessionpkg.Replay(t.Context(), r, "work")
	must.True(t, err == nil && res.Identical, "replay %+v, %v", res, err)
}

// TestExcludeNames resolves names at the commit, and refuses those that match nothing.
func TestExcludeNames(t *testing.T) {
	r := repokit.OpenMem(t)
	repokit.Lines(t, r, boats(3))
	snap := must.Get(r.Snapshot(t.Context(), "HEAD"))(t)
	n1 := graph.NodeID("n1").String()
	for _, name := range []string{"n1", "key:n1", n1, "id:" + n1, n1[:9]} {
		a, err := rank.Retrieve(t.Context(), snap,
			retrieve.Request{Exclusions: retrieve.Exclusions{ExcludeNames: []string{name}}})
		must.True(t, err == nil && len(a.Items) == 2 && len(a.Request.Exclude) == 1, "%s: %v", name, err)
	}
	gone := graph.NodeID("gone").String()
	for _, name := range []string{gone, "id:" + gone} {
		a := must.Get(rank.Retrieve(t.Context(), snap,
			retrieve.Request{Exclusions: retrieve.Exclusions{ExcludeNames: []string{name}}}))(t, name)
		must.Equal(t, len(a.Items), 3, name)
	}
	for _, name := range []string{"nobody", "key:" + n1, "id:n1", "00000000-0000"} {
		must.Fail(t, must.Err(rank.Retrieve(t.Context(), snap,
			retrieve.Request{Exclusions: retrieve.Exclusions{ExcludeNames: []string{name}}})), store.ErrNotFound, name)
	}
	if _, err := rank.Retrieve(t.Context(), snap,
		retrieve.Request{Exclusions: retrieve.Exclusions{Unseen: true}}); !errors.Is(err, retrieve.ErrRequest) {
		t.Errorf("unseen without a session: %v", err)
	}
	must.Fail(t, must.Err(sessionpkg.Unseen(t.Context(), r, "none", snap,
		retrieve.Request{Exclusions: retrieve.Exclusions{Unseen: true}})), store.ErrNotFound)
	many := retrieve.Request{Exclusions: retrieve.Exclusions{ExcludeNames: make([]string, retrieve.MaxExclude+1)}}
	must.Fail(t, must.Err(rank.Retrieve(t.Context(), snap, many)), retrieve.ErrRequest)
}
