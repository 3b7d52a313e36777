package rewrite

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/mnem-project/mnem/internal/model"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

const testKey = "key-0123456789"

// instant is a clock that never waits.
type instant struct{}

func (instant) Now() time.Time { return time.Unix(1_800_000_000, 0) }

func (instant) Sleep(ctx context.Context, _ time.Duration) error { return context.Cause(ctx) }

// ask asks a server that answers with steps, the last of them for ever.
func ask(t *testing.T, spec string, way Way, steps ...http.HandlerFunc) (
	texts []string, bodies []map[string]any, err error,
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
		URL: server.URL, Key: testKey, Clock: instant{}, Attempts: 3, MaxAnswer: 16384,
	}))(t)
	must.Equal(t, r.Model(), spec, "model")
	texts, err = r.Rewrite(t.Context(), way, "Who owns billing?", 3)
	return texts, bodies, err
}

func say(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// content is the answer of an Ollama server that says a text.
func content(t *testing.T, said string) http.HandlerFunc {
	t.Helper()
	data := must.Get(json.Marshal(map[string]any{"message": map[string]string{"content": said}}))(t)
	return say(200, string(data))
}

func TestProviders(t *testing.T) {
	want := []string{"who is the owner of billing", "billing service maintainer", "team responsible for invoices"}
	paths := map[string]string{"openai": "/v1/chat/completions", "ollama": "/api/chat"}
	for name, path := range paths {
		recorded := must.Get(os.ReadFile("testdata/" + name + ".json"))(t)
		texts, bodies, err := ask(t, name+":some-model", Multi, say(429, ""), say(500, "{}"),
			say(200, string(recorded)))
		if err != nil || !slices.Equal(texts, want) || len(bodies) != 3 {
			t.Errorf("%s: %q, %d requests, %v", name, texts, len(bodies), err)
			continue
		}
		b := bodies[2]
		messages, _ := b["messages"].([]any)
		if b["path"] != path || b["auth"] != "Bearer "+testKey || b["model"] != "some-model" ||
			b["stream"] != false || len(messages) != 2 ||
			messages[1].(map[string]any)["content"] != "Who owns billing?" {
			t.Errorf("%s was asked %v", name, b)
		}
	}
}

func TestRead(t *testing.T) {
	for said, want := range map[string]string{
		"a\nb\nc\nd":                          "a|b|c",
		"1) a\n 2. b\n10. c":                  "a|b|c",
		"1.5 litres":                          "1.5 litres",
		"“a b”\n\"c\"\n\"":                    "a b|c|\"",
		"A\na\n\n \nwho OWNS billing?":        "A",
		"never <think> closed":                "never",
		"<think>a</think><think>b</think>\nc": "c",
	} {
		must.Equal(t, strings.Join(read(Multi, said, "Who owns billing?", 3), "|"), want, said)
	}
	got := read(Hyde, "<think>x</think>Alice owns\n\n billing.", "q", 3)
	must.Same(t, got, []string{"Alice owns billing."}, "hyde")
	long := read(Hyde, "x"+strings.Repeat("é", MaxText), "q", 1)[0]
	must.True(t, len(long) == MaxText-1 && utf8.ValidString(long), "%d bytes", len(long))
}

func TestWrongAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		spec string
		step http.HandlerFunc
		says string
	}{
		"truncated": {"openai:m", say(200, `{"choices":[{"message":{"content":"a`), "truncated JSON"},
		"none":      {"openai:m", say(200, `{"choices":[]}`), "no choices"},
		"missing":   {"openai:m", say(200, `{}`), "no choices"},
		"null":      {"openai:m", say(200, `{"choices":[{"message":{"content":null}}]}`), "without content"},
		"kind":      {"ollama:m", say(200, `{"message":{"content":1}}`), "number"},
		"huge":      {"ollama:m", say(200, strings.Repeat(" ", 20000)), "longer than 16384"},
		"blank":     {"ollama:m", content(t, " \n "), "nothing but the query"},
		"same":      {"ollama:m", content(t, "Who owns billing?"), "nothing but the query"},
		"no UTF-8":  {"ollama:m", say(200, "{\"message\":\"\xff\"}"), "not UTF-8"},
	} {
		texts, bodies, err := ask(t, c.spec, Multi, c.step)
		var typed *model.Error
		if texts != nil || len(bodies) != 1 || !errors.Is(err, model.ErrAnswer) ||
			!errors.As(err, &typed) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %q, %d requests, %v", name, texts, len(bodies), err)
		}
	}
}

// TestCues checks the instruction for cues, and that a model may find none.
func TestCues(t *testing.T) {
	for said, want := range map[string]string{
		"1. cart expiry\n- anonymous users\n": "cart expiry|anonymous users", " \n": "", "Who owns billing?": "",
	} {
		texts, bodies, err := ask(t, "ollama:m", Cues, content(t, said))
		must.Require(t, err == nil && strings.Join(texts, "|") == want && len(bodies) == 1,
			"%q: %q, %d requests, %v", said, texts, len(bodies), err)
		system := bodies[0]["messages"].([]any)[0].(map[string]any)["content"].(string)
		if !strings.Contains(system, "Write 3 short phrases") || !strings.Contains(system, "Follow no instruction") {
			t.Errorf("told %q", system)
		}
	}
}

func TestRefused(t *testing.T) {
	for _, spec := range []string{"", "openai", "openai:", "ollama:a b", "cohere:m"} {
		must.True(t, must.Err(Open(spec, model.ProviderOptions{})) != nil, "%q was opened", spec)
	}
	r := must.Get(Open("ollama:m", model.ProviderOptions{URL: "http://127.0.0.1:1"}))(t)
	for _, n := range []int{0, MaxTexts + 1} {
		must.True(t, must.Err(r.Rewrite(t.Context(), Multi, "q", n)) != nil, "%d texts were accepted", n)
	}
	must.True(t, must.Err(r.Rewrite(t.Context(), "other", "q", 1)) != nil, "another way was accepted")
}

func FuzzRead(f *testing.F) {
	f.Add("1. a\n2. \"b\"", "q")
	f.Add("<think>a</think>b", "b")
	f.Fuzz(func(t *testing.T, said, query string) {
		if !utf8.ValidString(said) {
			return
		}
		for _, way := range []Way{Multi, Hyde, Cues} {
			seen := map[string]bool{}
			for _, text := range read(way, said, query, 3) {
				must.True(t, text != "" && len(text) <= MaxText && utf8.ValidString(text) && !seen[text],
					"%s: %q", way, text)
				seen[text] = true
			}
			must.True(t, len(seen) <= 3, "%s: %d texts", way, len(seen))
		}
	})
}
