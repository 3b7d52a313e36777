package queue

import (
	"errors"
	"math"
	"os"
	"time"
)

const (
	// Patience is how long the place at the front may stay the same before the one behind tries too:
	// the sum of the pauses meanwhile, as no clock is read here.
	Patience = time.Second

	firstPause = 2 * time.Millisecond
	// frontPause is the longest pause of the one at the front, which alone polls the lock.
	frontPause = 8 * time.Millisecond
	lastPause  = 64 * time.Millisecond

	// doorTries and doorPause bound the wait for a process that takes a place: after a quarter of a
	// second it was stopped in the middle of it, and the queue is passed by.
	doorTries = 500
	doorPause = 500 * time.Microsecond

	fileMode = 0o600
	lastByte = math.MaxInt64 // of a range to the end
)

// errUnsupported says that a file has no locks of ranges.
var errUnsupported = errors.New("no locks of ranges")

// Place is a place in a queue. It is for one goroutine.
type Place struct {
	f     *os.File // nil where there is no queue: its turn is always
	pid   int
	at    int64
	front int64         // the earliest place that was taken when it was looked last; at where none is
	still time.Duration // pauses since it was seen there first
	tries int           // pauses in turn
}

// Join takes the last place in the queue of a file, which it makes unless it is there; its directory
// must be. pid is that of this process. Leave must be called.
func Join(path string, pid int) *Place {
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

// Alone returns a place for where nobody keeps an order: its turn is always.
func Alone(pid int) *Place { return &Place{pid: pid} }

func (p *Place) join() error {
	open := false
	for range doorTries {
		var err error
		if open, err = tryLock(p.f, 0, 0, true); err != nil {
			return err
		}
		if open {
			break
		}
		time.Sleep(doorPause)
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

// free reports whether no other process has a byte of a range.
func (p *Place) free(from, to int64) (bool, error) {
	ok, err := tryLock(p.f, from, to, false)
	if ok {
		err = unlock(p.f, from, to)
	}
	return ok, err
}

// beyond returns the first place after all that are taken. Nobody takes one meanwhile.
func (p *Place) beyond() (int64, error) {
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

// Turn reports whether the lock may be tried now: no earlier place is taken, or the earliest one has
// been the same for too long.
func (p *Place) Turn() bool {
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

// earliest returns the earliest place that is taken, its own where no other is. Those before the one
// that it was last are free for ever.
func (p *Place) earliest() (int64, error) {
	first, end := p.front, p.at // the earliest is one of these and those between
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

// Pause returns how long the caller is to wait before the next Turn: longer the more places may be before this one,
// and the more often its turn was for nothing. Without a queue it is spread by a fixed sequence that
// differs between processes, so that those that wait do not march in step.
func (p *Place) Pause() time.Duration {
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

// Leave gives the place back.
func (p *Place) Leave() {
	if p.f != nil {
		_ = p.f.Close() // what was locked is free then
		p.f = nil
	}
}
