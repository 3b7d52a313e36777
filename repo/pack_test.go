package repo_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/repo"
	"github.com/mnem-project/mnem/retrieve"
	"github.com/mnem-project/mnem/store"
	"github.com/mnem-project/mnem/store/mem"
)

// main is where the branch main is.
func mainRef(t testing.TB, r *repo.Repo) repo.Ref {
	t.Helper()
	return repo.Ref{Name: graph.BranchRef("main"), Target: head(t, r).CID()}
}

func pack(t testing.TB, r *repo.Repo, opt repo.PackOptions) []byte {
	t.Helper()
	var b bytes.Buffer
	res, err := r.Pack(t.Context(), &b, opt)
	if err != nil {
		t.Fatal(err)
	}
	if int64(b.Len()) != res.Bytes {
		t.Errorf("pack says %d bytes, wrote %d", res.Bytes, b.Len())
	}
	return b.Bytes()
}

func receive(t testing.TB, r *repo.Repo, file []byte, list ...repo.RefUpdate) (*repo.ImportResult, error) {
	t.Helper()
	opt := repo.ReceiveOptions{Stamp: by, Updates: list}
	if file == nil {
		return r.Receive(t.Context(), nil, 0, opt)
	}
	return r.Receive(t.Context(), bytes.NewReader(file), int64(len(file)), opt)
}

// TestPackTheDifference sends a history in two packs: the second holds what the receiver lacks and
// little else, and both ends have the same commits then.
func TestPackTheDifference(t *testing.T) {
	from, to := openMem(t), openMem(t)
	fill(t, from)
	first := mainRef(t, from)
	whole := pack(t, from, repo.PackOptions{Refs: []repo.Ref{first}})
	tracked := graph.RefName("refs/remotes/origin/heads/main")
	if _, err := receive(t, to, whole, repo.RefUpdate{Ref: tracked, To: first.Target}); err != nil {
		t.Fatal(err)
	}
	lines(t, from, `{"node":{"key":"alice","type":"Person","summary":"Alice left the harbour"}}`)
	lines(t, from, `{"node":{"key":"log","type":"Note","summary":"The log, closed"}}`)
	lines(t, from, `{"remove":{"node":"boat-7"}}`)
	second := mainRef(t, from)
	opt := repo.PackOptions{Refs: []repo.Ref{second}, Since: []ipld.CID{first.Target}}
	news := pack(t, from, opt)
	if again := pack(t, from, opt); !bytes.Equal(again, news) {
		t.Error("two packs of one difference differ: a transfer could not go on where it was")
	}
	up := repo.RefUpdate{Ref: tracked, To: second.Target, From: &first.Target, Forward: true}
	res, err := receive(t, to, news, up)
	if err != nil {
		t.Fatal(err)
	}
	// The manifest and its tree of refs are not stored.
	if want := res.Blocks - 2; res.NewBlocks != want {
		t.Errorf("%d blocks of %d were new, want all but the two of the manifest", res.NewBlocks, res.Blocks)
	}
	if len(news) > len(whole)/10 {
		t.Errorf("three small commits took %d bytes, all took %d", len(news), len(whole))
	}
	got, err := to.Resolve(t.Context(), string(tracked))
	if err != nil || got != second.Target {
		t.Errorf("%s is at %s, %v; want %s", tracked, got, err, second.Target)
	}
}

// TestReceiveRefuses gives packs and updates that must change nothing.
func TestReceiveRefuses(t *testing.T) {
	from, to := openMem(t), openMem(t)
	lines(t, from, `{"node":{"key":"a","type":"T","summary":"one"}}`)
	first := mainRef(t, from)
	lines(t, from, `{"node":{"key":"a","type":"T","summary":"two"}}`)
	second := mainRef(t, from)
	whole := pack(t, from, repo.PackOptions{Refs: []repo.Ref{second}})
	rest := pack(t, from, repo.PackOptions{Refs: []repo.Ref{second}, Since: []ipld.CID{first.Target}})
	lines(t, to, `{"node":{"key":"b","type":"T","summary":"own"}}`)
	own := mainRef(t, to)
	name, none := graph.BranchRef("new"), ipld.CID{}
	set := repo.RefUpdate{Ref: name, To: second.Target}

	var missing *repo.PrerequisiteError
	if _, err := receive(t, to, rest, set); !errors.As(err, &missing) || missing.CID != first.Target {
		t.Errorf("a pack upon a commit that is not here: %v", err)
	}
	if _, err := receive(t, to, whole[:len(whole)-40], set); !errors.Is(err, repo.ErrInvalid) {
		t.Errorf("a pack that is cut: %v", err)
	}
	for _, c := range []struct {
		what string
		up   repo.RefUpdate
		want error
	}{
		{"not in the pack", repo.RefUpdate{Ref: name, To: first.Target}, repo.ErrInvalid},
		{"bad name", repo.RefUpdate{Ref: "refs/heads/..", To: second.Target}, repo.ErrInvalid},
		{"elsewhere", repo.RefUpdate{Ref: own.Name, To: second.Target, From: &none}, repo.ErrConflict},
		{"no descendant", repo.RefUpdate{Ref: own.Name, To: second.Target, Forward: true}, repo.ErrConflict},
		{"not there", repo.RefUpdate{Ref: name, To: second.Target, From: &own.Target}, repo.ErrConflict},
		{"HEAD's branch", repo.RefUpdate{Ref: own.Name}, repo.ErrInvalid},
	} {
		if _, err := receive(t, to, whole, c.up); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.what, err, c.want)
		}
	}
	if _, err := receive(t, to, nil, set); !errors.Is(err, repo.ErrInvalid) {
		t.Errorf("a ref to what nothing brought: %v", err)
	}
	refs, err := to.Refs(t.Context())
	if err != nil || len(refs) != 2 || mainRef(t, to) != own {
		t.Errorf("refs %v, %v: something changed", refs, err)
	}
	if _, err := receive(t, to, whole, set); err != nil {
		t.Fatal(err)
	}
	if _, err := receive(t, to, nil, repo.RefUpdate{Ref: name, From: &second.Target}); err != nil {
		t.Errorf("a branch is removed: %v", err)
	}
}

