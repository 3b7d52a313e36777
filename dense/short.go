package dense

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/mnem-project/mnem/graph"
)

const (
	// exactWork is up to how many dimensions of all vectors together they are all compared: about
	// what a shortlist costs. Clause 9.5.
	exactWork = 1 << 23
	// minSketched is the smallest number of dimensions whose signs say enough. Clause 9.5.
	minSketched = 64
	// deadRow is the distance of rows that do not live.
	deadRow = 1<<16 - 1
)

// exact reports whether all vectors are compared: clause 9.5.
func (x *Index) exact(rows, dims, shortlist int) bool {
	return shortlist <= 0 || dims < minSketched || rows <= shortlist || rows*dims <= x.exactWork
}

// candidate is a row that may be on the shortlist.
type candidate struct {
	distance uint16
	seg, n   int
	row      []byte // of "vectors", where it was read
}

// shortlist compares the n accepted vectors whose sketches are the nearest, ties by id.
func (x *Index) shortlist(ctx context.Context, g *group, s *search, n int) error {
	l := &lister{ctx: ctx, x: x, g: g, accept: s.accept, size: n}
	if err := l.measure(s.query); err != nil {
		return err
	}
	done, err := l.nearest(4 * n)
	if err == nil && !done {
		err = l.rest()
	}
	if err == nil {
		err = x.fetch(ctx, g, l.list)
	}
	if err != nil {
		return err
	}
	s.accept = nil // the list has been accepted
	for _, c := range l.list {
		if err := s.offer(c.row); err != nil {
			return err
		}
	}
	return nil
}

// lister makes one shortlist.
type lister struct {
	ctx       context.Context
	x         *Index
	g         *group
	accept    Accept
	size      int
	distances [][]uint16  // of each segment's rows
	allocate  []sync.Once // of distances, by the first part of a segment that could be read
	counts    []int       // of live rows at each distance
	list      []candidate
	asked     *candidate // the last that accept was asked about in the order of the list
}

// measure finds the distances of all rows, the parts of sketches shared out to the processors.
func (l *lister) measure(query []int8) error {
	words := newSketcher(len(query)).words(query)
	type job struct{ seg, part int }
	var jobs []job
	l.distances = make([][]uint16, len(l.g.segs))
	l.allocate = make([]sync.Once, len(l.g.segs))
	for i, s := range l.g.segs {
		for p := range s.cols[colSketch].parts() {
			jobs = append(jobs, job{i, p})
		}
	}
	var next atomic.Int64
	workers := min(runtime.GOMAXPROCS(0), len(jobs))
	counts, errs := make([][]int, workers), make([]error, workers)
	var wait sync.WaitGroup
	for w := range workers {
		counts[w] = make([]int, 64*len(words)+1)
		wait.Go(func() {
			for errs[w] == nil {
				i := int(next.Add(1)) - 1
				if i >= len(jobs) {
					return
				}
				errs[w] = l.measurePart(words, jobs[i].seg, jobs[i].part, counts[w])
			}
		})
	}
	wait.Wait()
	l.counts = make([]int, 64*len(words)+1)
	for w := range workers {
		if errs[w] != nil {
			return errs[w]
		}
		for d, n := range counts[w] {
			l.counts[d] += n
		}
	}
	return nil
}

func (l *lister) measurePart(words []uint64, seg, part int, counts []int) error {
	if err := l.ctx.Err(); err != nil {
		return err
	}
	c := &l.g.segs[seg].cols[colSketch]
	rows, err := l.x.src.part(l.ctx, c, part)
	if err != nil {
		return err
	}
	l.allocate[seg].Do(func() { l.distances[seg] = make([]uint16, c.rows) })
	from := part * c.per
	out := l.distances[seg][from : from+c.partRows(part)]
	distances(out, words, rows)
	for i, d := range out {
		if l.g.dead[seg].has(from + i) {
			out[i] = deadRow
		} else {
			counts[d]++
		}
	}
	return nil
}

