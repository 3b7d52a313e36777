package pebble

import (
	"context"
	"sync"

	"github.com/mnem-project/mnem/internal/block/store"
)

// calls counts the calls of a store that are in progress, and can let none begin while the database is replaced.
type calls struct {
	fail    *failSwitch // ends all calls once it is tripped
	callsMu sync.Mutex
	idle    sync.Cond // on callsMu: running dropped to 0, or a pause ended
	running int
	paused  bool // no call may begin: the database is being replaced
	closed  bool
}

// enter begins a call, which exit must end.
func (c *calls) enter(ctx context.Context) error {
	c.callsMu.Lock()
	defer c.callsMu.Unlock()
	for c.paused {
		c.idle.Wait()
	}
	if err := c.callable(ctx); err != nil {
		return err
	}
	c.running++
	return nil
}

// callable returns the error for a call that begins now. callsMu must be held.
func (c *calls) callable(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if c.closed {
		return store.ErrClosed
	}
	return c.fail.err()
}

func (c *calls) exit() {
	c.callsMu.Lock()
	defer c.callsMu.Unlock()
	if c.running--; c.running == 0 {
		c.idle.Broadcast()
	}
}

// pause waits for a moment in which no call is in progress and lets none begin until resume. Calls that begin
// before that moment do not wait: a callback of a running call may make them.
func (c *calls) pause(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() {
		c.callsMu.Lock()
		defer c.callsMu.Unlock()
		c.idle.Broadcast()
	})
	defer stop()
	c.callsMu.Lock()
	defer c.callsMu.Unlock()
	for c.running > 0 || c.paused {
		if err := ctx.Err(); err != nil {
			return err
		}
		c.idle.Wait()
	}
	if err := c.callable(ctx); err != nil {
		return err
	}
	c.paused = true
	return nil
}

func (c *calls) resume() {
	c.callsMu.Lock()
	defer c.callsMu.Unlock()
	c.paused = false
	c.idle.Broadcast()
}

// end waits until no call is in progress and lets none begin any more. It fails if that was done before.
func (c *calls) end() error {
	c.callsMu.Lock()
	defer c.callsMu.Unlock()
	if c.closed {
		return store.ErrClosed
	}
	c.closed = true
	for c.running > 0 || c.paused {
		c.idle.Wait()
	}
	return nil
}
