package embed

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/mnem-project/mnem/graph"
)

// Defaults and bounds of remote providers.
const (
	defaultBatch    = 64
	maxBatch        = 2048      // what OpenAI takes
	batchBytes      = 512 << 10 // of the texts of one request with more than one text
	defaultTimeout  = time.Minute
	defaultAttempts = 5
	maxAttempts     = 20
	defaultMaxWait  = time.Minute
	firstWait       = 500 * time.Millisecond
	defaultAnswer   = 64 << 20 // bytes; 64 vectors of 4,096 numbers take 6 MB
	maxPerMinute    = 1 << 20
	maxPrefix       = 1 << 10 // bytes
)

// Clock is the time by which a remote embedder waits. Nothing of it gets into a vector.
type Clock interface {
	Now() time.Time
	// Sleep returns after d, or before that with the cause of ctx when it ends.
	Sleep(ctx context.Context, d time.Duration) error
}

// systemClock is the time of the machine.
type systemClock struct{}

func (systemClock) Now() time.Time { return time.Now() }

func (systemClock) Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// remote is a model behind HTTP.
type remote struct {
	proto  protocol
	name   string // the model as the provider calls it
	model  string // its identity
	url    string
	key    func() string
	opt    Options // without keys
	client *http.Client
	dims   atomic.Int64

	mu   sync.Mutex
	next time.Time // when the next request may start; guarded by mu
}

// newRemote checks the options that all remote providers share.
func newRemote(p protocol, name string, opt Options) (*remote, error) {
	if err := checkModelName(name); err != nil {
		return nil, err
	}
	opt = opt.withDefaults()
	if err := opt.Validate(); err != nil {
		return nil, err
	}
	base, key := p.endpoint(&opt)
	url, err := endpointURL(base, p.path)
	if err != nil {
		return nil, err
	}
	if err := checkKey(key, url, opt.KeyInClear); err != nil {
		return nil, err
	}
	// Printing a remote by any verb shows the address of a function instead of the key.
	opt.OllamaKey, opt.OpenAIKey = "", ""
	r := &remote{
		proto: p, name: name, model: identity(p.name, name, &opt), url: url.String(), opt: opt,
		key: func() string { return string(key) },
	}
	r.client = &http.Client{
		Transport:     opt.Transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	r.dims.Store(int64(max(opt.Dims, opt.ExpectDim)))
	return r, nil
}

func checkModelName(name string) error {
	if name == "" {
		return errors.New("no model given: want its name after the colon")
	}
	// What stands around the name in the identity takes some forty bytes.
	if len(name) > graph.MaxModel-48 || !utf8.ValidString(name) ||
		strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) || r == ' ' }) {
		return fmt.Errorf("%s is no name of a model", clip(name))
	}
	return nil
}

// identity names all that a vector depends on: provider, model, dimensions asked for, and the
// prefixes, which are cut down to a hash.
func identity(provider, name string, opt *Options) string {
	if provider == ollama.name {
		// For Ollama the two are the same model.
		name = strings.TrimSuffix(name, ":latest")
	}
	id := provider + ":" + name
	if opt.Dims > 0 {
		id += fmt.Sprintf("@%d", opt.Dims)
	}
	if opt.QueryPrefix != "" || opt.DocumentPrefix != "" {
		data := binary.BigEndian.AppendUint32(nil, uint32(len(opt.QueryPrefix)))
		sum := sha256.Sum256(append(append(data, opt.QueryPrefix...), opt.DocumentPrefix...))
		id += "#" + hex.EncodeToString(sum[:4])
	}
	return id
}

func (r *remote) Model() string { return r.model }

func (r *remote) Dim() int { return int(r.dims.Load()) }

func (r *remote) Embed(ctx context.Context, texts []string, kind Kind) ([][]int8, error) {
	if err := checkTexts(texts, kind); err != nil {
		return nil, err
	}
	out := make([][]int8, len(texts))
	for from := 0; from < len(texts); {
		at, to := r.batch(texts, from)
		if len(at) > 0 {
			if err := r.embedBatch(ctx, texts, at, kind, out); err != nil {
				return nil, err
			}
		}
		from = to
		r.opt.Progress.report(to, len(texts))
	}
	return out, nil
}

