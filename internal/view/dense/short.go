package dense

import (
	"bytes"
	"cmp"
	"context"
	"runtime"
	"slices"
	"sync"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/heap"
	"github.com/mnem-project/mnem/internal/base/parallel"
	"github.com/mnem-project/mnem/internal/view/segment"
)

const (
	// exactWork is the number of dimensions, of all vectors together, up to which all are compared: about the cost of a
	// shortlist. Clause 9.5.
	exactWork = 1 << 23
	// minSketched is the smallest number of dimensions whose signs say enough. Clause 9.5.
	minSketched = 64
	// deadRow is the distance of rows that do not live.
	deadRow = 1<<16 - 1
)

// exact reports whether all vectors are compared: clause 9.5.
func (x *Index) exact(rows, dims, shortlist int) bool {
	return shortlist <= 0 || dims < minSketched || rows*dims <= x.exactWork
}

type candidate struct {
	distance uint16
	seg, n   int
	row      []byte // in "vectors", once it was read
}

// shortlist compares the accepted vectors whose sketches are the nearest, ties by id.
func (x *Index) shortlist(ctx context.Context, g *group, s *search, q Query) error {
	n := min(q.Shortlist, g.rows)
	l := &lister{ctx: ctx, x: x, g: g, accept: s.Accept, size: n, near: q.Near, asked: -1}
	if err := l.measure(s.query); err != nil {
		return err
	}
	done, err := l.nearest(4 * n)
	if err == nil && !done {
		err = l.rest()
	}
	if err != nil {
		return err
	}
	slices.SortFunc(l.list, compare)
	l.narrow()
	l.list = slices.DeleteFunc(l.list, func(c candidate) bool { return int(c.distance) > l.bound })
	slices.SortFunc(l.list, place)
	if err := x.fetch(ctx, g, l.list); err != nil {
		return err
	}
	s.Accept = nil // the list has been accepted
	if s.rows != nil {
		s.keepRows()
	}
	for _, c := range l.list {
		if err := s.offer(c.row); err != nil {
			return err
		}
	}
	return nil
}

type lister struct {
	ctx       context.Context
	x         *Index
	g         *group
	accept    Accept
	size      int         // of the list at most
	near      int         // the rank that bounds the list, none below 1
	margin    int         // how much farther a row may be than the one at that rank
	bound     int         // the farthest that may be on it
	distances [][]uint16  // of each segment's rows
	allocate  []sync.Once // of distances, by the first part of a segment that could be read
	counts    []int       // of live rows at each distance
	list      []candidate
	asked     int    // the distance up to which accept was called for all rows, -1 for none
	after     []byte // the last id for which it was called at the next distance, nil for none
}

// measure finds the distances of all rows, the parts of sketches shared out to the processors.
func (l *lister) measure(vector []int8) error {
	query := newSketcher(len(vector)).query(vector)
	l.margin, l.bound = margin(query), 64*maxWeight*len(query)
	type job struct{ seg, part int }
	var jobs []job
	l.distances = make([][]uint16, len(l.g.segs))
	l.allocate = make([]sync.Once, len(l.g.segs))
	for i, s := range l.g.segs {
		for p := range s.parts() {
			jobs = append(jobs, job{i, p})
		}
	}
	l.counts = make([]int, l.bound+1)
	var mu sync.Mutex
	return parallel.Share(runtime.GOMAXPROCS(0), len(jobs), 1, func(next func() (from, to int)) error {
		counts := make([]int, len(l.counts))
		for i, end := next(); i < end; i, end = next() {
			if err := l.measurePart(query, jobs[i].seg, jobs[i].part, counts); err != nil {
				return err
			}
		}
		mu.Lock()
		defer mu.Unlock()
		for d, n := range counts {
			l.counts[d] += n
		}
		return nil
	})
}

func (l *lister) measurePart(query []word, seg, part int, counts []int) error {
	if err := l.ctx.Err(); err != nil {
		return err
	}
	t := l.g.segs[seg]
	rows, err := l.x.src.part(l.ctx, t, part)
	if err != nil {
		return err
	}
	l.allocate[seg].Do(func() { l.distances[seg] = make([]uint16, t.Docs) })
	from := part * t.per
	out := l.distances[seg][from : from+t.partRows(part)]
	distances(out, query, rows)
	for i, d := range out {
		if l.g.dead[seg].Has(uint32(from + i)) {
			out[i] = deadRow
		} else {
			counts[d]++
		}
	}
	return nil
}