// TestPackErased packs what was erased at one end: at the other it is a gap, which says nothing of what
// comes from elsewhere, until it is accepted.
func TestPackErased(t *testing.T) {
	from, st := openStore(t)
	fill(t, from)
	c := nodeCID(t, from, "alice")
	old := mainRef(t, from)
	whole := pack(t, from, repo.PackOptions{Refs: []repo.Ref{old}})
	erase(t, st, c)
	lines(t, from, `{"node":{"key":"later","type":"T","summary":"later than the purge"}}`)
	tip := mainRef(t, from)
	gaps := pack(t, from, repo.PackOptions{Refs: []repo.Ref{tip}})
	to, toStore := openStore(t)
	name := graph.RefName("refs/remotes/bad/heads/main")
	res, err := receive(t, to, gaps, repo.RefUpdate{Ref: name, To: tip.Target})
	if err != nil || res.Redactions != 1 {
		t.Fatalf("%+v, %v: want one gap", res, err)
	}
	shows := func(want string) {
		t.Helper()
		s, err := to.At(t.Context(), tip.Target)
		if err != nil {
			t.Fatal(err)
		}
		id, err := s.Name(t.Context(), "alice")
		if err != nil {
			t.Fatal(err)
		}
		n, _, err := s.Node(t.Context(), id)
		if err != nil || n.Type != want {
			t.Errorf("the node is shown as %+v, %v, want %s", n, err, want)
		}
		again := pack(t, to, repo.PackOptions{Refs: []repo.Ref{{Name: tip.Name, Target: tip.Target}}})
		if (want == repo.RedactedType) != bytes.Equal(again, gaps) {
			t.Error("another pack is packed of what came")
		}
	}
	shows(repo.RedactedType)
	good := graph.RefName("refs/remotes/good/heads/main")
	if res, err = receive(t, to, whole, repo.RefUpdate{Ref: good, To: old.Target}); err != nil || res.Redacted != 0 {
		t.Fatalf("%+v, %v: the block was left out", res, err)
	}
	if _, gone, err := toStore.Redacted(t.Context(), c); gone || err != nil {
		t.Errorf("the gap is still one: %v", err)
	}
	shows("Person")

	told, more, err := from.TellRedactions(t.Context(), ipld.CID{}, 10)
	if err != nil || more || len(told) != 1 || told[0].CID != c {
		t.Fatalf("%v, %v, %v", told, more, err)
	}
	nobody := func(graph.RefName) bool { return false }
	all := func(graph.RefName) bool { return true }
	got, err := to.AcceptRedactions(t.Context(), told, repo.AcceptOptions{Stamp: by, Reaches: nobody})
	if err != nil || len(got.Left) != 1 || len(got.Erased) > 0 {
		t.Errorf("%+v, %v: no ref reaches it", got, err)
	}
	bad := []repo.ToldRedaction{{CID: tip.Target, Record: told[0].Record}}
	if got, err = to.AcceptRedactions(t.Context(), bad, repo.AcceptOptions{Stamp: by, Reaches: all}); err != nil ||
		len(got.Left) != 1 {
		t.Errorf("%+v, %v: a commit can be erased", got, err)
	}
	bad[0].Record = []byte("x")
	if _, err = to.AcceptRedactions(t.Context(), bad, repo.AcceptOptions{Stamp: by, Reaches: all}); !errors.Is(err,
		repo.ErrInvalid) {
		t.Errorf("a record that is none: %v", err)
	}
	got, err = to.AcceptRedactions(t.Context(), told, repo.AcceptOptions{Stamp: by, Reaches: all})
	if err != nil || len(got.Erased) != 1 || !redacted(t, toStore, c) {
		t.Errorf("%+v, %v: want one block erased", got, err)
	}
	shows(repo.RedactedType)
	// It is never undone, nor is what was seen of another repository.
	if back, err := to.Undo(t.Context(), "", by); !errors.Is(err, repo.ErrNothingToUndo) || !redacted(t, toStore, c) {
		t.Errorf("%+v, %v: want nothing undone", back, err)
	}
	a, errA := from.RedactionSet(t.Context())
	b, errB := to.RedactionSet(t.Context())
	if a != b || a == "" || errA != nil || errB != nil {
		t.Errorf("sets %q and %q, %v, %v", a, b, errA, errB)
	}
}

