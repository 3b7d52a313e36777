package pebble

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/go-cmp/cmp"

	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/testkit"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
)

var compareCIDs = cmp.Comparer(func(a, b ipld.CID) bool { return a == b })

// headImage builds the slots of a head file: for each the number of an operation, 0 for empty, -1 for damaged.
func headImage(slots [2]int) Slots {
	out := Slots{Exists: true}
	for i, n := range slots {
		switch {
		case n > 0:
			out.Slot[i].Head = opHead(uint64(n))
		case n < 0:
			out.Slot[i].Damaged = true
		}
	}
	return out
}

func opRecord(seq uint64) record {
	if seq == 0 {
		return record{}
	}
	return record{Head: opHead(seq), previous: opHead(seq - 1).Operation, after: opHead(seq - 1)}
}

// overlapping is opRecord of an operation that was applied when the newest durable one was not its direct predecessor.
func overlapping(seq, after uint64) record {
	r := opRecord(seq)
	r.after = opHead(after)
	return r
}

func TestReconcile(t *testing.T) {
	first := func(seq uint64) record { return record{Head: opHead(seq)} }
	other := func(seq uint64) record {
		return record{Head: store.Head{Seq: seq, Operation: opHead(99).Operation},
			previous: opHead(98).Operation, after: store.Head{Seq: seq - 1, Operation: opHead(98).Operation}}
	}
	missing := Slots{}
	tests := []struct {
		name   string
		stored record
		slots  Slots
		behind bool
		bad    bool
	}{
		{"empty store", record{}, missing, false, false},
		{"nothing stored, empty file", record{}, headImage([2]int{0, 0}), false, true},
		{"nothing stored, head acknowledged", record{}, headImage([2]int{0, 1}), false, true},
		{"nothing stored, damaged file", record{}, headImage([2]int{0, -1}), false, true},
		{"normal, even", opRecord(4), headImage([2]int{4, 3}), false, false},
		{"normal, odd", opRecord(5), headImage([2]int{4, 5}), false, false},
		{"normal, first", opRecord(1), headImage([2]int{0, 1}), false, false},
		{"normal, rewritten", opRecord(5), headImage([2]int{0, 5}), false, false},
		{"one ahead, old slot whole", opRecord(6), headImage([2]int{4, 5}), true, false},
		{"one ahead, old slot torn", opRecord(6), headImage([2]int{-1, 5}), true, false},
		{"one ahead, old slot empty", opRecord(2), headImage([2]int{0, 1}), true, false},
		{"first, no file", opRecord(1), missing, true, false},
		{"first, file empty", opRecord(1), headImage([2]int{0, 0}), true, false},
		{"first, slot torn", opRecord(1), headImage([2]int{0, -1}), true, false},
		{"first of a copy, no file", first(7), missing, true, false},
		{"first, other slot damaged", opRecord(1), headImage([2]int{-1, 0}), false, true},
		{"first, both damaged", opRecord(1), headImage([2]int{-1, -1}), false, true},
		{"second, no file", opRecord(2), missing, false, true},
		{"second, both damaged", opRecord(2), headImage([2]int{-1, -1}), false, true},
		{"acknowledged one lost", opRecord(4), headImage([2]int{4, 5}), false, true},
		{"acknowledged many lost", opRecord(4), headImage([2]int{8, 9}), false, true},
		{"newest slot damaged and its operation lost", opRecord(4), headImage([2]int{4, -1}), false, true},
		{"other operation of the same number", other(5), headImage([2]int{4, 5}), false, true},
		{"one ahead of another operation", other(6), headImage([2]int{4, 5}), false, true},
		{"several ahead", overlapping(9, 5), headImage([2]int{4, 5}), true, false},
		{"several ahead, old slot torn", overlapping(9, 5), headImage([2]int{-1, 5}), true, false},
		{"several ahead, some acknowledged", overlapping(9, 5), headImage([2]int{8, 5}), true, false},
		{"several ahead, some torn", overlapping(9, 4), headImage([2]int{6, -1}), true, false},
		{"several ahead, too old", overlapping(9, 6), headImage([2]int{4, 5}), false, true},
		{"several ahead, none in the file", overlapping(9, 6), missing, false, true},
		{"several first, no file", overlapping(3, 0), missing, true, false},
		{"several first, file empty", overlapping(3, 0), headImage([2]int{0, 0}), true, false},
		{"several first, slot torn", overlapping(3, 0), headImage([2]int{0, -1}), true, false},
		{"several first, both damaged", overlapping(3, 0), headImage([2]int{-1, -1}), false, true},
		{"several ahead of another", overlapping(9, 99), headImage([2]int{4, 5}), false, true},
		{"file two behind", opRecord(7), headImage([2]int{4, 5}), false, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			behind, err := reconcile(tt.stored, tt.slots)
			must.Require(t, behind == tt.behind && (err != nil) == tt.bad,
				"behind %v, error %v; want %v, error: %v", behind, err, tt.behind, tt.bad)
			var head *HeadError
			if err == nil {
				return
			}
			must.Require(t, errors.As(err, &head) && errors.Is(err, store.ErrCorrupt),
				"error %v is no corrupt HeadError", err)
			must.Equal(t, head.Stored, tt.stored.Head, "error names")
			must.Equal(t, head.Acknowledged, tt.slots.Newest(), "error names")
		})
	}
}

