package exchange_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/car"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/exchange"
	sessionpkg "github.com/mnem-project/mnem/internal/session"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

const harbour = `{"node":{"key":"alice","type":"Person","summary":"Alice leads the harbour"}}
{"node":{"key":"pier","type":"Place","summary":"The north pier","props":{"berths":4}}}
{"node":{"key":"log","type":"Note","summary":"Log of the harbour","content":"%s"}}
{"edge":{"type":"leads","src":"alice","dst":"pier","props":{"since":2019}}}
{"mark":{"node":"pier","state":"stale","reason":"rebuilt"}}
{"embedding":{"node":"alice","model":"m","vector":[0.5,-1]}}
`

// fill makes a repository with two commits, a session with three receipts, and its history.
func fill(t testing.TB, r *core.Repo) {
	t.Helper()
	repokit.Lines(t, r, fmt.Sprintf(harbour, repokit.LongText))
	opt := sessionpkg.SessionOptions{Stamp: repokit.By}
	must.OK(t, must.Err(sessionpkg.StartSession(t.Context(), r, "review", opt)))
	for _, q := range []string{"harbour", "who leads the pier?", "nothing of the kind"} {
		query(t, r, "review", q)
	}
	var more strings.Builder
	for i := range 100 {
		fmt.Fprintf(&more, `{"node":{"key":"boat-%d","type":"Boat","summary":"Boat %d"}}`+"\n", i, i)
		fmt.Fprintf(&more, `{"edge":{"type":"moors","src":"boat-%d","dst":"pier"}}`+"\n", i)
	}
	repokit.Lines(t, r, more.String()+`{"remove":{"mark":{"node":"pier"}}}`)
}

func query(t testing.TB, r *core.Repo, session, text string) (*retrieve.Answer, ipld.CID) {
	t.Helper()
	answer, c, err := sessionpkg.RetrieveIn(t.Context(), r, session, retrieve.Request{Text: text}, repokit.By)
	must.OK(t, err)
	return answer, c
}

// contents returns every block of a store, and its head.
func contents(t testing.TB, st store.Store) map[string]string {
	t.Helper()
	all := make(map[string]string)
	for name, blocks := range map[string]store.Blocks{"facts": st.Facts(), "derived": st.Derived()} {
		err := blocks.Iterate(t.Context(), ipld.CID{}, func(b store.Block) error {
			all[name+" "+b.CID.String()] = string(b.Data)
			return nil
		})
		must.OK(t, err)
	}
	head := must.Get(st.Head(t.Context()))(t)
	all["head"] = fmt.Sprint(head)
	return all
}

func refNames(t testing.TB, r *core.Repo) map[graph.RefName]string {
	t.Helper()
	refs := must.Get(r.Refs(t.Context()))(t)
	out := make(map[graph.RefName]string)
	for _, ref := range refs {
		out[ref.Name] = ref.Target.String() + string(ref.Symbolic)
	}
	return out
}

func TestExportAllRoundTrip(t *testing.T) {
	from, _ := repokit.OverMem(t)
	fill(t, from)
	file, sent := repokit.Export(t, from, exchange.ExportOptions{All: true})
	to, st := repokit.OverMem(t)
	got := repokit.ImportInto(t, to, file, exchange.ImportOptions{Fallback: "file"})
	must.True(t, got.Name == "" && got.Blocks == sent.Blocks && got.NewBlocks != 0,
		"imported %+v, exported %+v", got, sent)
	must.Same(t, refNames(t, to), refNames(t, from), "refs")
	if a, b := repokit.Head(t, from), repokit.Head(t, to); a.CID() != b.CID() || a.Graph() != b.Graph() {
		t.Errorf("commit %s, graph %s became %s, %s", a.CID(), a.Graph(), b.CID(), b.Graph())
	}
	for _, q := range []string{"harbour", "boat 7", "ferry at dawn"} {
		a, _ := query(t, from, "review", q)
		b, _ := query(t, to, "review", q)
		must.True(t, a.TokensUsed == b.TokensUsed && len(a.Items) == len(b.Items),
			"%q: %d items there, %d here", q, len(a.Items), len(b.Items))
		for i := range a.Items {
			must.Equal(t, a.Items[i].Rendered, b.Items[i].Rendered, q, ": item ", i, " differs")
		}
	}
	sameAgain(t, to, "review", 6)
	_ = st
}

