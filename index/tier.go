package index

import "math"

// class returns the size class of a segment: the power of fanout that its size reaches.
func class(size, fanout int) int {
	c := 0
	for ; size >= fanout; size /= fanout {
		c++
	}
	return c
}

// deadRoom is how many dead documents an index may keep whatever its size is.
const deadRoom = 4096

// mergeCount returns how many of the newest segments are to become one, 0 for none.
//
// The newest segment and those before it that are of no higher class are merged once they are
// fanout or more. A merge moves its documents up a class, unless kills among them make them fewer,
// so that each document is written about log(n) times to base fanout; and at most fanout - 1
// segments of each class remain. The largest segments are merged with the rest, whatever their
// class is, when more documents are dead than alive: each such merge is paid for by as many kills.
func mergeCount(segments []SegmentRef, fanout int) int {
	docs, live := 0, 0
	for _, s := range segments {
		docs += s.Docs
		live += s.Docs - s.Kills
	}
	if docs-live > max(live, deadRoom) && len(segments) > 1 {
		return len(segments)
	}
	// merged is the size of what the newest segments would become.
	merge, merged := 0, 0
	for merge < len(segments) {
		top := len(segments) - max(merge, 1)
		c := class(max(merged, segments[top].size()), fanout)
		run, size := max(merge, 1), max(merged, segments[top].size())
		// A run that is to be merged counts as the one segment it becomes.
		n := 1
		for run < len(segments) && class(segments[len(segments)-run-1].size(), fanout) <= c {
			size = min(size+segments[len(segments)-run-1].size(), math.MaxInt/2)
			run++
			n++
		}
		if n < fanout {
			break
		}
		merge, merged = run, size
	}
	return merge
}
