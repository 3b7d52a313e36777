package pebble

import (
	"sync"
	"time"

	pdb "github.com/cockroachdb/pebble/v2"
)

// gate schedules compactions, one at a time. While it is closed, as it is until the first write, none begins in the
// background: Pebble does not check free space, and a process that only reads need not wait. During a compaction
// requested by the store, each begins after the files of the previous one are removed; Pebble may first run one of its
// own choice.
type gate struct {
	mu       sync.Mutex // ordered after Pebble's own
	idle     sync.Cond  // on mu: granting has ended
	db       pdb.DBForCompaction
	running  int
	wanted   int // compactions that the store requested and waits for
	granting bool
	open     bool
	gone     bool
}

var _ pdb.CompactionScheduler = (*gate)(nil)

func newGate(open bool) *gate {
	g := &gate{open: open}
	g.idle.L = &g.mu
	return g
}

// Register implements pdb.CompactionScheduler.
func (g *gate) Register(_ int, db pdb.DBForCompaction) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.db = db
}

// Unregister implements pdb.CompactionScheduler.
func (g *gate) Unregister() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.gone = true
	for g.granting {
		g.idle.Wait()
	}
}

// TrySchedule implements pdb.CompactionScheduler.
func (g *gate) TrySchedule() (bool, pdb.CompactionGrantHandle) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.open || !g.allows() { // while granting, only requested ones
		return false, nil
	}
	g.running++
	return true, g
}

func (g *gate) allows() bool {
	return !g.gone && g.db != nil && (g.open || g.wanted > 0) && g.running < g.db.GetAllowedWithoutPermission()
}

// UpdateGetAllowedWithoutPermission implements pdb.CompactionScheduler.
func (g *gate) UpdateGetAllowedWithoutPermission() {}

// Started implements pdb.CompactionGrantHandle.
func (g *gate) Started() {}

// MeasureCPU implements pdb.CompactionGrantHandle.
func (g *gate) MeasureCPU(pdb.CompactionGoroutineKind) {}

// CumulativeStats implements pdb.CompactionGrantHandle.
func (g *gate) CumulativeStats(pdb.CompactionGrantHandleStats) {}

// Done implements pdb.CompactionGrantHandle. It is called without Pebble's mutex.
func (g *gate) Done() {
	g.mu.Lock()
	g.running--
	open := g.open
	g.mu.Unlock()
	if open {
		g.grant()
	}
}

// grant starts waiting compactions. It must not be called with Pebble's mutex.
func (g *gate) grant() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.granting {
		return
	}
	g.granting = true
	defer func() {
		g.granting = false
		g.idle.Broadcast()
	}()
	for g.allows() && g.begin() {
		g.running++
	}
}

// begin has Pebble begin a waiting compaction, and reports whether one began. mu must be held; it is released while
// Pebble is called.
func (g *gate) begin() bool {
	g.mu.Unlock()
	defer g.mu.Lock()
	waiting, _ := g.db.GetWaitingCompaction()
	return waiting && g.db.Schedule(g)
}

// set opens or closes the gate. To close it may be called with Pebble's mutex.
func (g *gate) set(open bool) {
	g.mu.Lock()
	opened := open && !g.open
	g.open = open
	g.mu.Unlock()
	if opened {
		g.grant()
	}
}

func (g *gate) isOpen() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.open
}

const (
	// grantEvery is how often a compaction that the store waits for is granted: Pebble does not ask again while one
	// waits.
	grantEvery = 5 * time.Millisecond
	// settleTicks bounds, in multiples of grantEvery, how long a grant waits for files to be removed: readers may
	// still need them.
	settleTicks = 200
)

// during runs fn, which compacts, whether or not the gate is open, until stopped is closed. settled reports whether
// all files that the database no longer needs are removed.
func (g *gate) during(stopped <-chan struct{}, settled func() bool, fn func() error) error {
	g.want(1)
	defer g.want(-1)
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		t := time.NewTicker(grantEvery)
		defer t.Stop()
		for ticks := 0; ; ticks++ {
			select {
			case <-stop:
				return
			case <-stopped:
				return
			case <-t.C:
			}
			if g.isOpen() || ticks >= settleTicks || settled() {
				g.grant()
				ticks = 0
			}
		}
	}()
	defer func() {
		close(stop)
		<-done
	}()
	return fn()
}

func (g *gate) want(n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.wanted += n
}
