package remember

import (
	"errors"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/history"
	"github.com/mnem-project/mnem/internal/memory"
	"github.com/mnem-project/mnem/internal/memory/recall"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/memkit"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

// TestSecretsAreNoEntities remembers texts with credentials, put together here so that the source has
// none, and looks at every node, edge and message that came of them.
func TestSecretsAreNoEntities(t *testing.T) {
	github := "ghp_" + "q8Zt5Xw2Lk9Rv3Bn7Mc1" + "Yd4Fs6Hg0Jp2Kq8T"
	unknown := "q8Zt5Xw2Lk9Rv3Bn" + "7Mc1Yd4F" // of no rule
	password := "Tr0ub4" + "dor99"
	m := newMemory(t)
	opt := rememberAt(1)
	_, err := m.Remember(t.Context(), opt, Request{Text: "Deploys use `" + github + "`"})
	if !errors.Is(err, state.ErrSecret) || strings.Contains(err.Error(), github) ||
		!strings.HasPrefix(err.Error(), "text: ") {
		t.Errorf("%v", err)
	}
	_, err = m.RememberAll(t.Context(), opt, []Request{
		{Text: "Alice leads infra"}, {Text: "Deploys run at night", Tags: []string{github}}})
	must.Check(t, errors.Is(err, state.ErrSecret) && strings.HasPrefix(err.Error(), "memory 2: tags: "),
		"%v", err)
	opt.Secrets.Allow = []string{"github-pat"}
	texts := []string{
		"Deploys of `billing` use `" + github + "` at night", "`billing` sends " + unknown + " with it",
		"`billing` has the password: " + password,
	}
	for _, s := range texts {
		must.Get(m.Remember(t.Context(), opt, Request{Text: s}))(t)
	}
	id := keep(t, m, said("Deploys of `billing` take an hour")...)[0].ID
	must.Get(memory.Mark(t.Context(), m.r, opt.CommitOptions, memory.MarkRequest{
		State: graph.Stale, Nodes: []string{id.String()}}))(t)
	has := func(s string) bool {
		s = strings.ToLower(s)
		for _, secret := range []string{github, unknown, password} {
			if strings.Contains(s, strings.ToLower(secret)) {
				return true
			}
		}
		return false
	}
	s := must.Get(m.r.Snapshot(t.Context(), "HEAD"))(t)
	entities, memories := 0, 0
	for entry, err := range s.Nodes(t.Context(), graph.ID{}) {
		must.OK(t, err)
		n := entry.Node
		switch {
		case n.Type != memory.TypeEntity:
			memories++
		case has(n.Key) || has(n.Summary):
			t.Errorf("entity %q", n.Key)
		default:
			entities++
		}
	}
	must.Check(t, entities != 0 && memories == len(texts)+1, "%d entities, %d memories", entities, memories)
	for e, err := range history.Log(t.Context(), m.r, "HEAD") {
		must.Check(t, err == nil && !has(e.Message), "%v, %v", e.Commit, err)
	}
	for _, text := range texts {
		tags := must.Get(recall.Suggest(t.Context(), s, text))(t)
		for _, tag := range tags {
			must.Check(t, !has(tag.Name), "suggested: %q", tag.Name)
		}
	}
}

// TestMessagesQuoteNoSecrets forgets a node whose key is a credential.
func TestMessagesQuoteNoSecrets(t *testing.T) {
	m := newMemory(t)
	key := "ghp_" + "q8Zt5Xw2Lk9Rv3Bn7Mc1" + "Yd4Fs6Hg0Jp2Kq8T"
	opt := rememberAt(1).CommitOptions
	opt.Secrets.Allow, opt.Message = []string{"github-pat"}, "m"
	_, err := m.r.Commit(t.Context(), memkit.Each([]graph.Change{{Node: &graph.NodeChange{Key: key, Type: "N"}}}), opt)
	must.OK(t, err)
	opt = rememberAt(2).CommitOptions
	_, err = memory.Mark(t.Context(), m.r, opt, memory.MarkRequest{State: graph.Forgotten, Nodes: []string{key}})
	must.OK(t, err)
	s := must.Get(m.r.Snapshot(t.Context(), "HEAD"))(t)
	got, err := s.Message(t.Context())
	if err != nil || strings.Contains(got, key) || got != "forget "+(graph.Ref{Key: key}).Target().String() {
		t.Errorf("%q, %v", got, err)
	}
}
