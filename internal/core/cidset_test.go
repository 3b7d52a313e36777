package core_test

import (
	"runtime"
	"testing"

	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
	"github.com/mnem-project/mnem/ipld"
)

// TestCIDSet compares a set with a map, of both codecs: the same bytes as a raw block and as a record
// are two members.
func TestCIDSet(t *testing.T) {
	const n = 20_000
	var s state.CidSet
	want := make(map[ipld.CID]bool)
	must.Check(t, !s.Has(repokit.Numbered(ipld.Raw, 0)) && s.Len() == 0, "an empty set has a member")
	for i := range 2 * n {
		c := repokit.Numbered(ipld.DagCBOR, i*i%n)
		if i%3 == 0 {
			c = repokit.Numbered(ipld.Raw, i*i%n)
		}
		got := s.Add(c)
		must.Require(t, got != want[c], "Add of %d: %v", i, got)
		want[c] = true
	}
	for i := range n {
		for _, codec := range []ipld.Codec{ipld.Raw, ipld.DagCBOR} {
			if c := repokit.Numbered(codec, i); s.Has(c) != want[c] {
				t.Fatalf("%d as %x: %v, want %v", i, codec, s.Has(c), want[c])
			}
		}
	}
	must.Equal(t, s.Len(), len(want), "members")
}

// TestCIDSetMemory bounds what a set takes for each CID.
func TestCIDSetMemory(t *testing.T) {
	const n = 300_000
	heap := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := heap()
	s := new(state.CidSet)
	for i := range n {
		s.Add(repokit.Numbered(ipld.DagCBOR, i))
	}
	each := (heap() - before) / n
	t.Logf("%d bytes for each of %d", each, n)
	must.Check(t, each <= 36, "%d bytes for each CID", each)
	runtime.KeepAlive(s)
}
