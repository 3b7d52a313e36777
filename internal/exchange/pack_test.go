package exchange_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/exchange"
	"github.com/mnem-project/mnem/internal/history"
	"github.com/mnem-project/mnem/internal/rank"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// TestPackTheDifference sends a history in two packs: the second holds little more than what the receiver lacks,
// and afterwards both sides have the same commits.
func TestPackTheDifference(t *testing.T) {
	from, to := repokit.OpenMem(t), repokit.OpenMem(t)
	fill(t, from)
	first := repokit.MainRef(t, from)
	whole := repokit.Pack(t, from, exchange.PackOptions{Refs: []core.Ref{first}})
	tracked := graph.RefName("refs/remotes/origin/heads/main")
	must.OK(t, must.Err(repokit.Receive(t, to, whole, exchange.RefUpdate{Ref: tracked, To: first.Target})))
	repokit.Lines(t, from, `{"node":{"key":"alice","type":"Person","summary":"Alice left the harbour"}}`)
	repokit.Lines(t, from, `{"node":{"key":"log","type":"Note","summary":"The log, closed"}}`)
	repokit.Lines(t, from, `{"remove":{"node":"boat-7"}}`)
	second := repokit.MainRef(t, from)
	opt := exchange.PackOptions{Refs: []core.Ref{second}, Since: []ipld.CID{first.Target}}
	news := repokit.Pack(t, from, opt)
	if again := repokit.Pack(t, from, opt); !bytes.Equal(again, news) {
		t.Error("two packs of one difference differ: a transfer could not go on where it was")
	}
	up := exchange.RefUpdate{Ref: tracked, To: second.Target, From: &first.Target, Forward: true}
	res := must.Get(repokit.Receive(t, to, news, up))(t)
	// The manifest and its tree of refs are not stored.
	if want := res.Blocks - 2; res.NewBlocks != want {
		t.Errorf("%d blocks of %d were new, want all but the two of the manifest", res.NewBlocks, res.Blocks)
	}
	must.True(t, len(news) <= len(whole)/10, "three small commits took %d bytes, all took %d", len(news), len(whole))
	got, err := to.Revisions().Resolve(t.Context(), string(tracked))
	must.True(t, err == nil && got == second.Target, "%s is at %s, %v; want %s", tracked, got, err, second.Target)
}

// TestReceiveRefuses gives packs and updates that must change nothing.
func TestReceiveRefuses(t *testing.T) {
	from, to := repokit.OpenMem(t), repokit.OpenMem(t)
	repokit.Lines(t, from, `{"node":{"key":"a","type":"T","summary":"one"}}`)
	first := repokit.MainRef(t, from)
	repokit.Lines(t, from, `{"node":{"key":"a","type":"T","summary":"two"}}`)
	second := repokit.MainRef(t, from)
	whole := repokit.Pack(t, from, exchange.PackOptions{Refs: []core.Ref{second}})
	rest := repokit.Pack(t, from, exchange.PackOptions{Refs: []core.Ref{second}, Since: []ipld.CID{first.Target}})
	repokit.Lines(t, to, `{"node":{"key":"b","type":"T","summary":"own"}}`)
	own := repokit.MainRef(t, to)
	name, none := graph.BranchRef("new"), ipld.CID{}
	set := exchange.RefUpdate{Ref: name, To: second.Target}

	var missing *exchange.PrerequisiteError
	if _, err := repokit.Receive(t, to, rest, set); !errors.As(err, &missing) || missing.CID != first.Target {
		t.Errorf("a pack upon a commit that is not here: %v", err)
	}
	must.Fail(t, must.Err(repokit.Receive(t, to, whole[:len(whole)-40], set)), state.ErrInvalid)
	for _, c := range []struct {
		what string
		up   exchange.RefUpdate
		want error
	}{
		{"not in the pack", exchange.RefUpdate{Ref: name, To: first.Target}, state.ErrInvalid},
		{"bad name", exchange.RefUpdate{Ref: "refs/heads/..", To: second.Target}, state.ErrInvalid},
		{"elsewhere", exchange.RefUpdate{Ref: own.Name, To: second.Target, From: &none}, state.ErrConflict},
		{"no descendant", exchange.RefUpdate{Ref: own.Name, To: second.Target, Forward: true}, state.ErrConflict},
		{"not there", exchange.RefUpdate{Ref: name, To: second.Target, From: &own.Target}, state.ErrConflict},
		{"HEAD's branch", exchange.RefUpdate{Ref: own.Name}, state.ErrInvalid},
	} {
		must.Fail(t, must.Err(repokit.Receive(t, to, whole, c.up)), c.want, c.what)
	}
	must.Fail(t, must.Err(repokit.Receive(t, to, nil, set)), state.ErrInvalid)
	refs, err := to.Refs(t.Context())
	must.True(t, err == nil && len(refs) == 2 && repokit.MainRef(t, to) == own,
		"refs %v, %v: something changed", refs, err)
	must.OK(t, must.Err(repokit.Receive(t, to, whole, set)))
	_, err = repokit.Receive(t, to, nil, exchange.RefUpdate{Ref: name, From: &second.Target})
	must.True(t, err == nil, "a branch is removed: %v", err)
}

