package rerank

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mnem-project/mnem/internal/model"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

const testKey = "key-0123456789"

var texts = []string{"first", "second", "third"}

// instant is a clock that never waits.
type instant struct{}

func (instant) Now() time.Time { return time.Unix(1_800_000_000, 0) }

func (instant) Sleep(ctx context.Context, _ time.Duration) error { return context.Cause(ctx) }

// ask asks a server that answers with steps, the last of them for ever.
func ask(t *testing.T, spec string, steps ...http.HandlerFunc) (
	scores []int64, bodies []map[string]any, err error,
) {
	t.Helper()
	var mu sync.Mutex
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, err := io.ReadAll(r.Body)
		body := map[string]any{"path": r.URL.Path, "auth": r.Header.Get("Authorization")}
		if err != nil || json.Unmarshal(data, &body) != nil {
			w.WriteHeader(http.StatusTeapot)
			return
		}
		mu.Lock()
		bodies = append(bodies, body)
		step := steps[min(len(bodies), len(steps))-1]
		mu.Unlock()
		step(w, r)
	}))
	defer server.Close()
	r := must.Get(Open(spec, model.ProviderOptions{
		URL: server.URL, Key: testKey, Clock: instant{}, Attempts: 3, MaxAnswer: 4096,
	}))(t)
	must.Equal(t, r.Model(), spec, "model")
	scores, err = r.Rerank(t.Context(), "which?", texts)
	return scores, bodies, err
}

func say(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

func TestProviders(t *testing.T) {
	for name, want := range map[string]struct {
		path, count string
		scores      []int64
	}{
		"cohere": {"/v2/rerank", "top_n", []int64{16384, 1, 64727}},
		"jina":   {"/v1/rerank", "top_n", []int64{16384, -8192, 64727}},
		"voyage": {"/v1/rerank", "top_k", []int64{16384, 16384, 64727}},
	} {
		recorded := must.Get(os.ReadFile("testdata/" + name + ".json"))(t)
		scores, bodies, err := ask(t, name+":some-model", say(429, ""), say(500, "{}"), say(200, string(recorded)))
		if err != nil || !slices.Equal(scores, want.scores) || len(bodies) != 3 {
			t.Errorf("%s: %v, %d requests, %v", name, scores, len(bodies), err)
			continue
		}
		b := bodies[2]
		if b["path"] != want.path || b["auth"] != "Bearer "+testKey || b["query"] != "which?" ||
			b["model"] != "some-model" || b[want.count] != 3.0 ||
			fmt.Sprint(b["documents"]) != fmt.Sprint(texts) || len(b) != 6 {
			t.Errorf("%s was asked %v", name, b)
		}
	}
}

func TestWrongAnswers(t *testing.T) {
	const good = `{"index":0,"relevance_score":1},{"index":1,"relevance_score":1}`
	for body, says := range map[string]string{
		`{"results":[` + good + `]}`:                                      "2 scores for 3",
		`{"results":[` + good + `,{"index":3,"relevance_score":1}]}`:      "no index from 0 to 2",
		`{"results":[` + good + `,{"index":-1,"relevance_score":1}]}`:     "no index from 0 to 2",
		`{"results":[` + good + `,{"relevance_score":1}]}`:                "no index from 0 to 2",
		`{"results":[` + good + `,{"index":1,"relevance_score":1}]}`:      "index 1 is there twice",
		`{"results":[` + good + `,{"index":2}]}`:                          "has no score",
		`{"results":[` + good + `,{"index":2,"relevance_score":null}]}`:   "has no score",
		`{"results":[` + good + `,{"index":2,"relevance_score":NaN}]}`:    "invalid character",
		`{"results":[` + good + `,{"index":2,"relevance_score":1e999}]}`:  "1e999",
		`{"results":[` + good + `,{"index":2,"relevance_score":-40000}]}`: "-32768 to 32768",
		`{"results":[` + good + `,{"index":2,"relevance_score":"1"}]}`:    "string",
		`{"results":[` + good + `,{"index":2.5,"relevance_score":1}]}`:    "2.5",
		`{"results":[` + good: "truncated JSON",
		`{"data":[]}`:         "0 scores for 3",
		`[]`:                  "not a JSON object",
		`{"results":[],"results":[` + good + `]}`: "twice",
		strings.Repeat(" ", 5000):                 "longer than 4096",
		"{\"results\":\"\xff\"}":                  "not UTF-8",
	} {
		scores, bodies, err := ask(t, "cohere:m", say(200, body))
		var typed *model.Error
		if scores != nil || len(bodies) != 1 || !errors.Is(err, model.ErrAnswer) ||
			!errors.As(err, &typed) || !strings.Contains(err.Error(), says) {
			t.Errorf("%.80s: %v, %d requests, %v", body, scores, len(bodies), err)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	for _, spec := range []string{"", "local", "cohere", "cohere:", "cohere:a b", "openai:m"} {
		must.True(t, must.Err(Open(spec, model.ProviderOptions{})) != nil, "%q was opened", spec)
	}
	_, err := Open("mine:m", model.ProviderOptions{})
	must.Fail(t, err, ErrProvider)
	_, err = Open("cohere:m", model.ProviderOptions{URL: "http://10.0.0.1", Key: testKey})
	must.True(t, err != nil && !strings.Contains(err.Error(), testKey), "key in clear: %v", err)
	r, err := Open("cohere:m", model.ProviderOptions{Key: testKey})
	must.True(t, err == nil && !strings.Contains(fmt.Sprintf("%+v %#v", r, r), testKey),
		"the key is shown: %v", err)
	if scores, err := r.Rerank(t.Context(), "q", nil); scores != nil || err != nil {
		t.Errorf("no texts: %v, %v", scores, err)
	}
}

func TestUnits(t *testing.T) {
	for x, want := range map[float64]int64{
		0: 0, 1: 65536, -1: -65536, 0.5 / 65536: 0, 1.5 / 65536: 2, 2.5 / 65536: 2,
		32768: MaxScore, -32768: -MaxScore,
	} {
		got, ok := Units(x)
		must.True(t, ok && got == want, "%g: %d, want %d", x, got, want)
	}
	for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 32768.1, -1e300} {
		got, ok := Units(x)
		must.True(t, !ok, "%g: %d", x, got)
	}
}

func FuzzDecode(f *testing.F) {
	for _, p := range Providers() {
		if recorded, err := os.ReadFile("testdata/" + p.Name + ".json"); err == nil {
			f.Add(recorded, 3)
		}
	}
	f.Fuzz(func(t *testing.T, answer []byte, n int) {
		if n < 1 || n > 200 {
			return
		}
		scores, err := decode(answer, "results", n)
		must.True(t, err != nil || len(scores) == n, "%d scores, want %d", len(scores), n)
		for _, s := range scores {
			must.True(t, s >= -MaxScore && s <= MaxScore, "score %d", s)
		}
	})
}
