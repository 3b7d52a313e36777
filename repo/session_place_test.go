package repo

import (
	"bytes"
	"errors"
	"io/fs"
	"maps"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/cases"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/store"
	"github.com/mnem-project/mnem/store/mem"
)

// TestChainVectors keeps chains of sessions beside each other as clause 13.5 says.
func TestChainVectors(t *testing.T) {
	for _, v := range cases.Read(t, "../spec/vectors/chains.jsonl") {
		var in struct {
			Records []string
			Refs    map[graph.RefName]string
			Place   string
		}
		cases.Parse(t, v.Input, &in)
		blocks := mem.New().Facts()
		for _, text := range in.Records {
			if err := blocks.Put(t.Context(), store.NewBlock(ipld.DagCBOR, cases.Bytes(t, text))); err != nil {
				t.Fatal(err)
			}
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
		change, moves, err := placeSession(t.Context(), blocks, cidOfText(t, in.Place), at)
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
			if change.From != refs[change.Ref] {
				t.Errorf("%s: it was at %s, not at %s", v.Path(), refs[change.Ref], change.From)
			}
			refs[change.Ref] = change.To
		}
		var want struct{ Refs map[graph.RefName]string }
		cases.Parse(t, v.Expect, &want)
		got := make(map[graph.RefName]string)
		for name, c := range refs {
			got[name] = c.String()
			if err := graph.ValidateRef(name); err != nil {
				t.Errorf("%s: %v", v.Path(), err)
			}
		}
		if !maps.Equal(got, want.Refs) {
			t.Errorf("%s: %v, want %v", v.Path(), got, want.Refs)
		}
	}
}

func cidOfText(t *testing.T, text string) ipld.CID {
	t.Helper()
	c, err := ipld.ParseCID(text)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestDamagedSessionStopsNoPack takes in a pack without sessions where a record of a session here cannot be read.
func TestDamagedSessionStopsNoPack(t *testing.T) {
	by := Stamp{Author: "erin", Time: 1_780_000_000_000_000, Command: []string{"test"}}
	var both [2]*Repo
	for i := range both {
		r, err := New(t.Context(), mem.New(), by, Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = r.Close() }()
		both[i] = r
	}
	from, to := both[0], both[1]
	pack := func(refs ...Ref) error {
		var b bytes.Buffer
		if _, err := from.Pack(t.Context(), &b, PackOptions{Refs: refs}); err != nil {
			t.Fatal(err)
		}
		opt := ReceiveOptions{Stamp: by}
		for _, ref := range refs {
			opt.Updates = append(opt.Updates, RefUpdate{Ref: ref.Name, To: ref.Target})
		}
		_, err := to.Receive(t.Context(), bytes.NewReader(b.Bytes()), int64(b.Len()), opt)
		return err
	}
	line := `{"node":{"key":"a","type":"Note","summary":"alpha"}}`
	res, err := from.Commit(t.Context(), ReadChanges(strings.NewReader(line), "x"), CommitOptions{Stamp: by})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := from.StartSession(t.Context(), "whole", SessionOptions{Stamp: by, Follow: true}); err != nil {
		t.Fatal(err)
	}
	tip, err := from.Session(t.Context(), "whole")
	if err != nil {
		t.Fatal(err)
	}
	_, err = to.transactOnce(t.Context(), by, func(x *tx) error {
		c, err := x.put(t.Context(), []byte("\xa2av\x01dkindgsession"))
		x.setRef("refs/sessions/newer", c)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := pack(Ref{Name: "refs/heads/main", Target: res.Commit}); err != nil {
		t.Errorf("a pack without sessions: %v", err)
	}
	if err := pack(Ref{Name: "refs/sessions/whole", Target: tip.CID}); !errors.Is(err, store.ErrCorrupt) {
		t.Errorf("a pack with a session: %v", err)
	}
}