// sameAgain replays a session and fails unless it has n receipts that replay identically.
func sameAgain(t testing.TB, r *core.Repo, session string, n int) {
	t.Helper()
	res := must.Get(sessionpkg.Replay(t.Context(), r, session))(t)
	must.True(t, res.Identical && res.Receipts == n, "replay of %s: %+v, want %d receipts", session, res, n)
}

// TestImportTwice imports files again, in every way: nothing changes.
func TestImportTwice(t *testing.T) {
	from, _ := repokit.OverMem(t)
	fill(t, from)
	_, receipt := query(t, from, "review", "again")
	cases := map[string]exchange.ExportOptions{
		"all": {All: true}, "branch": {Rev: "main"}, "commit": {Rev: "HEAD~1"},
		"session": {Session: "review"}, "receipt": {Receipt: receipt.String()},
	}
	for name, opt := range cases {
		file, _ := repokit.Export(t, from, opt)
		for _, as := range []string{"", "desk"} {
			to, st := repokit.OverMem(t)
			into := exchange.ImportOptions{Name: as, Fallback: "file"}
			first := repokit.ImportInto(t, to, file, into)
			must.True(t, len(first.Refs) != 0 && first.NewBlocks != 0, "%s: first import %+v", name, first)
			before := contents(t, st)
			again := repokit.ImportInto(t, to, file, into)
			must.True(t, len(again.Refs) == 0 && again.NewBlocks == 0 && again.Head == "",
				"%s as %q: second import %+v", name, as, again)
			must.Same(t, contents(t, st), before, name, " as ", as, ": second import changed")
		}
	}
}

func TestImportRange(t *testing.T) {
	from, _ := repokit.OverMem(t)
	fill(t, from)
	whole, all := repokit.Export(t, from, exchange.ExportOptions{Rev: "HEAD"})
	file, part := repokit.Export(t, from, exchange.ExportOptions{Rev: "HEAD~1..HEAD"})
	must.True(t, part.Blocks < all.Blocks && len(part.Since) == 1,
		"the range has %d blocks, the whole %d, since %v", part.Blocks, all.Blocks, part.Since)
	to, st := repokit.OverMem(t)
	before := contents(t, st)
	var missing *exchange.PrerequisiteError
	_, err := repokit.TryImport(to, file, exchange.ImportOptions{Name: "n"})
	must.True(t, errors.As(err, &missing) && missing.CID == part.Since[0], "without what it builds on: %v", err)
	must.Same(t, contents(t, st), before, "a refused file changed")
	base, _ := repokit.Export(t, from, exchange.ExportOptions{Rev: "HEAD~1"})
	repokit.ImportInto(t, to, base, exchange.ImportOptions{Name: "n", As: "main"})
	res := repokit.ImportInto(t, to, file, exchange.ImportOptions{Name: "n", As: "main"})
	must.True(t, len(res.Refs) == 2 && res.Refs[0].Ref == "refs/heads/main" && res.Refs[0].From.Defined(),
		"refs %+v", res.Refs)
	a, b := repokit.Head(t, from).CID(), repokit.Head(t, to).CID()
	must.True(t, a == b, "head is %s, want %s", b, a)
	// The whole again is nothing new but a name.
	res = repokit.ImportInto(t, to, whole, exchange.ImportOptions{Name: "m"})
	must.True(t, res.NewBlocks == 0, "%d new blocks", res.NewBlocks)
}

