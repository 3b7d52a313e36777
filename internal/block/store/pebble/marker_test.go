package pebble

import (
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/testkit"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

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
				must.Check(t, errors.As(err, &lost) && errors.Is(err, store.ErrCorrupt),
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
	must.Check(t, errors.As(err, &lost) && lost.Acknowledged == opHead(5) && lost.Stored == opHead(3),
		"%v", err)
	// With AcceptHead the store continues from there.
	s := openFS(t, old, Options{AcceptHead: true})
	must.OK(t, errors.Join(commitOp(s, 4), s.Close()))
	must.OK(t, checkRecovery(old, 4))
	// A marker of another store.
	b := slices.Clone(marker)
	copy(b[slotStride:], encodeSlot(markerMagic, store.Head{Seq: 5, Operation: opHead(9).Operation}))
	writeFile(t, fs, repo+"/marker", b)
	_, err = Open(repo, Options{FS: fs})
	must.Fail(t, err, store.ErrCorrupt)
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
		_, err = Open(repo, Options{FS: fs})
		must.Fail(t, err, store.ErrCorrupt, name)
	}
}

// TestWithoutMarker opens a store without a marker, as earlier versions made them. Only the next commit makes one.
func TestWithoutMarker(t *testing.T) {
	fs := stored(t, 3, true)
	must.OK(t, fs.Remove(repo+"/marker"))
	must.OK(t, errors.Join(openFS(t, fs, Options{ReadOnly: true}).Close(),
		openFS(t, fs, Options{}).Close()))
	must.Check(t, must.Err(fs.Stat(repo+"/marker")) != nil, "opening made a marker")
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