// nearest asks accept about the nearest most rows, in order, until the list is full, and reports
// whether it is or all rows were asked about.
func (l *lister) nearest(most int) (bool, error) {
	bound, n := 0, 0
	for ; bound < len(l.counts); bound++ {
		if n += l.counts[bound]; n >= most {
			break
		}
	}
	near := l.within(uint16(min(bound, len(l.counts)-1)), most)
	for from := 0; from < len(near); {
		// Whole runs of one distance, since among them the order is by id.
		to := min(from+max(64, l.size-len(l.list)), len(near))
		for to < len(near) && near[to].distance == near[to-1].distance {
			to++
		}
		run := near[from:to]
		if err := l.x.fetch(l.ctx, l.g, run); err != nil {
			return false, err
		}
		slices.SortFunc(run, compare)
		for i := range run[:min(len(run), most-from)] {
			if err := l.ask(&run[i]); err != nil || len(l.list) == l.size {
				return true, err
			}
		}
		from = to
	}
	return n <= most && bound == len(l.counts), nil
}

func (l *lister) ask(c *candidate) error {
	l.asked = c
	if l.accept != nil {
		if ok, err := l.accept(graph.ID(c.row)); !ok || err != nil {
			return err
		}
	}
	l.list = append(l.list, *c)
	return nil
}

// compare orders candidates whose rows were read.
func compare(a, b candidate) int {
	return cmp.Or(cmp.Compare(a.distance, b.distance),
		graph.ID(a.row).Compare(graph.ID(b.row)))
}

// within returns the rows up to a distance, ascending by it. Of those at the distance itself it
// takes the first most of each segment: as rows ascend by id, these are enough for the first most
// of all.
func (l *lister) within(bound uint16, most int) []candidate {
	var near []candidate
	for i, list := range l.distances {
		last := 0
		for n, d := range list {
			if d > bound || d == bound && last == most {
				continue
			}
			if d == bound {
				last++
			}
			near = append(near, candidate{distance: d, seg: i, n: n})
		}
	}
	slices.SortStableFunc(near, func(a, b candidate) int { return cmp.Compare(a.distance, b.distance) })
	return near
}

// rest goes through all rows that accept was not asked about yet, for where few are accepted: in
// the order of ids, and asks about those alone that would be on the list.
func (l *lister) rest() error {
	var after []byte
	beyond := uint16(0)
	if l.asked != nil {
		beyond, after = l.asked.distance, l.asked.row[:graph.IDLen]
	}
	farther := func(a, b candidate) bool { return compare(a, b) > 0 }
	slices.SortFunc(l.list, func(a, b candidate) int { return compare(b, a) }) // a heap
	for seg, s := range l.g.segs {
		ids := cursor{r: &l.x.src, c: &s.cols[colIDs]}
		for n, d := range l.distances[seg] {
			ids.n = n
			if d == deadRow || d < beyond || len(l.list) == l.size && d > l.list[0].distance {
				continue
			}
			id, err := ids.peek(l.ctx)
			if err != nil {
				return err
			}
			c := candidate{distance: d, seg: seg, n: n, row: id}
			if d == beyond && slices.Compare(id, after) <= 0 && after != nil ||
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
				heapDown(l.list, farther)
			} else {
				l.list = append(l.list, c)
				heapUp(l.list, farther)
			}
		}
		if err := l.ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// fetch reads the rows of candidates, whole where only an id was read, by parts that are shared
// out to a few goroutines: most of the time goes by with waiting.
func (x *Index) fetch(ctx context.Context, g *group, list []candidate) error {
	var next atomic.Int64
	workers := min(4, (len(list)+15)/16)
	errs := make([]error, workers)
	var wait sync.WaitGroup
	for w := range workers {
		wait.Go(func() {
			for errs[w] == nil {
				from := int(next.Add(16)) - 16
				if from >= len(list) {
					return
				}
				errs[w] = x.fetchRows(ctx, g, list[from:min(from+16, len(list))])
			}
		})
	}
	wait.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func (x *Index) fetchRows(ctx context.Context, g *group, list []candidate) error {
	for i := range list {
		c := &list[i]
		if len(c.row) > graph.IDLen {
			continue
		}
		row, err := x.row(ctx, g.segs[c.seg], c.n)
		if err != nil {
			return err
		}
		if c.row != nil && graph.ID(row) != graph.ID(c.row) {
			return corrupt("segment %s, row %d: id of another", g.segs[c.seg].cid, c.n)
		}
		c.row = row
	}
	return nil
}
