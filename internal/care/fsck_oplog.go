package care

import (
	"maps"
	"slices"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/ipld"
)

// reversals maps the operations that newer ones claim to reverse to those.
type reversals map[ipld.CID][]commit.OpEntry

// reversal checks an operation, visited newest first, against the claims of newer ones, and records its own.
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

// unmet reports operations that were claimed to be reversed but are not in the log. With a horizon they may lie
// behind it.
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
