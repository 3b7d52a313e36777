package remote_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/exchange"
	"github.com/mnem-project/mnem/internal/exchange/remote"
	sessionpkg "github.com/mnem-project/mnem/internal/session"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// ask records an answer in a session, creating it if necessary.
func ask(t *testing.T, r *core.Repo, session, text string) ipld.CID {
	t.Helper()
	if _, err := sessionpkg.Session(t.Context(), r, session); err != nil {
		_, err := sessionpkg.StartSession(t.Context(), r, session, sessionpkg.SessionOptions{Stamp: by, Follow: true})
		must.Require(t, err == nil, "%v", err)
	}
	_, _, err := sessionpkg.RetrieveIn(t.Context(), r, session, retrieve.Request{Text: text, Limit: new(3)}, by)
	must.Require(t, err == nil, "%v", err)
	e := must.Get(sessionpkg.Session(t.Context(), r, session))(t)
	return e.CID
}

// machine is one side of exchanges of sessions.
type machine struct {
	*testing.T
	*core.Repo
	opt remote.TransferOptions
}

func newMachine(t *testing.T) *machine {
	m := &machine{t, open(t), options(t)}
	m.opt.Sessions = true
	return m
}

func (m *machine) fetchFrom(hub *core.Repo) *remote.Fetched {
	m.Helper()
	out := must.Get(remote.Fetch(m.Context(), here(m.Repo), here(hub), remote.FetchOptions{TransferOptions: m.opt}))(m)
	return out
}

func (m *machine) pushTo(hub *core.Repo) *remote.Pushed {
	m.Helper()
	out := must.Get(remote.Push(m.Context(), here(m.Repo), here(hub), remote.PushOptions{TransferOptions: m.opt}))(m)
	return out
}

// chains returns the newest record of each session.
func chains(t *testing.T, r *core.Repo) map[string]ipld.CID {
	t.Helper()
	all := must.Get(sessionpkg.Sessions(t.Context(), r))(t)
	out := make(map[string]ipld.CID)
	for _, e := range all {
		out[e.Name] = e.CID
	}
	return out
}

// has checks which chains a repository has and that each replays.
func has(t *testing.T, what string, r *core.Repo, want map[string]ipld.CID) {
	t.Helper()
	got := chains(t, r)
	must.True(t, fmt.Sprint(got) == fmt.Sprint(want), "%s has %v, want %v", what, got, want)
	for name := range want {
		out, err := sessionpkg.Replay(t.Context(), r, name)
		must.True(t, err == nil && out.Identical && out.Receipts != 0,
			"%s: replay of %s: %+v, %v", what, name, out, err)
	}
}

// TestSessionsMeet takes a session through all relations between two machines: only one has it, both are equal, one
// is behind or ahead, and both have continued it. Nothing is lost, and each machine continues its own.
func TestSessionsMeet(t *testing.T) {
	hub, a, b := open(t), newMachine(t), newMachine(t)
	add(t, a.Repo, "one", "the first memory")
	ask(t, a.Repo, "work", "first")
	shared := ask(t, a.Repo, "work", "memory")
	a.pushTo(hub) // the commits that the receipts name travel with them, though no branch does
	has(t, "the hub", hub, map[string]ipld.CID{"work": shared})
	add(t, b.Repo, "other", "a memory of another history")
	b.fetchFrom(hub)
	has(t, "b", b.Repo, map[string]ipld.CID{"work": shared})
	out := b.pushTo(hub)
	must.True(t, len(out.Refs) == 0 && out.Bytes == 0, "equal: %+v", out)
	ahead := ask(t, a.Repo, "work", "again")
	out = b.pushTo(hub)
	must.True(t, len(out.Refs) == 0, "behind: %+v", out)
	a.pushTo(hub)
	if out := b.fetchFrom(hub); len(out.Refs) != 2 {
		t.Errorf("a chain that is behind moved %+v", out.Refs)
	}
	has(t, "b", b.Repo, map[string]ipld.CID{"work": ahead})

	ofA := ask(t, a.Repo, "work", "of a")
	firstB := ask(t, b.Repo, "work", "of b")
	ofB := ask(t, b.Repo, "work", "of b again")
	a.pushTo(hub)
	b.pushTo(hub)
	besideA, besideB := sessionpkg.BesideSession("work", ofA), sessionpkg.BesideSession("work", firstB)
	has(t, "the hub", hub, map[string]ipld.CID{"work": ofA, besideB: ofB})
	b.fetchFrom(hub)
	has(t, "b", b.Repo, map[string]ipld.CID{"work": ofB, besideA: ofA})
	a.fetchFrom(hub)
	has(t, "a", a.Repo, map[string]ipld.CID{"work": ofA, besideB: ofB})

	// Both go on, each under its own name.
	ofA, ofB = ask(t, a.Repo, "work", "more"), ask(t, b.Repo, "work", "more")
	a.pushTo(hub)
	b.pushTo(hub)
	a.fetchFrom(hub)
	b.fetchFrom(hub)
	has(t, "the hub", hub, map[string]ipld.CID{"work": ofA, besideB: ofB})
	has(t, "a", a.Repo, map[string]ipld.CID{"work": ofA, besideB: ofB})
	has(t, "b", b.Repo, map[string]ipld.CID{"work": ofB, besideA: ofA})

	// A third one begins with all, in the same places.
	c := newMachine(t)
	c.fetchFrom(hub)
	has(t, "c", c.Repo, map[string]ipld.CID{"work": ofA, besideB: ofB})
	for _, m := range []*machine{a, b, c} {
		out := m.fetchFrom(hub)
		must.True(t, len(out.Refs) == 0 && out.Bytes == 0, "a fetch with nothing new: %+v", out)
		if out := m.pushTo(hub); len(out.Refs) != 0 || out.Bytes != 0 {
			t.Errorf("a push with nothing new: %+v", out)
		}
	}
}

