package remember

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/memory"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

// cuesOf returns the cues of memories by their texts.
func cuesOf(t *testing.T, m *Writer) map[string]string {
	t.Helper()
	out := map[string]string{}
	for e, err := range m.headOf(t).Nodes(t.Context(), graph.ID{}) {
		must.OK(t, err)
		if len(e.Node.Cues) > 0 {
			out[e.Node.Summary] = strings.Join(e.Node.Cues, "|")
		}
	}
	return out
}

// cuesAsked is a request and a fake model.
type cuesAsked struct {
	CuesRequest
	Write    func(ctx context.Context, text string, n int) ([]string, error)
	Progress func(done, total int)
}

// writeCues executes a run to its end, or until the model fails. The state passes through JSON each time.
func writeCues(ctx context.Context, r *core.Repo, opt core.CommitOptions, req cuesAsked) (*CuesWritten, error) {
	run := &CuesRun{Repo: r, Commit: opt, Asked: req.CuesRequest}
	err := run.Begin(ctx)
	for err == nil {
		var more bool
		if more, err = run.Next(ctx); err != nil || !more {
			break
		}
		said, failed := req.Write(ctx, run.Text, WrittenCues)
		if failed != nil {
			err = cmp.Or(run.Stop(ctx), fmt.Errorf("cues of memory %s: %w", run.ID, failed))
			break
		}
		if req.Progress != nil {
			req.Progress(run.Done+1, run.Total)
		}
		data, jsonErr := json.Marshal(run.CuesState)
		run.CuesState = CuesState{}
		if err = cmp.Or(jsonErr, json.Unmarshal(data, &run.CuesState)); err == nil {
			run.Take(said)
		}
	}
	return &run.Out, err
}

func TestWriteCues(t *testing.T) {
	m := newMemory(t)
	keep(t, m, Request{Text: "Baskets are kept for 14 days", Tags: []string{"shop"}, Entities: []string{"Till"}},
		Request{Text: "Ana owns scope", Cues: []string{"product owner"}},
		Request{Text: "Nothing comes of this one"}, Request{Text: "The old port is closed"})
	must.Get(memory.Mark(t.Context(), m.r, rememberAt(9).CommitOptions, memory.MarkRequest{
		State: graph.Forgotten, Nodes: []string{ID(memory.Fact, "The old port is closed", 0).String()}}))(t)
	var asked []string
	var steps []string
	github := "ghp_" + "q8Zt5Xw2Lk9Rv3Bn7Mc1" + "Yd4Fs6Hg0Jp2Kq8T"
	req := cuesAsked{
		Progress: func(done, total int) { steps = append(steps, fmt.Sprintf("%d/%d", done, total)) },
		Write: func(_ context.Context, text string, n int) ([]string, error) {
			asked = append(asked, text)
			must.Equal(t, n, WrittenCues, "asked")
			if strings.HasPrefix(text, "Nothing") {
				return nil, nil
			}
			return []string{" cart expiry ", "BASKETS", "Cart Expiry", "two\nlines", github, strings.Repeat("x", 101), "",
				"a1", "a2", "a3", "a4", "a5", "a6", "a7", "a8", "a9"}, nil
		},
	}
	res := must.Get(writeCues(t.Context(), m.r, rememberAt(10).CommitOptions, req))(t)
	must.True(t, res.Commits == 1 && res.Memories == 1 && res.Cues == WrittenCues && res.Skipped == 1 &&
		res.Remaining == 0, "%+v", res)
	got := cuesOf(t, m)
	must.True(t, len(got) == 2 && got["Baskets are kept for 14 days"] == "a1|a2|a3|a4|a5|a6|a7|cart expiry" &&
		got["Ana owns scope"] == "product owner", "%v", got)
	slices.Sort(asked)
	must.Equal(t, strings.Join(asked, ", "), "Baskets are kept for 14 days, Nothing comes of this one", "asked")
	must.Equal(t, strings.Join(steps, " "), "1/2 2/2", "asked")
	// Only the memory without a usable cue is asked about again.
	asked = nil
	res, err := writeCues(t.Context(), m.r, rememberAt(11).CommitOptions, req)
	must.True(t, err == nil && res.Commits == 0 && len(asked) == 1, "again: %+v, %q, %v", res, asked, err)
}

