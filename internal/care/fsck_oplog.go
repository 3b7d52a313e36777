package care

import (
	"maps"
	"slices"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/ipld"
)

// reversals are the operations that newer ones say they took back, and who says so.
type reversals map[ipld.CID][]commit.OpEntry

// reversal checks an operation, met from the newest to the oldest, against what newer ones said of
// it, and notes what it says itself.
func (f *FsckRun) reversal(said reversals, e commit.OpEntry) {
	for _, by := range said[e.CID] {
		if by.Operation.Redoes.Defined() != e.Operation.Undoes.Defined() {
			f.add(by.CID, FsckOperation, "operation %d takes back operation %d as what it is not",
				by.Operation.Seq, e.Operation.Seq)
		}
	}
	delete(said, e.CID)
	if back := core.Reversed(e.Operation); back.Defined() {
		said[back] = append(said[back], e)
	}
}

// unmet notes what was said to be taken back and is no operation of the log. Where the log has a
// horizon it may lie behind that.
func (f *FsckRun) unmet(said reversals, horizon uint64) {
	if horizon > 1 {
		return
	}
	for _, c := range slices.SortedFunc(maps.Keys(said), ipld.CID.Compare) {
		by := said[c][0]
		f.add(by.CID, FsckOperation, "operation %d takes back %s, which is no older operation",
			by.Operation.Seq, c)
	}
}