// TestSessionsCostTheirChange counts the blocks that a longer and longer session costs to sync.
func TestSessionsCostTheirChange(t *testing.T) {
	hub, a := open(t), newMachine(t)
	add(t, a.Repo, "one", "the first memory")
	for i := range 40 {
		ask(t, a.Repo, "work", fmt.Sprint("question ", i))
	}
	a.pushTo(hub)
	ask(t, a.Repo, "work", "one more")
	to := &counting{Side: here(hub)}
	must.OK(t, must.Err(remote.Push(t.Context(), here(a.Repo), to, remote.PushOptions{TransferOptions: a.opt})))
	if to.blocks > 6 || to.calls > 2 { // a record, its receipt, its text, the manifest and its tree
		t.Errorf("one more record sent %d blocks in %d round trips", to.blocks, to.calls)
	}
}

// TestSessionsUnasked does not transfer sessions unless requested.
func TestSessionsUnasked(t *testing.T) {
	hub, a, b := open(t), newMachine(t), newMachine(t)
	add(t, a.Repo, "one", "the first memory")
	ask(t, a.Repo, "work", "memory")
	a.opt.Sessions, b.opt.Sessions = false, false
	a.pushTo(hub)
	got := chains(t, hub)
	must.True(t, len(got) == 0, "the hub has %v", got)
	a.opt.Sessions = true
	a.pushTo(hub)
	b.fetchFrom(hub)
	got = chains(t, b.Repo)
	must.True(t, len(got) == 0, "b has %v", got)
	b.opt.Sessions = true
	b.fetchFrom(hub)
	b.opt.Sessions, b.opt.DryRun = false, false
	opt := remote.FetchOptions{TransferOptions: b.opt, Prune: true}
	out, err := remote.Fetch(t.Context(), here(b.Repo), here(hub), opt)
	must.True(t, err == nil && len(out.Refs) == 0, "a fetch that asks for no sessions forgets %+v, %v", out, err)
	must.OK(t, sessionpkg.RemoveSession(t.Context(), b.Repo, "work", by))
	b.opt.Sessions = true
	out = b.fetchFrom(hub)
	must.True(t, len(out.Refs) == 0 && len(chains(t, b.Repo)) == 0, "a session that was removed came back: %+v", out)
}

// TestSessionsOfLongNames keeps both chains of a session whose name has no space for a CID.
func TestSessionsOfLongNames(t *testing.T) {
	for _, name := range []string{
		strings.Repeat("x", 61) + "ö.y/" + strings.Repeat("y", 100), // the remainder ends in a dot
		strings.Repeat("x", 63) + "ö" + strings.Repeat("y", 100),    // or in half a character
		strings.Repeat("x", 63) + "/" + strings.Repeat("y", 100),
	} {
		longName(t, name)
	}
}

