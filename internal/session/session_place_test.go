package session_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/exchange"
	"github.com/mnem-project/mnem/internal/session"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/cases"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// TestChainVectors stores chains of sessions next to each other as clause 13.5 says.
func TestChainVectors(t *testing.T) {
	for _, v := range cases.Read(t, "../../spec/vectors/chains.jsonl") {
		var in struct {
			Records []string
			Refs    map[graph.RefName]string
			Place   string
		}
		cases.Parse(t, v.Input, &in)
		blocks := mem.New().Facts()
		for _, text := range in.Records {
			must.OK(t, blocks.Put(t.Context(), store.NewBlock(ipld.DagCBOR, cases.Bytes(t, text))))
		}
		refs := make(map[graph.RefName]ipld.CID)
		for name, at := range in.Refs {
			refs[name] = cidOfText(t, at)
		}
		at := func(prefix string) (map[graph.RefName]ipld.CID, error) {
			out := maps.Clone(refs)
			maps.DeleteFunc(out, func(name graph.RefName, _ ipld.CID) bool { return !strings.HasPrefix(string(name), prefix) })
			return out, nil
		}
		change, moves, err := session.PlaceSession(t.Context(), blocks, cidOfText(t, in.Place), at)
		if v.Fails != "" {
			if !errors.Is(err, fs.ErrExist) {
				t.Errorf("%s: error %v, want %s", v.Path(), err, v.Fails)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", v.Path(), err)
			continue
		}
		if moves {
			must.Equal(t, change.From, refs[change.Ref], v.Path(), ": it was at")
			refs[change.Ref] = change.To
		}
		var want struct{ Refs map[graph.RefName]string }
		cases.Parse(t, v.Expect, &want)
		got := make(map[graph.RefName]string)
		for name, c := range refs {
			got[name] = c.String()
			must.OK(t, graph.ValidateRef(name), v.Path())
		}
		must.Same(t, got, want.Refs, v.Path())
	}
}

func cidOfText(t *testing.T, text string) ipld.CID {
	t.Helper()
	return must.Get(ipld.ParseCID(text))(t)
}

// TestDamagedSessionStopsNoPack imports a pack without sessions although a session record here cannot be read.
func TestDamagedSessionStopsNoPack(t *testing.T) {
	by := state.Stamp{Author: "erin", Time: 1_780_000_000_000_000, Command: []string{"test"}}
	var both [2]*core.Repo
	for i := range both {
		r := must.Get(care.New(t.Context(), mem.New(), by, core.Options{}))(t)
		defer func() { _ = r.Close() }()
		both[i] = r
	}
	from, to := both[0], both[1]
	pack := func(refs ...core.Ref) error {
		var b bytes.Buffer
		must.OK(t, exchange.Pack(t.Context(), from, &b, exchange.PackOptions{Refs: refs}))
		var updates []exchange.RefUpdate
		for _, ref := range refs {
			updates = append(updates, exchange.RefUpdate{Ref: ref.Name, To: ref.Target})
		}
		opt := exchange.ImportOptions{Stamp: by}
		_, err := exchange.Receive(t.Context(), to, bytes.NewReader(b.Bytes()), int64(b.Len()), updates, opt)
		return err
	}
	line := `{"node":{"key":"a","type":"Note","summary":"alpha"}}`
	res, err := from.Commit(t.Context(), state.ReadChanges(strings.NewReader(line), "x"), core.CommitOptions{Stamp: by})
	must.OK(t, err)
	must.Get(session.StartSession(t.Context(), from, "whole", session.SessionOptions{Stamp: by, Follow: true}))(t)
	tip := must.Get(session.Session(t.Context(), from, "whole"))(t)
	must.Get(to.TransactOnce(t.Context(), by, func(x *core.Tx) error {
		c, err := x.Put(t.Context(), []byte("\xa2av\x01dkindgsession"))
		x.SetRef("refs/sessions/newer", c)
		return err
	}))(t)
	must.OK(t, pack(core.Ref{Name: "refs/heads/main", Target: res.Commit}), "a pack without sessions")
	must.Fail(t, pack(core.Ref{Name: "refs/sessions/whole", Target: tip.CID}), store.ErrCorrupt)
}

// countedGets counts the reads of a store's blocks.
type countedGets struct {
	store.Store
	n int
}

func (c *countedGets) Facts() store.Blocks { return &countedBlocks{c.Store.Facts(), c} }

type countedBlocks struct {
	store.Blocks
	of *countedGets
}

func (b *countedBlocks) Get(ctx context.Context, c ipld.CID) ([]byte, error) {
	b.of.n++
	return b.Blocks.Get(ctx, c)
}

// TestPlacingReadsChainsOnce places each record of a long chain in one request, the newest first and many times.
func TestPlacingReadsChainsOnce(t *testing.T) {
	const records = 300
	blocks := &countedGets{Store: mem.New()}
	by := state.Stamp{Author: "erin", Time: 1_780_000_000_000_000, Command: []string{"test"}}
	r := must.Get(care.New(t.Context(), blocks, by, core.Options{}))(t)
	defer func() { _ = r.Close() }()
	var chain []ipld.CID
	rec := retrieve.Session{Name: "s", Actor: "erin", Follow: true, Time: by.Time}
	for range records {
		block := store.NewBlock(ipld.DagCBOR, rec.Encode())
		must.OK(t, blocks.Facts().Put(t.Context(), block))
		chain, rec.Prev, rec.Seq = append(chain, block.CID), block.CID, rec.Seq+1
	}
	v := must.Get(r.Current(t.Context()))(t)
	im := &exchange.Importer{Ctx: t.Context(), Repo: r, Over: r, Placed: make(map[string]*session.Placed)}
	var done []core.RefChange
	blocks.n = 0
	for range 2 {
		for _, c := range slices.Backward(chain) {
			done = must.Get(im.PlaceSession(v, c, done))(t)
		}
	}
	must.True(t, len(done) == 1 && done[0].Ref == "refs/sessions/s" && done[0].To == chain[records-1],
		"it changes %+v", done)
	must.True(t, blocks.n <= 4*records, "%d updates of %d records read %d blocks", 2*records, records, blocks.n)
}