// TestSlotBytes pins the bytes of the head file.
func TestSlotBytes(t *testing.T) {
	h := store.Head{Seq: 0x0102030405060708, Operation: ipld.Sum(ipld.DagCBOR, []byte{0xf6})}
	const want = "6d6e656d68656164" + "0102030405060708" + "01711220"
	got := encodeSlot(headMagic, h)
	digest := h.Operation.Digest()
	must.True(t, len(got) == 56 && hex.EncodeToString(got[:20]) == want && bytes.Equal(got[20:52], digest[:]),
		"slot is %x", got)
	slot := decodeSlot(headMagic, got, 0)
	must.True(t, slot.Head == h && !slot.Damaged, "slot decodes to %+v", slot)
	must.True(t, decodeSlot(headMagic, got, 1).Damaged, "a slot in the wrong place is accepted")
	for i := range got {
		for bit := range 8 {
			b := bytes.Clone(got)
			b[i] ^= 1 << bit
			slot := decodeSlot(headMagic, b, 0)
			must.True(t, slot.Damaged && slot.Head.Seq == 0, "bit %d of byte %d flipped: %+v", bit, i, slot)
		}
	}
	slot = decodeSlot(headMagic, make([]byte, slotLen), 0)
	must.True(t, !slot.Damaged && slot.Head.Seq == 0, "zeros decode to %+v", slot)
}

func TestHeadRecord(t *testing.T) {
	for _, r := range []record{opRecord(1), opRecord(2), opRecord(300)} {
		got := must.Get(decodeRecord(r.encode()))(t)
		must.Equal(t, cmp.Diff(r, got, cmp.AllowUnexported(record{}), compareCIDs), "", "record")
	}
	link := func(key string, c ipld.CID) []byte { return ipld.AppendLink(ipld.AppendString(nil, key), c) }
	whole := opRecord(2).encode()
	bad := map[string][]byte{
		"empty":        nil,
		"no record":    {0xa0},
		"trailing":     append(bytes.Clone(whole), 0),
		"short":        whole[:len(whole)-1],
		"no operation": append([]byte{0xa3, 0x61, 'v', 1, 0x63, 's', 'e', 'q', 1}, kindHead()...),
		"number 0": append(append([]byte{0xa4, 0x61, 'v', 1, 0x63, 's', 'e', 'q', 0}, kindHead()...),
			link("operation", opHead(1).Operation)...),
		"version 2": append(append([]byte{0xa4, 0x61, 'v', 2, 0x63, 's', 'e', 'q', 1}, kindHead()...),
			link("operation", opHead(1).Operation)...),
	}
	for name, b := range bad {
		must.Fail(t, must.Err(decodeRecord(b)), store.ErrCorrupt, name)
	}
}

func kindHead() []byte {
	return ipld.AppendString(ipld.AppendString(nil, "kind"), "head")
}

