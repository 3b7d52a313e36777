package queue

import (
	"errors"
	"math"
	"os"
	"time"
)

const (
	// Patience is how long the place at the front may stay the same before the one behind polls too. It is measured
	// as the sum of the pauses, as no clock is read here.
	Patience = time.Second

	firstPause = 2 * time.Millisecond
	// frontPause is the longest pause at the front, which alone polls the lock.
	frontPause = 8 * time.Millisecond
	lastPause  = 64 * time.Millisecond

	// joinTries and joinPause bound the wait for a process that is taking a place: after a quarter of a second it
	// must be suspended, and the queue is bypassed.
	joinTries = 500
	joinPause = 500 * time.Microsecond

	fileMode = 0o600
	lastByte = math.MaxInt64 // of a range to the end
)

// errUnsupported says that a file does not support range locks.
var errUnsupported = errors.New("no locks of ranges")

// Ticket is a place in a queue. Not safe for concurrent use.
type Ticket struct {
	f     *os.File // nil if there is no queue: it is always its turn
	pid   int
	at    int64
	front int64         // the earliest taken place at the last check; at if there is none
	still time.Duration // pauses since it was seen there first
	tries int           // pauses in turn
}

// Join takes the last place in the queue of a file, creating the file if necessary; its directory must exist. pid
// is this process's. Leave must be called.
func Join(path string, pid int) *Ticket {
	p := Alone(pid)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, fileMode)
	if err != nil {
		return p
	}
	p.f = f
	if err := p.join(); err != nil {
		p.Leave()
	}
	return p
}

// Alone returns a place without a queue: it is always its turn.
func Alone(pid int) *Ticket { return &Ticket{pid: pid} }

func (p *Ticket) join() error {
	open := false
	for range joinTries {
		var err error
		if open, err = tryLock(p.f, 0, 0, true); err != nil {
			return err
		}
		if open {
			break
		}
		time.Sleep(joinPause)
	}
	if !open {
		return errUnsupported
	}
	at, err := p.beyond()
	if err == nil {
		var ok bool
		if ok, err = tryLock(p.f, at, at, true); err == nil && !ok {
			err = errUnsupported
		}
	}
	if err != nil {
		return err
	}
	p.at, p.front = at, 1
	return unlock(p.f, 0, 0)
}

// free reports whether no other process holds a byte of a range.
func (p *Ticket) free(from, to int64) (bool, error) {
	ok, err := tryLock(p.f, from, to, false)
	if ok {
		err = unlock(p.f, from, to)
	}
	return ok, err
}

// beyond returns the first place after all taken ones. The caller prevents others from taking one concurrently.
func (p *Ticket) beyond() (int64, error) {
	taken, at := int64(0), int64(1)
	for {
		ok, err := p.free(at, lastByte)
		if err != nil {
			return 0, err
		}
		if ok {
			break
		}
		if taken = at; at > lastByte/4 {
			return 0, errUnsupported
		}
		at *= 2
	}
	for at-taken > 1 {
		mid := taken + (at-taken)/2
		ok, err := p.free(mid, lastByte)
		if err != nil {
			return 0, err
		}
		if ok {
			at = mid
		} else {
			taken = mid
		}
	}
	return at, nil
}

// Turn reports whether the lock may be tried now: no earlier place is taken, or the earliest one has been the same
// for too long.
func (p *Ticket) Turn() bool {
	if p.f == nil {
		return true
	}
	front, err := p.earliest()
	if err != nil {
		return true // it worked before: better no order than no end
	}
	if front != p.front {
		p.front, p.still = front, 0
	}
	return front == p.at || p.still > Patience*time.Duration(p.at-front)
}

// earliest returns the earliest taken place, its own if there is no other. Places before the previous result stay free.
func (p *Ticket) earliest() (int64, error) {
	first, end := p.front, p.at // the earliest is in this range
	for first < end {
		mid := first + (end-first)/2
		ok, err := p.free(first, mid)
		if err != nil {
			return 0, err
		}
		if ok {
			first = mid + 1
		} else {
			end = mid
		}
	}
	return first, nil
}

// Pause returns how long the caller should wait before the next Turn: longer with more possible places ahead, and
// with more unsuccessful turns. Without a queue it varies by a fixed sequence that differs between processes, so
// that waiting processes do not synchronize.
func (p *Ticket) Pause() time.Duration {
	if p.f != nil && p.front < p.at {
		pause := firstPause * time.Duration(min(p.at-p.front, int64(lastPause/firstPause)))
		p.still += pause
		return pause
	}
	attempt := p.tries
	p.tries++
	pause := firstPause << min(attempt, 5)
	if p.f != nil {
		return min(pause, frontPause)
	}
	mixed := (uint32(attempt)*0x9e3779b9 + uint32(p.pid)) * 0x85ebca6b
	return pause/2 + pause/2*time.Duration(mixed>>24)/255
}

// Leave releases the place.
func (p *Ticket) Leave() {
	if p.f != nil {
		_ = p.f.Close() // this releases its locks
		p.f = nil
	}
}
