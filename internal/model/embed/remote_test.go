package embed

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mnem-project/mnem/internal/base/vector"
	"github.com/mnem-project/mnem/internal/model"
	"github.com/mnem-project/mnem/internal/testkit/cases"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

const testKey = "sk-test-0123456789"

// fakeClock is a time that passes only in sleep.
type fakeClock struct {
	mu    sync.Mutex
	now   time.Time
	slept []time.Duration
}

func newClock() *fakeClock {
	return &fakeClock{now: time.Date(2026, 9, 1, 8, 0, 0, 0, time.UTC)}
}

func (c *fakeClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *fakeClock) Sleep(ctx context.Context, d time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now, c.slept = c.now.Add(d), append(c.slept, d)
	return context.Cause(ctx)
}

// asked is a request to a fake provider.
type asked struct {
	path, auth string
	body       map[string]any
	inputs     []string
}

// fakeProvider is a fake that answers its requests in turn with the steps, and when they are used up
// with vectors.
type fakeProvider struct {
	*httptest.Server
	mu    sync.Mutex
	asked []asked
	steps []http.HandlerFunc
}

func newProvider(t testing.TB, steps ...http.HandlerFunc) *fakeProvider {
	p := &fakeProvider{steps: steps}
	p.Server = httptest.NewServer(p)
	t.Cleanup(p.Close)
	return p
}

func (p *fakeProvider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a := asked{path: r.URL.Path, auth: r.Header.Get("Authorization")}
	data, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(data, &a.body)
	}
	kind := r.Header.Get("Content-Type")
	if err != nil || r.Method != http.MethodPost || kind != "application/json" {
		w.WriteHeader(http.StatusTeapot)
		return
	}
	list, _ := a.body["input"].([]any)
	for _, x := range list {
		a.inputs = append(a.inputs, x.(string))
	}
	p.mu.Lock()
	step := len(p.asked)
	p.asked = append(p.asked, a)
	p.mu.Unlock()
	if step < len(p.steps) {
		p.steps[step](w, r)
		return
	}
	if a.path == "/api/embed" {
		io.WriteString(w, ollamaAnswer(a.inputs))
		return
	}
	io.WriteString(w, openaiAnswer(a.inputs))
}

// vectorFor is the vector that a fake gives a text. It has the text's length and 1000, so texts of different lengths
// have different vectors.
func vectorFor(s string) string { return fmt.Sprintf("[%d,-1e3,0.0]", len(s)) }

func ollamaAnswer(inputs []string) string {
	var vs []string
	for _, s := range inputs {
		vs = append(vs, vectorFor(s))
	}
	return `{"model":"m","embeddings":[` + strings.Join(vs, ",") + `],"total_duration":1}`
}

// openaiAnswer has its items in reverse order.
func openaiAnswer(inputs []string) string {
	var vs []string
	for i, s := range inputs {
		vs = append(vs, fmt.Sprintf(`{"object":"embedding","index":%d,"embedding":%s}`, i, vectorFor(s)))
	}
	slices.Reverse(vs)
	return `{"object":"list","data":[` + strings.Join(vs, ",") + `],"usage":{"total_tokens":1}}`
}

func wantVector(s string) []int8 {
	q, _ := vector.QuantiseInts([]int64{int64(len(s)), -1000, 0})
	return q
}

// say answers with a status, a body and headers (name, value).
func say(status int, body string, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		io.WriteString(w, body)
	}
}

// open opens the fake as a provider of the kind.
func (p *fakeProvider) open(t testing.TB, kind string, change func(*OpenOptions)) (Embedder, *fakeClock) {
	t.Helper()
	clock := newClock()
	opt := OpenOptions{ProviderOptions: model.ProviderOptions{URL: p.URL, Key: testKey, Clock: clock}}
	if change != nil {
		change(&opt)
	}
	e := must.Get(Open(kind+":m", opt))(t)
	return e, clock
}

func bothKinds(t *testing.T, test func(t *testing.T, kind string)) {
	for _, kind := range []string{"ollama", "openai"} {
		t.Run(kind, func(t *testing.T) { test(t, kind) })
	}
}

func TestRemoteSuccess(t *testing.T) {
	bothKinds(t, func(t *testing.T, kind string) {
		p := newProvider(t)
		var seen [][2]int
		e, clock := p.open(t, kind, func(o *OpenOptions) {
			o.Batch = 2
			o.Progress = func(done, total int) { seen = append(seen, [2]int{done, total}) }
		})
		must.Equal(t, e.Dim(), 0, "dimensions before the first answer")
		texts := []string{"a", " ", "bbb <&> é", "", "ccccc", "dd"}
		got := must.Get(e.Embed(context.Background(), texts, Query))(t)
		for i, s := range texts {
			want := wantVector(s)
			if strings.TrimSpace(s) == "" {
				want = nil
			}
			must.Same(t, got[i], want, s)
		}
		must.Equal(t, e.Dim(), 3, "dimensions, slept")
		must.Equal(t, len(clock.slept), 0, "dimensions, slept")
		must.Same(t, seen, [][2]int{{4, 6}, {6, 6}}, "progress")
		must.Require(t, len(p.asked) == 2 && slices.Equal(p.asked[0].inputs, []string{"a", "bbb <&> é"}),
			"asked %v", p.asked)
		path := "/api/embed"
		if kind == "openai" {
			path = "/v1/embeddings"
		}
		if a := p.asked[0]; a.path != path || a.auth != "Bearer "+testKey || a.body["model"] != "m" {
			t.Errorf("asked %+v", a)
		}
	})
}