func TestImportAs(t *testing.T) {
	from, _ := repokit.OverMem(t)
	fill(t, from)
	file, _ := repokit.Export(t, from, exchange.ExportOptions{All: true})
	to, st := repokit.OverMem(t)
	repokit.Lines(t, to, `{"node":{"key":"own","type":"T"}}`)
	before := contents(t, st)
	var forward *exchange.ForwardError
	_, err := repokit.TryImport(to, file, exchange.ImportOptions{Name: "desk", As: "main"})
	must.True(t, errors.As(err, &forward) && errors.Is(err, state.ErrConflict), "an unrelated branch: %v", err)
	must.Same(t, contents(t, st), before, "a refused import changed")
	dry := repokit.ImportInto(t, to, file, exchange.ImportOptions{Name: "desk", As: "theirs", DryRun: true})
	must.Same(t, contents(t, st), before, "a dry run changed")
	res := repokit.ImportInto(t, to, file, exchange.ImportOptions{Name: "desk", As: "theirs"})
	d := cmp.Diff(dry, res, cmp.Comparer(func(a, b ipld.CID) bool { return a == b }))
	must.True(t, d == "", "the dry run said otherwise: %s", d)
	want := []graph.RefName{"refs/heads/theirs", "refs/imported/desk/heads/main",
		"refs/imported/desk/sessions/review"}
	for i, c := range res.Refs {
		must.True(t, i < len(want) && c.Ref == want[i], "ref %d is %s", i, c.Ref)
	}
	s, err := to.Snapshot(t.Context(), "refs/imported/desk/heads/main")
	must.True(t, err == nil && s.CID() == repokit.Head(t, from).CID(), "the imported branch: %v", err)
	sameAgain(t, to, "refs/imported/desk/sessions/review", 3)
}

func TestImportBadName(t *testing.T) {
	r, _ := repokit.OverMem(t)
	fill(t, r)
	file, _ := repokit.Export(t, r, exchange.ExportOptions{All: true})
	for _, opt := range []exchange.ImportOptions{
		{Name: "a/b"}, {Name: "-a"}, {Name: strings.Repeat("n", 101)}, {Fallback: "a b"},
		{Name: "n", As: "a..b"}, {Name: "n", As: "-x"},
	} {
		must.Fail(t, must.Err(repokit.TryImport(r, file, opt)), state.ErrInvalid, opt)
	}
	other, _ := repokit.OverMem(t)
	repokit.Lines(t, other, `{"node":{"key":"own","type":"T"}}`)
	_, err := repokit.TryImport(other, file, exchange.ImportOptions{})
	must.True(t, errors.Is(err, state.ErrInvalid) && !errors.Is(err, car.ErrFormat), "no name: %v", err)
}

func TestExportRefuses(t *testing.T) {
	empty, _ := repokit.OverMem(t)
	full, _ := repokit.OverMem(t)
	fill(t, full)
	cases := []struct {
		r    *core.Repo
		opt  exchange.ExportOptions
		want error
	}{
		{empty, exchange.ExportOptions{All: true}, state.ErrInvalid},
		{empty, exchange.ExportOptions{}, store.ErrNotFound},
		{full, exchange.ExportOptions{Rev: "nowhere"}, store.ErrNotFound},
		{full, exchange.ExportOptions{Rev: "HEAD..HEAD~1"}, state.ErrInvalid},
		{full, exchange.ExportOptions{Rev: "HEAD..HEAD"}, state.ErrInvalid},
		{full, exchange.ExportOptions{Rev: "..HEAD"}, state.ErrInvalid},
		{full, exchange.ExportOptions{Session: "nobody"}, store.ErrNotFound},
		{full, exchange.ExportOptions{Session: "a..b"}, state.ErrInvalid},
		{full, exchange.ExportOptions{Receipt: "x"}, state.ErrInvalid},
		{full, exchange.ExportOptions{Selector: "x"}, state.ErrInvalid},
		{full, exchange.ExportOptions{Selector: `{".":{}}`, Rev: "nowhere"}, store.ErrNotFound},
		{full, exchange.ExportOptions{Receipt: ipld.Sum(ipld.Raw, nil).String()}, store.ErrNotFound},
		{full, exchange.ExportOptions{Receipt: repokit.Head(t, full).CID().String()}, state.ErrInvalid},
	}
	for _, c := range cases {
		var b bytes.Buffer
		_, err := exchange.Export(t.Context(), c.r, &b, c.opt)
		must.True(t, errors.Is(err, c.want) && b.Len() <= 0, "%+v: %v, %d bytes", c.opt, err, b.Len())
	}
}