// TestGapFilled finds what was a gap when its index was built.
func TestGapFilled(t *testing.T) {
	from, st := openStore(t)
	lines(t, from, `{"node":{"key":"heron","type":"T","summary":"the grey heron waits"}}`)
	tip := mainRef(t, from)
	whole := pack(t, from, repo.PackOptions{Refs: []repo.Ref{tip}})
	erase(t, st, nodeCID(t, from, "heron"))
	gaps := pack(t, from, repo.PackOptions{Refs: []repo.Ref{tip}})
	ref := func(i int) repo.RefUpdate {
		return repo.RefUpdate{Ref: graph.RefName(fmt.Sprint("refs/remotes/r/heads/b", i)), To: tip.Target}
	}
	for failing := range 3 { // which of the two times that indexes are dropped fails, none at first
		st := &unclearable{Store: mem.New()}
		to, err := repo.New(t.Context(), st, by, repo.Options{})
		if err != nil {
			t.Fatal(err)
		}
		finds := func(want int) {
			t.Helper()
			s, err := to.At(t.Context(), tip.Target)
			if err != nil {
				t.Fatal(err)
			}
			res, err := s.Retrieve(t.Context(), retrieve.Request{Text: "heron"})
			if err != nil || len(res.Items) != want {
				t.Errorf("%d items and %v; expected: %d", len(res.Items), err, want)
			}
		}
		if _, err := receive(t, to, gaps, ref(0)); err != nil {
			t.Fatal(err)
		}
		finds(0)
		st.fails = failing
		_, err = receive(t, to, whole, ref(1))
		refs, listErr := to.Refs(t.Context())
		there := slices.ContainsFunc(refs, func(r repo.Ref) bool { return r.Name == ref(1).Ref })
		if there != (err == nil) || listErr != nil {
			t.Errorf("the operation was recorded: %t, told as %v; %v", there, err, listErr)
		}
		if (err != nil) != (failing == 1) {
			t.Errorf("the indexes are not dropped time %d: %v", failing, err)
		}
		st.fails = 0
		if _, err := receive(t, to, whole, ref(2)); err != nil {
			t.Fatal(err)
		}
		finds(1)
		checkClean(t, to)
		if err := to.Close(); err != nil {
			t.Error(err)
		}
	}
}

// unclearable is a store whose derived data cannot be cleared at the fails-th time from now.
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

// TestPackWork bounds what packing a small change of a large memory reads.
func TestPackWork(t *testing.T) {
	effort.Alone(t)
	from, to := openMem(t), openMem(t)
	var b strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&b, `{"node":{"key":"n%d","type":"T","summary":"node %d"}}`+"\n", i, i)
	}
	lines(t, from, b.String())
	first := mainRef(t, from)
	up := repo.RefUpdate{Ref: first.Name, To: first.Target}
	if _, err := receive(t, to, pack(t, from, repo.PackOptions{Refs: []repo.Ref{first}}), up); err != nil {
		t.Fatal(err)
	}
	b.Reset()
	for i := range 100 {
		fmt.Fprintf(&b, `{"node":{"key":"n%d","type":"T","summary":"changed %d"}}`+"\n", i*173, i)
	}
	lines(t, from, b.String())
	second := mainRef(t, from)
	var out bytes.Buffer
	packed, err := from.Pack(t.Context(), &out, repo.PackOptions{
		Refs: []repo.Ref{second}, Since: []ipld.CID{first.Target},
	})
	if err != nil {
		t.Fatal(err)
	}
	res, err := receive(t, to, out.Bytes(), repo.RefUpdate{Ref: second.Name, To: second.Target, Forward: true})
	if err != nil {
		t.Fatal(err)
	}
	if res.NewBlocks < packed.Blocks-2 {
		t.Errorf("%d of %d blocks were new: the pack holds what the receiver has", res.NewBlocks, packed.Blocks)
	}
}
