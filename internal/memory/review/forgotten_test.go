package review

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/memory"
	"github.com/mnem-project/mnem/internal/memory/recall"
	"github.com/mnem-project/mnem/internal/testkit/memkit"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

// TestForgottenByVerbs asks every verb that reads for what is next to a forgotten memory.
func TestForgottenByVerbs(t *testing.T) {
	r := memkit.Open(t, append(memkit.SecretLines,
		`{"node":{"key":"tag/wombat","type":"Tag","summary":"wombat"}}`,
		`{"edge":{"type":"tagged","src":"secret","dst":"tag/wombat"}}`)...)
	secret := graph.NodeID("secret")
	told := func(s *core.Snapshot) (n int) {
		t.Helper()
		look := func(what string, v any, err error) {
			t.Helper()
			must.Require(t, err == nil || memory.IsMissing(err), "%s: %v", what, err)
			text := fmt.Sprintf("%+v", v)
			for _, word := range []string{secret.String(), "xylitol", "Zanzibar Quokka\""} {
				if strings.Contains(text, word) {
					n++
				}
			}
		}
		for _, text := range []string{"zanzibar quokka", "harbour office", "office", "secret", "wombat"} {
			for _, req := range []recall.ExploreRequest{{Topic: text}, {Node: graph.NodeID("tag/" + text)}} {
				e, err := recall.Explore(t.Context(), s, req)
				look("explore", said(e), err)
			}
			tags, err := recall.Suggest(t.Context(), s, text)
			look("suggest", tags, err)
		}
		for _, key := range []string{"a", "b", "tag/office"} {
			list, err := recall.Related(t.Context(), s, recall.RelatedRequest{ID: graph.NodeID(key)})
			look("related", said(list), err)
		}
		p := must.Get(Propose(t.Context(), s, ConsolidateRequest{Now: memkit.By.Time, Cap: 1}))(t)
		look("consolidate", p.List, nil)
		return n
	}
	must.Require(t, told(memkit.Tip(t, r)) != 0, "nothing tells of it before")
	req := memory.MarkRequest{State: graph.Forgotten, Nodes: []string{"secret"}}
	must.Get(memory.Mark(t.Context(), r, memkit.Opt, req))(t)
	// That b is contradicted by it, its mark says; who it was, get says of its id alone.
	memkit.Tell(t, r, `{"remove":{"mark":{"node":"b"}}}`)
	if n := told(memkit.Tip(t, r)); n > 0 {
		t.Errorf("%d answers tell of what is forgotten", n)
	}
}

// said writes what was explored.
func said(x *recall.Exploration) (text string) {
	if x == nil {
		return ""
	}
	for _, n := range x.Nodes {
		text += fmt.Sprintf("%+v %+v\n", *n.Node, n.Reasons)
	}
	return text
}