// TestWriteCuesGoesOn breaks a run off and begins it again: nothing is asked for twice that was written.
func TestWriteCuesGoesOn(t *testing.T) {
	m := newMemory(t)
	var reqs []Request
	const n = 3*CuesBatch + 5
	for i := range n {
		reqs = append(reqs, Request{Text: fmt.Sprintf("Pier %d of the port is %d metres long", i, 7*i), NoDiff: true})
	}
	must.Get(m.RememberAll(t.Context(), rememberAt(0), reqs))(t)
	failure := errors.New("out of order")
	asked, last := map[string]int{}, ""
	req := cuesAsked{Write: func(_ context.Context, text string, _ int) ([]string, error) {
		if len(asked) == CuesBatch+3 && last == "" {
			last = text
			return nil, failure
		}
		asked[text]++
		return []string{"harbour"}, nil
	}}
	res, err := writeCues(t.Context(), m.r, rememberAt(1).CommitOptions, req)
	must.Require(t, errors.Is(err, failure) &&
		strings.HasPrefix(err.Error(), "cues of memory "+ID(memory.Fact, last, 0).String()), "%v", err)
	must.Equal(t, res.Memories, CuesBatch+3)
	must.Equal(t, res.Commits, 2)
	req.Limit = CuesBatch
	res, err = writeCues(t.Context(), m.r, rememberAt(2).CommitOptions, req)
	must.True(t, err == nil && res.Memories == CuesBatch && res.Remaining == n-2*CuesBatch-3, "%+v, %v", res, err)
	req.Limit = 0
	res, err = writeCues(t.Context(), m.r, rememberAt(3).CommitOptions, req)
	must.True(t, err == nil && res.Memories == n-2*CuesBatch-3, "%+v, %v", res, err)
	must.True(t, len(asked) == n && len(cuesOf(t, m)) == n,
		"%d asked, %d have cues, want %d", len(asked), len(cuesOf(t, m)), n)
	for text, times := range asked {
		must.True(t, times <= 1, "%q was asked %d times", text, times)
	}
}

// TestWriteCuesConcurrently checks that cues which another writer added in the meantime stay, and that Expect holds.
func TestWriteCuesConcurrently(t *testing.T) {
	m := newMemory(t)
	one := keep(t, m, said("Ana owns scope")...)[0]
	req := cuesAsked{Write: func(context.Context, string, int) ([]string, error) {
		_, err := m.r.Commit(t.Context(), func(yield func(graph.Change, error) bool) {
			yield(graph.Change{Node: &graph.NodeChange{ID: one.ID, Cues: []string{"by hand"}}}, nil)
		}, rememberAt(1).CommitOptions)
		return []string{"by a model"}, err
	}}
	res, err := writeCues(t.Context(), m.r, rememberAt(2).CommitOptions, req)
	must.True(t, err == nil && res.Memories == 0 && res.Commits == 0 && cuesOf(t, m)["Ana owns scope"] == "by hand",
		"%+v, %v, %v", res, cuesOf(t, m), err)
	keep(t, m, said("Ben owns billing")...)
	opt := rememberAt(3).CommitOptions
	old := m.headOf(t).Commit().Parents[0]
	opt.Expect = &old
	req.Write = func(context.Context, string, int) ([]string, error) { return []string{"x"}, nil }
	var expect *state.ExpectError
	_, err = writeCues(t.Context(), m.r, opt, req)
	must.True(t, errors.As(err, &expect), "%v", err)
}

// TestWriteCuesOfForgotten: a memory that is forgotten while a model is asked about others is not sent to it, and one
// forgotten after that gets no cues.
func TestWriteCuesOfForgotten(t *testing.T) {
	m := newMemory(t)
	keep(t, m, said("Ana owns scope", "Ben owns billing")...)
	var asked []string
	req := cuesAsked{Write: func(_ context.Context, text string, _ int) ([]string, error) {
		if asked = append(asked, text); len(asked) > 1 {
			return []string{"x"}, nil
		}
		_, err := memory.Mark(t.Context(), m.r, rememberAt(1).CommitOptions, memory.MarkRequest{State: graph.Forgotten, Nodes: []string{
			ID(memory.Fact, "Ana owns scope", 0).String(), ID(memory.Fact, "Ben owns billing", 0).String()}})
		return []string{"by a model"}, err
	}}
	res, err := writeCues(t.Context(), m.r, rememberAt(2).CommitOptions, req)
	must.True(t, err == nil && len(asked) == 1 && res.Memories == 0 && res.Commits == 0 && len(cuesOf(t, m)) == 0,
		"asked %q, %+v, %v, %v", asked, res, cuesOf(t, m), err)
}