// TestRemoteWrongAnswers has answers in good JSON that are not the vectors asked for.
func TestRemoteWrongAnswers(t *testing.T) {
	refused := func(t testing.TB, kind, answer string) string {
		t.Helper()
		p := newProvider(t, say(200, answer))
		e, _ := p.open(t, kind, nil)
		got, err := e.Embed(context.Background(), []string{"a", "b"}, Document)
		must.True(t, errors.Is(err, model.ErrAnswer) && got == nil && len(p.asked) == 1,
			"%.60s: %v, %v after %d requests", answer, got, err, len(p.asked))
		return strings.ReplaceAll(fmt.Sprint(err), p.URL, "URL")
	}
	cases.Golden(t, filepath.Join("testdata", "answers-refused.jsonl"), func(t testing.TB, c cases.Case) any {
		var in struct{ Kind, Answer string }
		cases.Parse(t, c.Input, &in)
		return refused(t, in.Kind, in.Answer)
	})
	long := refused(t, "ollama", `{"embeddings":[[1,2],[1`+strings.Repeat(",1", 1<<16)+`]]}`)
	must.True(t, strings.Contains(long, "65537 numbers, limit 65536"), "%v", long)
}

// TestRemoteDimensions checks that the number of dimensions never changes without an error.
func TestRemoteDimensions(t *testing.T) {
	ctx := context.Background()
	four := say(200, `{"embeddings":[[1,2,3,4]]}`)
	p := newProvider(t, say(200, ollamaAnswer([]string{"a"})), four)
	e, _ := p.open(t, "ollama", nil)
	must.Get(e.Embed(ctx, []string{"a"}, Document))(t)
	_, err := e.Embed(ctx, []string{"a"}, Document)
	must.True(t, errors.Is(err, model.ErrAnswer) && strings.Contains(err.Error(), "4 dimensions, want 3"),
		"another number: %v", err)
}

// TestRemoteRedirect checks that neither texts nor key follow a redirect.
func TestRemoteRedirect(t *testing.T) {
	for _, status := range []int{301, 302, 303, 307, 308} {
		elsewhere := newProvider(t)
		p := newProvider(t, say(status, "", "Location", elsewhere.URL+"/v1/embeddings?k="+testKey))
		e, _ := p.open(t, "openai", nil)
		_, err := e.Embed(context.Background(), []string{"secret text"}, Document)
		if !errors.Is(err, model.ErrRedirect) || strings.Contains(err.Error(), testKey) ||
			!strings.Contains(err.Error(), elsewhere.URL) {
			t.Errorf("%d: %v", status, err)
		}
		must.True(t, len(elsewhere.asked) == 0 && len(p.asked) == 1,
			"%d: %d requests elsewhere, %d here", status, len(elsewhere.asked), len(p.asked))
	}
}

func TestRemoteUnreachable(t *testing.T) {
	p := newProvider(t)
	p.Close()
	e, clock := p.open(t, "ollama", func(o *OpenOptions) { o.Attempts = 3 })
	_, err := e.Embed(context.Background(), []string{"a"}, Document)
	var typed *model.Error
	if !errors.As(err, &typed) || typed.Status != 0 || !typed.Temporary ||
		!strings.Contains(err.Error(), "ollama serve") || len(clock.slept) != 2 {
		t.Errorf("slept %v, %v", clock.slept, err)
	}
}

// TestRemoteBatches checks that requests are bounded in texts and in bytes.
func TestRemoteBatches(t *testing.T) {
	p := newProvider(t)
	e, _ := p.open(t, "ollama", func(o *OpenOptions) { o.Batch = 3 })
	big := strings.Repeat("x", batchBytes-10)
	texts := []string{big, "0123456789", "y", "a", "b", "c", strings.Repeat("z", MaxText), "d"}
	got := must.Get(e.Embed(context.Background(), texts, Document))(t)
	var sizes []int
	for _, a := range p.asked {
		sizes = append(sizes, len(a.inputs))
	}
	must.Same(t, sizes, []int{2, 3, 1, 1, 1}, "batches of")
	for i, v := range got {
		must.Same(t, v, wantVector(texts[i]), "text ", i)
	}
}

func TestRemoteConcurrent(t *testing.T) {
	p := newProvider(t)
	e, _ := p.open(t, "openai", nil)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			s := strings.Repeat("a", i+1)
			vs, err := e.Embed(context.Background(), []string{s}, Document)
			must.True(t, err == nil && slices.Equal(vs[0], wantVector(s)), "%v, %v", vs, err)
		})
	}
	wg.Wait()
}

func FuzzAnswer(f *testing.F) {
	f.Add([]byte(ollamaAnswer([]string{"a", "b"})))
	f.Add([]byte(openaiAnswer([]string{"a", "b"})))
	f.Add([]byte(`{"data":[{"index":1,"embedding":[1]},{"index":0,"embedding":[1e-9]}]}`))
	f.Add([]byte(`{"error":{"message":"m","code":"insufficient_quota"}}`))
	f.Fuzz(func(t *testing.T, answer []byte) {
		for _, p := range []protocol{ollama, openai} {
			vectors, err := p.decode(answer, 2)
			if err != nil {
				continue
			}
			must.Require(t, len(vectors) == 2 && len(vectors[0]) != 0 && len(vectors[1]) != 0,
				"%s: %v", p.Name, vectors)
			r := &remote{proto: p}
			if qs, err := r.quantiseAll(vectors); err == nil && len(qs[0]) != len(vectors[0]) {
				t.Fatalf("%s: %v", p.Name, qs)
			}
		}
	})
}

func TestRemoteWithoutKey(t *testing.T) {
	bothKinds(t, func(t *testing.T, kind string) {
		p := newProvider(t)
		e, _ := p.open(t, kind, func(o *OpenOptions) { o.Key = "" })
		must.Get(e.Embed(context.Background(), []string{"a"}, Document))(t)
		must.Equal(t, p.asked[0].auth, "", "sent")
	})
}