func longName(t *testing.T, name string) {
	hub, a, b := open(t), newMachine(t), newMachine(t)
	for _, m := range []*machine{a, b} {
		add(t, m.Repo, "one", "the first memory")
	}
	ofA, ofB := ask(t, a.Repo, name, "of a"), ask(t, b.Repo, name, "of b")
	a.pushTo(hub)
	b.pushTo(hub)
	want := 0
	for _, c := range chains(t, hub) {
		if c == ofA || c == ofB {
			want++
		}
	}
	got := chains(t, hub)
	must.True(t, len(got) == 2 && want == 2, "the hub has %v", got)
	a.fetchFrom(hub)
	got = chains(t, a.Repo)
	must.True(t, len(got) == 2 && got[name] == ofA, "a has %v", got)
}

// TestSessionsThatWereErased transfers a session with an erased question, and one that is erased later.
func TestSessionsThatWereErased(t *testing.T) {
	hub, a, b := open(t), newMachine(t), newMachine(t)
	add(t, a.Repo, "one", "the secret memory")
	tip := ask(t, a.Repo, "work", "secret")
	must.OK(t, must.Err(care.Purge(t.Context(), a.Repo, "one", care.PurgeOptions{Stamp: by})))
	a.pushTo(hub)
	b.fetchFrom(hub)
	got := chains(t, b.Repo)
	must.True(t, got["work"] == tip, "b has %v", got)
}

// hostile is a side with arbitrary answers.
type hostile struct {
	remote.Side
	state *remote.State
	pack  []byte
}

func (h *hostile) Look(ctx context.Context, q remote.Question) (*remote.State, error) {
	return h.state, nil
}

func (h *hostile) Send(ctx context.Context, w io.Writer, want remote.Want, from int64) error {
	_, err := w.Write(h.pack[from:])
	return err
}

// TestSessionsOfTheHostile refuses chains that are none, and refs that are no sessions.
func TestSessionsOfTheHostile(t *testing.T) {
	hub := open(t)
	c := add(t, hub, "one", "x")
	tip := ask(t, hub, "work", "x")
	var whole bytes.Buffer
	refs := []core.Ref{{Name: "refs/sessions/work", Target: tip}}
	must.OK(t, here(hub).Send(t.Context(), &whole, remote.Want{Refs: refs}, 0))
	for _, tt := range []struct {
		name string
		refs []core.Ref
		pack []byte
	}{
		{"a commit", []core.Ref{{Name: "refs/sessions/work", Target: c}}, whole.Bytes()},
		{"what is not in the pack", []core.Ref{{Name: "refs/sessions/work", Target: ipld.Sum(ipld.DagCBOR, []byte{0xa0})}}, whole.Bytes()},
		{"a branch", []core.Ref{{Name: main, Target: tip}}, whole.Bytes()},
		{"a stage", []core.Ref{{Name: "refs/stage/main", Target: tip}}, whole.Bytes()},
		{"half a pack", refs, whole.Bytes()[:whole.Len()/2]},
	} {
		a := newMachine(t)
		from := &hostile{Side: here(hub), state: &remote.State{Refs: tt.refs}, pack: tt.pack}
		_, err := remote.Fetch(t.Context(), here(a.Repo), from, remote.FetchOptions{TransferOptions: a.opt})
		must.True(t, errors.Is(err, state.ErrInvalid), "%s: %v", tt.name, err)
		got := chains(t, a.Repo)
		must.True(t, len(got) == 0 && !at(t, a.Repo, main).Defined(), "%s: it left %v", tt.name, got)
	}
	a := open(t)
	ask1 := []exchange.RefUpdate{{Ref: "refs/sessions/work", To: tip, Place: true}}
	pack := io.NewSectionReader(bytes.NewReader(whole.Bytes()), 0, int64(whole.Len()))
	must.OK(t, must.Err(here(a).Take(t.Context(), remote.News{Pack: pack, Updates: ask1})))
	for _, u := range []exchange.RefUpdate{
		{Ref: "refs/sessions/work"},
		{Ref: main, To: tip, Place: true},
		{Ref: "refs/sessions/" + graph.RefName(strings.Repeat("x", 300)), To: tip, Place: true},
	} {
		_, err := here(a).Take(t.Context(), remote.News{Pack: pack, Updates: []exchange.RefUpdate{u}})
		must.True(t, errors.Is(err, state.ErrInvalid), "%+v: %v", u, err)
	}
	has(t, "a", a, map[string]ipld.CID{"work": tip})
}
