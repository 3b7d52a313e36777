package core

import (
	"sync"
)

// bell tells watchers that the operation head moved. The zero value is ready.
type bell struct {
	mu sync.Mutex
	ch chan struct{} // closed by the next ring; nil without listeners
}

// Listen returns a channel that the next ring closes. All who listen before it share the channel.
func (b *bell) Listen() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ch == nil {
		b.ch = make(chan struct{})
	}
	return b.ch
}

func (b *bell) ring() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ch != nil {
		close(b.ch)
		b.ch = nil
	}
}
