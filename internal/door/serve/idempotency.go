package serve

import (
	"container/list"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/mnem-project/mnem/internal/verb/operation"
)

// Bounds of what is remembered of requests with an Idempotency-Key.
const (
	maxKey      = 255
	maxKept     = 4096     // requests
	maxKeptSize = 64 << 20 // bytes of all answers
	keptTime    = 24 * time.Hour
)

// answers remembers the answers of writes by the key that their callers gave, so that one whose answer got lost can be
// sent again and is done once. It forgets the oldest if there are too many, and all when the process ends.
type answers struct {
	now   func() time.Time
	mu    sync.Mutex
	byKey map[string]*kept
	order *list.List // of *kept, the newest first
	size  int
}

type kept struct {
	key    string
	print  [sha256.Size]byte // of the request
	at     time.Time
	place  *list.Element
	done   bool // whether there is an answer
	status int
	header http.Header
	body   []byte
}

func newAnswers(now func() time.Time) *answers {
	return &answers{now: now, byKey: make(map[string]*kept), order: list.New()}
}

// fingerprint is the same for requests that ask the same.
func (q *request) fingerprint() [sha256.Size]byte {
	h := sha256.New()
	part := func(v any) {
		data, _ := json.Marshal(v) // what was parsed from JSON has a JSON form
		_, _ = fmt.Fprintf(h, "%d:", len(data))
		_, _ = h.Write(data)
	}
	part(q.call.Operation.Name)
	part(q.call.Args)
	part(q.call.Caller)
	part(q.form)
	if q.call.Body != nil {
		q.body.writeTo(h)
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// begin returns the earlier answer of a caller's key, or notes this request, which end must end.
func (a *answers) begin(q *request) (*kept, *problem) {
	key, print := q.by.key+" "+q.key, q.fingerprint()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.forget()
	k := a.byKey[key]
	switch {
	case k == nil && len(a.byKey) >= maxKept:
		return nil, failed(operation.Busy, "too many requests with an Idempotency-Key are under way")
	case k == nil:
		k = &kept{key: key, print: print, at: a.now()}
		k.place = a.order.PushFront(k)
		a.byKey[key] = k
	case k.print != print:
		return nil, newProblem(http.StatusUnprocessableEntity, codeKeyReused,
			"the Idempotency-Key was used for another request")
	case !k.done:
		p := newProblem(http.StatusConflict, codeInFlight, "the request with this Idempotency-Key is under way")
		p.header = http.Header{"Retry-After": {"1"}}
		return nil, p
	}
	return k, nil
}

// forget makes room: answers go that are old, or the oldest ones.
func (a *answers) forget() {
	for e := a.order.Back(); e != nil; {
		k := e.Value.(*kept)
		e = e.Prev()
		old := a.now().Sub(k.at) > keptTime
		if !old && len(a.byKey) < maxKept && a.size <= maxKeptSize {
			return
		}
		if k.done {
			a.remove(k)
		}
	}
}

func (a *answers) remove(k *kept) {
	a.order.Remove(k.place)
	delete(a.byKey, k.key)
	a.size -= len(k.body)
}

// end ends a request. One without an answer, since the system failed, may be sent again.
func (a *answers) end(k *kept) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if k.status == 0 {
		a.remove(k)
		return
	}
	k.done = true
	a.size += len(k.body)
}

func (k *kept) keepBody(status int, header http.Header, body []byte) {
	k.status, k.header, k.body = status, header, body
}

func (k *kept) keep(p *problem, id string) {
	p.RequestID = id
	k.keepBody(p.Status, http.Header{"Content-Type": {mediaProblem}}, p.body())
}

// tooLong keeps that there was an answer which is too long to be kept.
func (k *kept) tooLong(id string) {
	p := newProblem(http.StatusConflict, codeInFlight,
		"the request with this Idempotency-Key was done; its answer was too long to be kept")
	k.keep(p, id)
}

func (k *kept) send(w http.ResponseWriter) {
	for name, values := range k.header {
		w.Header()[name] = values
	}
	w.WriteHeader(k.status)
	_, _ = w.Write(k.body) // who asked may have gone
}