// TestAcceptHead damages a head file in each way that prevents opening, and repairs it.
func TestAcceptHead(t *testing.T) {
	ctx := context.Background()
	for name, damage := range map[string]func(t *testing.T, fs vfs.FS, b []byte){
		"old slot": func(t *testing.T, fs vfs.FS, b []byte) {
			b[slotStride+slotSeq] ^= 1
			writeFile(t, fs, repo+"/head", b)
		},
		"newer than stored": func(t *testing.T, fs vfs.FS, b []byte) {
			copy(b[slotStride:], encodeSlot(headMagic, opHead(5)))
			writeFile(t, fs, repo+"/head", b)
		},
		"missing": func(t *testing.T, fs vfs.FS, _ []byte) { must.OK(t, fs.Remove(repo+"/head")) },
	} {
		t.Run(name, func(t *testing.T) {
			fs := vfs.NewMem()
			s := openFS(t, fs, Options{Create: true})
			for seq := uint64(1); seq <= 4; seq++ {
				must.OK(t, commitOp(s, seq))
			}
			must.OK(t, s.Close())
			damage(t, fs, readFile(t, fs, repo+"/head"))
			for _, opts := range []Options{{FS: fs}, {FS: fs, ReadOnly: true}} {
				must.Fail(t, must.Err(Open(repo, opts)), store.ErrCorrupt, opts.ReadOnly)
			}
			s = openFS(t, fs, Options{ReadOnly: true, AcceptHead: true})
			must.Equal(t, must.Get(s.Head(ctx))(t), opHead(4), "accepted head")
			must.OK(t, s.Close())
			must.Fail(t, must.Err(Open(repo, Options{FS: fs})), store.ErrCorrupt)
			s = openFS(t, fs, Options{AcceptHead: true})
			must.OK(t, commitOp(s, 5))
			must.OK(t, s.Close())
			must.OK(t, checkRecovery(fs, 5))
		})
	}
}

// TestHeadWithoutDatabase finds an acknowledged head but a missing or empty database.
func TestHeadWithoutDatabase(t *testing.T) {
	fs := vfs.NewMem()
	s := openFS(t, fs, Options{Create: true})
	must.OK(t, errors.Join(commitOp(s, 1), s.Close()))
	must.OK(t, fs.RemoveAll(repo+"/db"))
	for _, opts := range []Options{{FS: fs}, {FS: fs, ReadOnly: true}, {FS: fs, Create: true}} {
		_, err := Open(repo, opts)
		var head *HeadError
		must.True(t, errors.As(err, &head) && head.Acknowledged == opHead(1),
			"%+v: error %v, want a HeadError", opts, err)
	}
}

// stored makes a store with the given number of operations. Without flush they are only in a log.
func stored(t *testing.T, last uint64, flush bool) *vfs.MemFS {
	t.Helper()
	mem := vfs.NewCrashableMem()
	s := openFS(t, mem, Options{Create: true})
	for seq := uint64(1); seq <= last; seq++ {
		must.OK(t, commitOp(s, seq))
	}
	if !flush {
		left := mem.CrashClone(vfs.CrashCloneCfg{})
		must.OK(t, s.Close())
		return left
	}
	must.OK(t, s.Close())
	return mem
}

// cutLogs truncates all logs to keep bytes.
func cutLogs(t *testing.T, fs vfs.FS, keep int) {
	t.Helper()
	names := must.Get(fs.List(repo + "/db"))(t)
	for _, name := range names {
		if strings.HasSuffix(name, ".log") {
			b := readFile(t, fs, repo+"/db/"+name)
			writeFile(t, fs, repo+"/db/"+name, b[:min(keep, len(b))])
		}
	}
}

