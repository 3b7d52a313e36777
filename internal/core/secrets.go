package core

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/prolly"
	"github.com/mnem-project/mnem/internal/guard"
	"github.com/mnem-project/mnem/internal/state"
)

// wrote takes what looks like credentials in a record that the operation writes, but for what is in the one that
// it goes on from, which old reads; nil for none. Warnings are not listed: verbs that list them look themselves.
func (t *Tx) wrote(block []byte, old func() ([]byte, error)) error {
	places := guard.Record(block)
	if len(places) > 0 && old != nil {
		before, err := old()
		if err != nil {
			return err
		}
		places = guard.Without(block, before)
	}
	t.Secrets.Note(nil, places)
	return nil
}

// unsaid returns an error if a record that the operation writes, or the name of a new ref, has a credential that
// must be refused.
func (t *Tx) unsaid(ctx context.Context) error {
	for _, name := range slices.Sorted(maps.Keys(t.Edits)) {
		if t.Edits[name] == nil || t.Restores {
			continue
		}
		if err := t.named(ctx, name); err != nil {
			return err
		}
		ref, err := decodeSide(name, t.Edits[name])
		if err == nil && ref.Symbolic != "" { // which need not be there
			err = t.named(ctx, ref.Symbolic)
		}
		if err != nil {
			return err
		}
	}
	return t.Secrets.Refusal()
}

// saysNone returns an error if the record of the operation itself has a credential that must be refused.
func (t *Tx) saysNone(op []byte) error {
	if err := t.wrote(op, nil); err != nil {
		return err
	}
	return t.Secrets.Refusal()
}

// named takes what looks like a credential in the name of a ref that was not there.
func (t *Tx) named(ctx context.Context, name graph.RefName) error {
	text := string(name)
	if t.Foreign { // what others named keeps its name: what is named here is where it came from
		text, _, _ = strings.Cut(strings.TrimPrefix(strings.TrimPrefix(text, graph.Imported), graph.Remotes), "/")
	}
	what, _ := name.Split()
	if what == graph.Conflicts { // it is made of the name of a branch
		return nil
	}
	places := guard.Text(state.RefWords[what], text)
	if len(places) == 0 {
		return nil
	}
	_, there, err := t.View.Stored(ctx, name)
	if err == nil && !there {
		t.Secrets.Note(nil, places)
	}
	return err
}

// CheckTexts returns what looks like credentials in what a write says of itself, and an error if that is refused.
func CheckTexts(by state.Stamp, message string) (state.SecretReport, error) {
	l := state.SecretLog{Opt: by.Secrets}
	l.Texts(by, message)
	return l.Report, l.Refusal()
}

// Incoming reports what looks like credentials in what a merge brings into a state. It refuses
// nothing: what is merged keeps its bytes.
func (t *Tx) Incoming(ctx context.Context, from, to *state.State, opt state.SecretOptions) (state.SecretReport, error) {
	in := state.IncomingLog{SecretLog: state.SecretLog{Opt: opt}, Get: t.Stage, Dense: make(map[string]bool)}
	for _, part := range []struct {
		kind     string
		from, to *prolly.Map
	}{
		{graph.KindNode, from.Nodes, to.Nodes}, {graph.KindEdge, from.Edges, to.Edges},
		{graph.KindMark, from.Marks, to.Marks}, {state.KindDigest, from.Digests, to.Digests},
		{graph.KindEmbedding, from.Vectors, to.Vectors},
	} {
		for d, err := range prolly.Diff(ctx, part.from, part.to) {
			if err != nil {
				return in.Report, fmt.Errorf("compare %ss: %w", part.kind, err)
			}
			if d.New == nil {
				continue
			}
			if err := in.Item(ctx, part.kind, d.Key, d.New); err != nil {
				return in.Report, fmt.Errorf("read %s: %w", part.kind, err)
			}
		}
	}
	return in.Report, nil
}
