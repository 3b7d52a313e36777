package serve

import (
	"context"
	"net/http"
	"net/netip"
	"sync"
	"time"
)

const (
	// maxMet is how many names of repositories and tokens a server remembers, and as many that it met before those.
	maxMet = 10_000
	// maxLooks is how many unknown names and tokens are looked up at the same time, and maxLooksOf those of one
	// address: a client that guesses does not load the database further, and leaves slots for others.
	maxLooks   = 8
	maxLooksOf = 4
	// lookWait is how long a request waits until it is looked up.
	lookWait = 5 * time.Second
	// subnetOf6 is how many bits of an IPv6 address count: a client usually has the whole subnet.
	subnetOf6 = 64
)

// met caches the names and tokens found, of all repositories of a server. Cached ones are looked up immediately; others
// wait in the order of arrival, so that no request is refused because other clients ask for names that do not exist.
type met struct {
	mu       sync.Mutex
	all, old map[string]bool // names, and hashes of tokens with the names of their repositories
	free     chan struct{}
	lines    map[string]*line // of addresses that look something up
}

// line is the queue of one address.
type line struct {
	free  chan struct{}
	users int
}

func newMet() *met {
	return &met{all: make(map[string]bool), free: make(chan struct{}, maxLooks), lines: make(map[string]*line)}
}

// look calls find, and reports whether it got a slot in time. find reports whether the name exists; its error does not
// decide that.
func (m *met) look(r *http.Request, name string, find func() (bool, error)) (looked bool, err error) {
	m.mu.Lock()
	known := m.all[name] || m.old[name]
	m.mu.Unlock()
	if !known {
		ctx, cancel := context.WithTimeout(r.Context(), lookWait)
		defer cancel()
		end, ok := m.enter(ctx, addressOf(r))
		if !ok {
			return false, nil
		}
		defer end()
	}
	found, err := find()
	if err != nil {
		return true, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case !found:
		delete(m.all, name)
		delete(m.old, name)
	case !m.all[name]:
		if len(m.all) >= maxMet {
			m.all, m.old = make(map[string]bool), m.all
		}
		m.all[name] = true
	}
	return true, nil
}

// enter waits for a turn of an address until the context ends, and reports whether there was one. end ends it.
func (m *met) enter(ctx context.Context, from string) (end func(), ok bool) {
	m.mu.Lock()
	l := m.lines[from]
	if l == nil {
		l = &line{free: make(chan struct{}, maxLooksOf)}
		m.lines[from] = l
	}
	l.users++
	m.mu.Unlock()
	leave := func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		if l.users--; l.users == 0 {
			delete(m.lines, from)
		}
	}
	select {
	case l.free <- struct{}{}:
	case <-ctx.Done():
		leave()
		return nil, false
	}
	select {
	case m.free <- struct{}{}:
	case <-ctx.Done():
		<-l.free
		leave()
		return nil, false
	}
	return func() { <-m.free; <-l.free; leave() }, true
}

// addressOf returns the address that a request came from, of IPv6 the subnet.
func addressOf(r *http.Request) string {
	at, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	addr := at.Addr().Unmap().WithZone("")
	if addr.Is4() {
		return addr.String()
	}
	subnet, _ := addr.Prefix(subnetOf6) // an IPv6 address has as many bits
	return subnet.String()
}