// batch returns the positions of the texts of the next request, without blank ones, which no
// provider is asked about, and where the batch after that begins.
func (r *remote) batch(texts []string, from int) (at []int, to int) {
	size := 0
	for to = from; to < len(texts); to++ {
		if strings.TrimSpace(texts[to]) == "" {
			continue
		}
		if size += len(texts[to]); len(at) == r.opt.Batch || len(at) > 0 && size > batchBytes {
			break
		}
		at = append(at, to)
	}
	return at, to
}

func (r *remote) embedBatch(
	ctx context.Context, texts []string, at []int, kind Kind, out [][]int8,
) error {
	prefix := r.opt.DocumentPrefix
	if kind == Query {
		prefix = r.opt.QueryPrefix
	}
	inputs := make([]string, len(at))
	for i, k := range at {
		inputs[i] = prefix + texts[k]
	}
	vectors, err := r.ask(ctx, inputs)
	if err != nil {
		return err
	}
	for i, k := range at {
		out[k] = vectors[i]
	}
	return nil
}

// ask makes requests for one batch until one goes well, the failure is a lasting one, or the
// attempts are used up. The waits between them double from firstWait and are never shorter than
// what the provider asks for.
func (r *remote) ask(ctx context.Context, inputs []string) ([][]int8, error) {
	body, err := r.proto.request(r.name, inputs, r.opt.Dims)
	if err != nil {
		return nil, &Error{Provider: r.proto.name, Model: r.name, Err: err}
	}
	for attempt, wait := 1, firstWait; ; attempt, wait = attempt+1, wait*2 {
		vectors, failed := r.attempt(ctx, body, len(inputs))
		if failed == nil {
			return vectors, nil
		}
		if ctx.Err() != nil {
			return nil, fmt.Errorf("embed with %s: %w", r.model, context.Cause(ctx))
		}
		failed.err.Attempts = attempt
		if !failed.err.Temporary || attempt >= r.opt.Attempts {
			return nil, failed.err
		}
		if failed.after > r.opt.MaxWait {
			failed.err.Err = fmt.Errorf("%w: the provider asks to wait %s, and the limit is %s",
				failed.err.Err, failed.after, r.opt.MaxWait)
			return nil, failed.err
		}
		if err := r.opt.Clock.Sleep(ctx, max(min(wait, r.opt.MaxWait), failed.after)); err != nil {
			return nil, fmt.Errorf("embed with %s: %w", r.model, err)
		}
	}
}

// throttle waits until another request may start.
func (r *remote) throttle(ctx context.Context) error {
	if r.opt.PerMinute == 0 {
		return nil
	}
	r.mu.Lock()
	now := r.opt.Clock.Now()
	start := now
	if r.next.After(now) {
		start = r.next
	}
	r.next = start.Add(time.Minute / time.Duration(r.opt.PerMinute))
	r.mu.Unlock()
	if wait := start.Sub(now); wait > 0 {
		return r.opt.Clock.Sleep(ctx, wait)
	}
	return nil
}

// quantiseAll checks the vectors of an answer and turns them into int8.
func (r *remote) quantiseAll(vectors []floats) ([][]int8, error) {
	dims := len(vectors[0])
	for i, v := range vectors {
		if len(v) != dims {
			return nil, fmt.Errorf("%w: vector 0 has %d dimensions, vector %d has %d",
				ErrAnswer, dims, i, len(v))
		}
	}
	out := make([][]int8, len(vectors))
	for i, v := range vectors {
		q, err := graph.Quantise(v)
		if err != nil {
			return nil, fmt.Errorf("%w: vector %d: %w", ErrAnswer, i, err)
		}
		out[i] = q
	}
	// The first good answer decides, whichever goroutine it comes to.
	r.dims.CompareAndSwap(0, int64(dims))
	if want := r.Dim(); dims != want {
		return nil, fmt.Errorf("%w: %d dimensions, want %d: is this the model that made the "+
			"other vectors?", ErrAnswer, dims, want)
	}
	return out, nil
}