// nearest calls accept for the nearest rows, about most of them, until the list is full, and reports whether it is or
// all rows were tried. It proceeds in ranges of whole distances, each in the order in which rows are stored, so that it
// reads each part once a range.
func (l *lister) nearest(most int) (bool, error) {
	for most > 0 {
		want := min(l.want(), most)
		to, n := l.asked, 0
		for to < l.bound && n < want {
			to++
			n += l.counts[to]
		}
		if n == 0 {
			return true, nil
		}
		whole := n <= 2*want
		if whole {
			want = n
		}
		run := l.within(l.asked, to, want)
		if err := l.x.fetch(l.ctx, l.g, run); err != nil {
			return false, err
		}
		if !whole { // many at one distance; the first count
			slices.SortFunc(run, compare)
			run = run[:want]
			l.after = run[want-1].row[:graph.IDLen]
			to--
		}
		l.asked = to
		if err := l.ask(run); err != nil || len(l.list) == l.size {
			return true, err
		}
		if !whole {
			return false, nil
		}
		most -= want
	}
	return false, nil
}

// want is how many rows to ask about next: enough to know the bound, then those that fill the list.
func (l *lister) want() int {
	if len(l.list) < l.near {
		return max(64, min(2*l.near, l.size)-len(l.list))
	}
	return max(64, l.size-len(l.list))
}

// ask adds the accepted rows of a run to the list; the run follows the list.
func (l *lister) ask(run []candidate) error {
	passed := run[:0]
	for _, c := range run {
		if l.accept != nil {
			ok, err := l.accept(graph.ID(c.row))
			if err != nil {
				return err
			}
			if !ok {
				continue
			}
		}
		passed = append(passed, c)
	}
	slices.SortFunc(passed, compare)
	l.list = append(l.list, passed[:min(len(passed), l.size-len(l.list))]...)
	l.narrow()
	return nil
}

// narrow bounds the list by the distance at the rank near, if it is known. The list is in order.
func (l *lister) narrow() {
	if l.near > 0 && l.near <= len(l.list) {
		l.bound = min(l.bound, int(l.list[l.near-1].distance)+l.margin)
	}
}

// compare orders candidates whose rows were read.
func compare(a, b candidate) int {
	return cmp.Or(cmp.Compare(a.distance, b.distance),
		graph.ID(a.row).Compare(graph.ID(b.row)))
}

func place(a, b candidate) int {
	return cmp.Or(cmp.Compare(a.seg, b.seg), cmp.Compare(a.n, b.n))
}

// within returns the rows farther than one distance and up to another one, in the order of place. At the latter
// distance it takes the first most of each segment: as rows ascend by id, these include the first most of all.
func (l *lister) within(beyond, to, most int) []candidate {
	near := make([]candidate, 0, most)
	for i, list := range l.distances {
		last := 0
		for n, d := range list {
			if int(d) > to || int(d) <= beyond || int(d) == to && last == most {
				continue
			}
			if int(d) == to {
				last++
			}
			near = append(near, candidate{distance: d, seg: i, n: n})
		}
	}
	return near
}

// rest goes through all rows that accept was not asked about yet, for where few are accepted: in
// the order of ids, and asks about those alone that would be on the list.
func (l *lister) rest() error {
	farther := func(a, b candidate) bool { return compare(a, b) > 0 }
	slices.SortFunc(l.list, func(a, b candidate) int { return compare(b, a) }) // a heap
	for seg, s := range l.g.segs {
		ids := l.x.src.IDCursor(s.Segment, segment.IDs)
		for n, d := range l.distances[seg] {
			ids.N = n
			if int(d) > l.bound || int(d) <= l.asked || len(l.list) == l.size && d > l.list[0].distance {
				continue
			}
			id, err := ids.Peek(l.ctx)
			if err != nil {
				return err
			}
			c := candidate{distance: d, seg: seg, n: n, row: id}
			if int(d) == l.asked+1 && bytes.Compare(id, l.after) <= 0 ||
				len(l.list) == l.size && farther(c, l.list[0]) {
				continue
			}
			if ok, err := l.accept(graph.ID(id)); err != nil || !ok {
				if err != nil {
					return err
				}
				continue
			}
			if len(l.list) == l.size {
				l.list[0] = c
				heap.Down(l.list, 0, farther)
			} else {
				l.list = append(l.list, c)
				heap.Up(l.list, farther)
			}
		}
		if err := l.ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}
