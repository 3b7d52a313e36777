package index

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

// MergeCount returns how many of the newest segments are to become one, 0 for none.
//
// The newest segment and those before it that are of no higher class are merged once they are
// fanout or more. A merge moves its documents up a class, unless kills among them make them fewer,
// so that each document is written about log(n) times to base fanout; and at most fanout - 1
// segments of each class remain. The largest segments are merged with the rest, whatever their
// class is, when more documents are dead than alive: each such merge is paid for by as many kills.
func MergeCount(segments []SegmentRef, fanout int) int {
	docs, dead := 0, 0
	for _, s := range segments {
		docs += s.Docs
		dead += s.Kills
	}
	if dead > max(docs-dead, deadRoom) && len(segments) > 1 && docs+dead <= maxDocs {
		return len(segments)
	}
	return tiers(segments, fanout)
}

// tiers is MergeCount without regard to the dead.
func tiers(segments []SegmentRef, fanout int) int {
	// size is the size of what the newest segments would become. Those that are to be merged
	// count as one segment among the ones before them.
	merge, size := 0, 0
	for merge < len(segments) {
		run := max(merge, 1)
		if merge == 0 {
			size = segments[len(segments)-1].size()
		}
		c, n := class(size, fanout), 1
		for ; run < len(segments); run++ {
			next := segments[len(segments)-run-1].size()
			if class(next, fanout) > c || size+next > maxDocs {
				break
			}
			size += next
			n++
		}
		if n < fanout {
			break
		}
		merge = run
	}
	return merge
}