// TestPackErased packs data erased at one side: for the receiver it is a gap, which does not affect data from
// elsewhere, until the erasure is accepted.
func TestPackErased(t *testing.T) {
	from, st := repokit.OverMem(t)
	fill(t, from)
	c := repokit.NodeCID(t, from, "alice")
	old := repokit.MainRef(t, from)
	whole := repokit.Pack(t, from, exchange.PackOptions{Refs: []core.Ref{old}})
	erase(t, st, c)
	repokit.Lines(t, from, `{"node":{"key":"later","type":"T","summary":"later than the purge"}}`)
	tip := repokit.MainRef(t, from)
	gaps := repokit.Pack(t, from, exchange.PackOptions{Refs: []core.Ref{tip}})
	to, toStore := repokit.OverMem(t)
	name := graph.RefName("refs/remotes/bad/heads/main")
	res, err := repokit.Receive(t, to, gaps, exchange.RefUpdate{Ref: name, To: tip.Target})
	must.OK(t, err, res, ": want one gap")
	must.Equal(t, res.Redactions, 1, res, ": want one gap")
	shows := func(want string) {
		t.Helper()
		s := must.Get(to.At(t.Context(), tip.Target))(t)
		id := must.Get(s.Name(t.Context(), "alice"))(t)
		n, _, err := s.Node(t.Context(), id)
		must.True(t, err == nil && n.Type == want, "the node is shown as %+v, %v, want %s", n, err, want)
		again := repokit.Pack(t, to, exchange.PackOptions{Refs: []core.Ref{{Name: tip.Name, Target: tip.Target}}})
		must.Equal(t, want == state.RedactedType, bytes.Equal(again, gaps), "another pack is packed of what came")
	}
	shows(state.RedactedType)
	good := graph.RefName("refs/remotes/good/heads/main")
	res, err = repokit.Receive(t, to, whole, exchange.RefUpdate{Ref: good, To: old.Target})
	must.Require(t, err == nil && res.Redacted == 0, "%+v, %v: the block was left out", res, err)
	_, gone, err := toStore.Redacted(t.Context(), c)
	must.True(t, !gone && err == nil, "the gap is still one: %v", err)
	shows("Person")

	told, more, err := care.TellRedactions(t.Context(), from, ipld.CID{}, 10)
	must.Require(t, err == nil && !more && len(told) == 1 && told[0].CID == c, "%v, %v, %v", told, more, err)
	nobody := func(graph.RefName) bool { return false }
	all := func(graph.RefName) bool { return true }
	got, err := care.AcceptRedactions(t.Context(), to, told, care.AcceptOptions{Stamp: repokit.By, Reaches: nobody})
	must.True(t, err == nil && len(got.Left) == 1 && len(got.Erased) == 0, "%+v, %v: no ref reaches it", got, err)
	bad := []care.ToldRedaction{{CID: tip.Target, Record: told[0].Record}}
	got, err = care.AcceptRedactions(t.Context(), to, bad, care.AcceptOptions{Stamp: repokit.By, Reaches: all})
	must.True(t, err == nil && len(got.Left) == 1, "%+v, %v: a commit can be erased", got, err)
	bad[0].Record = []byte("x")
	_, err = care.AcceptRedactions(t.Context(), to, bad, care.AcceptOptions{Stamp: repokit.By, Reaches: all})
	must.True(t, errors.Is(err, state.ErrInvalid), "a record that is none: %v", err)
	got, err = care.AcceptRedactions(t.Context(), to, told, care.AcceptOptions{Stamp: repokit.By, Reaches: all})
	must.True(t, err == nil && len(got.Erased) == 1 && redacted(t, toStore, c),
		"%+v, %v: want one block erased", got, err)
	shows(state.RedactedType)
	// Neither is it undone, nor the refs seen at another repository.
	if back, err := history.Undo(t.Context(), to, "", repokit.By); !errors.Is(err, history.ErrNothingToUndo) || !redacted(t, toStore, c) {
		t.Errorf("%+v, %v: want nothing undone", back, err)
	}
	a, errA := care.RedactionSet(t.Context(), from)
	b, errB := care.RedactionSet(t.Context(), to)
	must.True(t, a == b && a != "" && errA == nil && errB == nil, "sets %q and %q, %v, %v", a, b, errA, errB)
}

