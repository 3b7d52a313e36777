package commit

import (
	"encoding/hex"
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/ipld"
)

func goldenRedaction() *Redaction {
	return &Redaction{
		What: ErasedNode, Node: graph.NodeID("alice"), Actor: "Alice",
		Time: 1_790_000_000_000_000, Reason: "asked to be forgotten",
	}
}

func genRedaction(t *rapid.T) *Redaction {
	r := &Redaction{
		What:   rapid.SampledFrom(erased).Draw(t, "what"),
		Actor:  rapid.StringMatching(`[a-z é]{1,20}`).Draw(t, "actor"),
		Time:   graph.Time(rapid.Int64Range(int64(graph.MinTime), int64(graph.MaxTime)).Draw(t, "time")),
		Reason: rapid.StringN(0, 40, -1).Draw(t, "reason"),
	}
	r.Left = leftOf(r.What)
	if rapid.Bool().Draw(t, "node") {
		r.Node = graph.NodeID(rapid.StringMatching(`[a-z]{1,5}`).Draw(t, "key"))
	}
	return r
}

// leftOf returns the possible remainder of an edge or mark, nil for others.
func leftOf(what Erased) []byte {
	id := graph.NodeID("alice")
	switch what {
	case ErasedEdge:
		e := graph.Edge{ID: id, Type: "knows", Src: id, Dst: id, Weight: 1}
		return e.Encode()
	case ErasedMark:
		m := graph.Mark{On: graph.OnNode, ID: id, State: graph.Stale, Actor: "Alice"}
		return m.Encode()
	}
	return nil
}

func TestRedactionGolden(t *testing.T) {
	const want = "a7617601646b696e6469726564616374696f6e646e6f646550b4a9765ef642c681561bde25662639d2" +
		"6474696d651b00065bfeda25e0006477686174646e6f6465656163746f7265416c69636566726561736f6e" +
		"7561736b656420746f20626520666f72676f7474656e"
	if got := hex.EncodeToString(goldenRedaction().Encode()); got != want {
		t.Errorf("encoded as %s", got)
	}
	if got, want := goldenRedaction().String(),
		"redacted: asked to be forgotten, 2026-09-21T14:13:20.000000Z, Alice"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	bare := goldenRedaction()
	bare.Reason = ""
	if got, want := bare.String(), "redacted: 2026-09-21T14:13:20.000000Z, Alice"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestRedactionLeft refuses remainders that say more than allowed, and remainders of other kinds.
func TestRedactionLeft(t *testing.T) {
	id := graph.NodeID("alice")
	told := graph.Mark{On: graph.OnNode, ID: id, State: graph.Stale, Actor: "Alice", Reason: "words"}
	keyed := graph.Edge{Type: "knows", Src: id, Dst: id, Weight: 1, Key: "words"}
	keyed.ID = graph.EdgeID(id, "knows", id, "words")
	for _, c := range []struct {
		what Erased
		left []byte
	}{
		{ErasedMark, told.Encode()}, {ErasedMark, leftOf(ErasedEdge)}, {ErasedMark, nil},
		{ErasedEdge, keyed.Encode()}, {ErasedEdge, leftOf(ErasedMark)},
		{ErasedNode, leftOf(ErasedEdge)}, {ErasedMessage, leftOf(ErasedMark)},
	} {
		r := goldenRedaction()
		r.What, r.Left = c.what, c.left
		var field *graph.FieldError
		if err := r.Validate(); !errors.As(err, &field) || field.Field != "left" {
			t.Errorf("%s with %x: %v", c.what, c.left, err)
		}
		if c.left == nil {
			continue
		}
		if _, err := DecodeRedaction(r.Encode()); !errors.Is(err, ipld.ErrInvalid) {
			t.Errorf("%s with %x is read: %v", c.what, c.left, err)
		}
	}
}

func TestRedactionValidate(t *testing.T) {
	for field, break_ := range map[string]func(*Redaction){
		"what":   func(r *Redaction) { r.What = "all" },
		"left":   func(r *Redaction) { r.What = ErasedEdge },
		"actor":  func(r *Redaction) { r.Actor = "" },
		"time":   func(r *Redaction) { r.Time = graph.MaxTime + 1 },
		"reason": func(r *Redaction) { r.Reason = string(make([]byte, MaxReason+1)) },
		"node":   func(r *Redaction) { r.Extra = []ipld.Entry{{Key: "node"}} },
	} {
		r := goldenRedaction()
		break_(r)
		expectField(t, field, r.Validate())
	}
}

func TestKept(t *testing.T) {
	for horizon, want := range map[uint64][]uint64{
		0: nil, 1: nil, 2: nil, 3: {2}, 7: {6, 4}, 8: nil, 11: {10, 8}, 44: {40, 32},
	} {
		if got := Kept(horizon); !slices.Equal(got, want) {
			t.Errorf("Kept(%d) = %v, want %v", horizon, got, want)
		}
	}
}

// TestHorizon drops old operations repeatedly, and looks up all that are left, on a growing log.
func TestHorizon(t *testing.T) {
	const n, window = 700, 50
	ctx := t.Context()
	b := &blocks{}
	cids := oplog(t, b, 1)
	horizon := uint64(0)
	for seq := uint64(2); seq <= n; seq++ {
		o, err := NextOperation(ctx, b, store.Head{Seq: seq - 1, Operation: cids[seq-1]})
		if err != nil {
			t.Fatal(err)
		}
		if o.Horizon != horizon {
			t.Fatalf("operation %d: horizon %d, want %d", seq, o.Horizon, horizon)
		}
		o.View, o.Actor, o.Command = link("v"), "a", []string{"test"}
		if seq%37 == 0 && seq > window {
			horizon = seq - window
			o.Horizon = horizon
		}
		cids = append(cids, b.put(t, o))
		if o.Horizon == 0 || seq%37 != 0 {
			continue
		}
		for old := uint64(1); old < horizon; old++ {
			if !slices.Contains(Kept(horizon), old) {
				delete(b.data, cids[old])
			}
		}
		count := uint64(0)
		for e, err := range Operations(ctx, b, cids[seq]) {
			if err != nil || e.CID != cids[seq-count] {
				t.Fatalf("operation %d before %d: %v", count, seq, err)
			}
			count++
		}
		if count != window+1 {
			t.Errorf("%d operations after number %d, want %d", count, seq, window+1)
		}
		for at := uint64(1); at <= seq; at++ {
			e, err := OperationAt(ctx, b, cids[seq], at)
			if at < horizon && !errors.Is(err, store.ErrNotFound) {
				t.Errorf("operation %d behind the horizon: %v", at, err)
			}
			if at >= horizon && (err != nil || e.CID != cids[at]) {
				t.Errorf("operation %d of %d, horizon %d: %v", at, seq, horizon, err)
			}
		}
	}
	if horizon == 0 {
		t.Fatal("nothing was let go of")
	}
}
