package segment

import (
	"context"

	"github.com/mnem-project/mnem/ipld"
)

// A merge that would delay an update is deferred to Later: the update records the run of segments in its List, a
// background task merges them, and the first update that finds the result replaces the run. Until then later
// segments are merged among themselves.

// MaxDocs is the largest number of documents and kills that a merge combines.
const MaxDocs = 1 << 24

// Ref names a segment in a List.
type Ref struct {
	CID   ipld.CID
	Docs  int // its documents, dead ones included
	Kills int // documents of older segments that it removes
}

// Size is the cost of merging the segment: documents and kills.
func (r Ref) Size() int { return r.Docs + r.Kills }

// Run is a range of Count segments of a list; the zero value is none.
type Run struct{ From, Count int }

// End returns the index after the run.
func (r Run) End() int { return r.From + r.Count }

// List is the segments of an index, oldest first.
type List struct {
	Segments []Ref
	Run      Run // those to be merged in the background
}

// Waiting returns the segments of the run.
func (l *List) Waiting() []Ref { return l.Segments[l.Run.From:l.Run.End()] }

// Replace replaces a run by one segment, or by none if that is empty.
func (l *List) Replace(run Run, by Ref) {
	list := append([]Ref{}, l.Segments[:run.From]...)
	if by.Size() > 0 {
		list = append(list, by)
	}
	l.Segments = append(list, l.Segments[run.End():]...)
	if run == l.Run {
		l.Run = Run{}
	}
}

// Key identifies the result of merging the run in an index of a kind: it depends on the segments, and on whether an
// older one exists, which decides whether kills are kept.
func (l *List) Key(kind string) ipld.CID {
	key := append([]byte("mnem:merge:"), kind...)
	if l.Run.From == 0 {
		key = append(key, ":0"...)
	}
	key = append(key, ':')
	for _, s := range l.Waiting() {
		key = s.CID.Append(key)
	}
	return ipld.Sum(ipld.Raw, key)
}

// Later knows the merges made in the background.
type Later interface {
	// Merged returns the segment merged for a key, undefined if there is none yet.
	Merged(ctx context.Context, key ipld.CID) (ipld.CID, error)
}

// Made returns the merged segment for the run, undefined if there is no run, no background merging, or no result yet.
func (l *List) Made(ctx context.Context, later Later, kind string) (ipld.CID, error) {
	if l.Run.Count == 0 || later == nil {
		return ipld.CID{}, nil
	}
	return later.Merged(ctx, l.Key(kind))
}

const (
	// mergeNow is how many documents and kills an update may always merge itself, and mergeShare how many more for
	// each of its changes.
	mergeNow   = 256
	mergeShare = 8
)

// Due returns the run of segments that an update with the given number of changes must merge now; fewer than two means
// none. If it defers a merge it records the run in the list, and returns true in noted. fanout, at least 2, is how many
// segments of about one size become one; with more than maxWaiting segments nothing is deferred.
func (l *List) Due(fanout, maxWaiting, changes int) (now Run, noted bool) {
	all := l.Segments
	if len(all) > maxWaiting {
		l.Run = Run{}
		n := Count(all, fanout)
		return Run{len(all) - n, n}, false
	}
	most := max(mergeNow, mergeShare*changes)
	if l.Run.Count > 0 {
		n := alive(all[l.Run.End():], fanout, most)
		return Run{len(all) - n, n}, false
	}
	n := Count(all, fanout)
	if n < 2 && len(all) > crowded {
		n = growing(all)
	}
	run, size := Run{len(all) - n, n}, 0
	for _, s := range all[run.From:] {
		size += s.Size()
	}
	if n > 1 && size > most {
		l.Run = run
		return Run{}, true
	}
	return run, false
}

// A list of more than crowded segments is merged until each segment has more than apart times as many documents and kills
// as all newer ones together. A search looks into every segment, so it takes half the time of one by classes alone,
// which leave three segments of each class; each document is written about twice as often.
const crowded, apart = 6, 4

// growing returns how many of the newest segments to merge so that the one before them is more than apart times as
// large.
func growing(segments []Ref) int {
	n, size := 0, 0
	for n < len(segments) {
		next := segments[len(segments)-n-1].Size()
		if n > 0 && next > apart*size || size+next > MaxDocs {
			break
		}
		size += next
		n++
	}
	return n
}

// class returns the size class of a segment: the power of fanout that its size reaches.
func class(size, fanout int) int {
	c := 0
	for ; size >= fanout; size /= fanout {
		c++
	}
	return c
}

// deadRoom is how many dead documents an index of any size may have.
const deadRoom = 4096

// Count returns how many of the newest segments to merge, 0 for none.
//
// The newest segment and those before it that have no higher class are merged once there are fanout or more. A
// merge moves its documents up a class, unless kills reduce them, so that each document is written about log(n)
// times to base fanout, and at most fanout - 1 segments of each class remain. The largest segments are merged with
// the rest, regardless of class, when more documents are dead than alive: as many kills pay for each such merge.
func Count(segments []Ref, fanout int) int {
	docs, dead := 0, 0
	for _, s := range segments {
		docs += s.Docs
		dead += s.Kills
	}
	if dead > max(docs-dead, deadRoom) && len(segments) > 1 && docs+dead <= MaxDocs {
		return len(segments)
	}
	return alive(segments, fanout, MaxDocs)
}

// alive is Count without regard to dead documents, for a result of at most most documents and kills.
func alive(segments []Ref, fanout, most int) int {
	// size is the size of the merged newest segments. Segments to merge count as one among those before them.
	merge, size := 0, 0
	for merge < len(segments) {
		run := max(merge, 1)
		if merge == 0 {
			size = segments[len(segments)-1].Size()
		}
		c, n := class(size, fanout), 1
		for ; run < len(segments); run++ {
			next := segments[len(segments)-run-1].Size()
			if class(next, fanout) > c || size+next > most {
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