// TestGapFilled looks up data that was a gap when its index was built.
func TestGapFilled(t *testing.T) {
	from, st := repokit.OverMem(t)
	repokit.Lines(t, from, `{"node":{"key":"heron","type":"T","summary":"the grey heron waits"}}`)
	tip := repokit.MainRef(t, from)
	whole := repokit.Pack(t, from, exchange.PackOptions{Refs: []core.Ref{tip}})
	erase(t, st, repokit.NodeCID(t, from, "heron"))
	gaps := repokit.Pack(t, from, exchange.PackOptions{Refs: []core.Ref{tip}})
	ref := func(i int) exchange.RefUpdate {
		return exchange.RefUpdate{Ref: graph.RefName(fmt.Sprint("refs/remotes/r/heads/b", i)), To: tip.Target}
	}
	for failing := range 3 { // which of the two times that indexes are dropped fails, none at first
		st := &unclearable{Store: mem.New()}
		to := must.Get(care.New(t.Context(), st, repokit.By, core.Options{}))(t)
		finds := func(want int) {
			t.Helper()
			s := must.Get(to.At(t.Context(), tip.Target))(t)
			res, err := rank.Retrieve(t.Context(), s, retrieve.Request{Text: "heron"})
			must.True(t, err == nil && len(res.Items) == want,
				"%d items and %v; expected: %d", len(res.Items), err, want)
		}
		must.OK(t, must.Err(repokit.Receive(t, to, gaps, ref(0))))
		finds(0)
		st.fails = failing
		_, err := repokit.Receive(t, to, whole, ref(1))
		refs, listErr := to.Refs(t.Context())
		there := slices.ContainsFunc(refs, func(r core.Ref) bool { return r.Name == ref(1).Ref })
		must.True(t, there == (err == nil) && listErr == nil,
			"the operation was recorded: %t, told as %v; %v", there, err, listErr)
		must.Equal(t, err != nil, failing == 1, "the indexes are not dropped time ", failing, ": ", err)
		st.fails = 0
		must.OK(t, must.Err(repokit.Receive(t, to, whole, ref(2))))
		finds(1)
		repokit.CheckClean(t, to)
		must.OK(t, to.Close())
	}
}

// unclearable is a store that fails the fails-th next attempt to clear its derived data.
type unclearable struct {
	*mem.Store
	fails int
}

func (u *unclearable) Derived() store.Derived { return unclearableDerived{u.Store.Derived(), u} }

type unclearableDerived struct {
	store.Derived
	of *unclearable
}

func (d unclearableDerived) Clear(ctx context.Context) error {
	d.of.fails--
	if d.of.fails == 0 {
		return errors.New("no room")
	}
	return d.Derived.Clear(ctx)
}

// TestPackWork bounds how much packing a small change of a large memory reads.
func TestPackWork(t *testing.T) {
	effort.Alone(t)
	from, to := repokit.OpenMem(t), repokit.OpenMem(t)
	var b strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&b, `{"node":{"key":"n%d","type":"T","summary":"node %d"}}`+"\n", i, i)
	}
	repokit.Lines(t, from, b.String())
	first := repokit.MainRef(t, from)
	up := exchange.RefUpdate{Ref: first.Name, To: first.Target}
	_, err := repokit.Receive(t, to, repokit.Pack(t, from, exchange.PackOptions{Refs: []core.Ref{first}}), up)
	must.Require(t, err == nil, "%v", err)
	b.Reset()
	for i := range 100 {
		fmt.Fprintf(&b, `{"node":{"key":"n%d","type":"T","summary":"changed %d"}}`+"\n", i*173, i)
	}
	repokit.Lines(t, from, b.String())
	second := repokit.MainRef(t, from)
	var out bytes.Buffer
	must.OK(t, exchange.Pack(t.Context(), from, &out, exchange.PackOptions{
		Refs: []core.Ref{second}, Since: []ipld.CID{first.Target},
	}))
	res, err := repokit.Receive(t, to, out.Bytes(), exchange.RefUpdate{Ref: second.Name, To: second.Target, Forward: true})
	must.OK(t, err)
	must.True(t, res.NewBlocks >= res.Blocks-2,
		"%d of %d blocks were new: the pack holds what the receiver has", res.NewBlocks, res.Blocks)
}