// TestHeadFileAndLogLost loses the head file and an end of the log, of each length: no store that had operations
// opens as an empty one, or as one interrupted in its first commit.
func TestHeadFileAndLogLost(t *testing.T) {
	for _, last := range []uint64{1, 2, 5} {
		for _, keep := range []int{0, 11, 1000, 20_000, 40_000, 1 << 30} {
			fs := stored(t, last, false)
			must.OK(t, fs.Remove(repo+"/head"))
			cutLogs(t, fs, keep)
			for _, opts := range []Options{{FS: fs}, {FS: fs, ReadOnly: true}, {FS: fs, Create: true}} {
				s, err := Open(repo, opts)
				var lost *HeadError
				must.True(t, errors.As(err, &lost) && errors.Is(err, store.ErrCorrupt),
					"%d operations, %d bytes of log: %v, want a HeadError", last, keep, err)
				if err == nil {
					t.Log(s.Head(t.Context()))
					_ = s.Close()
				}
			}
		}
	}
}

// TestMarkerVouches closes a store, so that the marker names the last operation: an older head file and database
// are refused.
func TestMarkerVouches(t *testing.T) {
	fs := stored(t, 5, true)
	old := stored(t, 3, true)
	marker := readFile(t, fs, repo+"/marker")
	writeFile(t, old, repo+"/marker", marker)
	_, err := Open(repo, Options{FS: old})
	var lost *HeadError
	must.True(t, errors.As(err, &lost) && lost.Acknowledged == opHead(5) && lost.Stored == opHead(3), "%v", err)
	// With AcceptHead the store continues from there.
	s := openFS(t, old, Options{AcceptHead: true})
	must.OK(t, errors.Join(commitOp(s, 4), s.Close()))
	must.OK(t, checkRecovery(old, 4))
	// A marker of another store.
	b := slices.Clone(marker)
	copy(b[slotStride:], encodeSlot(markerMagic, store.Head{Seq: 5, Operation: opHead(9).Operation}))
	writeFile(t, fs, repo+"/marker", b)
	must.Fail(t, must.Err(Open(repo, Options{FS: fs})), store.ErrCorrupt)
}

// TestMarkerDamaged damages the marker: it still proves that there were operations, and is repaired if all else is
// intact.
func TestMarkerDamaged(t *testing.T) {
	for name, b := range map[string][]byte{
		"empty": nil, "short": []byte("mnemma"), "noise": []byte(strings.Repeat("x", slotStride+slotLen)),
	} {
		fs := stored(t, 3, true)
		writeFile(t, fs, repo+"/marker", b)
		must.OK(t, checkRecovery(fs, 3), name)
		s := openFS(t, fs, Options{})
		err := s.Check(t.Context(), nil, func(message string) error { return errors.New(message) })
		must.OK(t, errors.Join(err, s.Close()), name)
		must.OK(t, fs.Remove(repo+"/head"))
		writeFile(t, fs, repo+"/marker", b)
		must.Fail(t, must.Err(Open(repo, Options{FS: fs})), store.ErrCorrupt, name)
	}
}

// TestWithoutMarker opens a store without a marker, as earlier versions made them. Only the next commit makes one.
func TestWithoutMarker(t *testing.T) {
	fs := stored(t, 3, true)
	must.OK(t, fs.Remove(repo+"/marker"))
	must.OK(t, errors.Join(openFS(t, fs, Options{ReadOnly: true}).Close(), openFS(t, fs, Options{}).Close()))
	must.True(t, must.Err(fs.Stat(repo+"/marker")) != nil, "opening made a marker")
	s := openFS(t, fs, Options{})
	must.OK(t, errors.Join(commitOp(s, 4), s.Close()))
	must.Equal(t, must.Get(readSlots(fs, repo, markerSlots))(t).Newest(), opHead(4))
}

// TestMarkerCostsOneSync counts the marker's syncs: one for a store, however much is committed.
func TestMarkerCostsOneSync(t *testing.T) {
	var syncs, writes atomic.Int64
	fs := testkit.NewCrashFS(nil, func(op testkit.Op) error {
		if strings.HasSuffix(op.Path, "/"+markerName) {
			switch op.Kind {
			case "sync", "syncdata":
				syncs.Add(1)
			case "writeat":
				writes.Add(1)
			}
		}
		return nil
	})
	var acked atomic.Uint64
	must.OK(t, workload(fs, 40, &acked))
	// Once for each of the three times that the store is closed.
	must.Equal(t, syncs.Load(), 1, "syncs")
	must.Equal(t, writes.Load(), 4, "syncs")
}
