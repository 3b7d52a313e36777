package complete

import (
	"iter"
	"slices"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/retrieve"
)

// maxSeenRecords is the largest number of records of a session that are read to learn what it has
// shown.
const maxSeenRecords = 1000

// Shown is one record of a session and the nodes that its receipt shows, none without one.
type Shown struct {
	Seq int64
	IDs []graph.ID
}

// ExcludeSeen returns the request with Unseen resolved: it excludes what a session has shown, whose
// records come newest first, each preceding the next. As many of the newest records count as leave
// at most MaxExclude nodes excluded; if that is not all, UnseenFrom is the number of the oldest
// one that counts. A request without Unseen comes back as it is. Clause 13.4.
func ExcludeSeen(r retrieve.Request, records iter.Seq2[Shown, error]) (retrieve.Request, error) {
	if !r.Unseen {
		return r, nil
	}
	r.Unseen = false
	out := sortedSeen(r.Exclude)
	read := 0
	for rec, err := range records {
		if err != nil {
			return retrieve.Request{}, err
		}
		all := sortedSeen(slices.Concat(out, rec.IDs))
		if read == maxSeenRecords || len(all) > retrieve.MaxExclude {
			r.UnseenFrom = rec.Seq + 1
			break
		}
		out = all
		read++
	}
	r.Exclude = out
	return r, nil
}

// sortedSeen returns a sorted copy without duplicates, nil for none.
func sortedSeen(ids []graph.ID) []graph.ID {
	if len(ids) == 0 {
		return nil
	}
	return slices.Compact(slices.SortedFunc(slices.Values(ids), graph.ID.Compare))
}
