// Package modelkit has models for tests: servers that speak as those of providers do, and a model of meaning.
package modelkit

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

// Models answers as servers of models: vectors made of the lengths of texts, rankings that like what is last, and what a
// chat model says.
type Models struct {
	mu       sync.Mutex
	Dims     int
	Requests int
	Texts    []string // that were embedded
	Auth     string
	Body     map[string]any
	Said     string // by the chat model
	Raw      string // what is answered in place of JSON
	Hang     bool   // nothing is answered until the caller gives up
	Grow     bool   // each answer has vectors of one dimension more
	Status   int    // of every answer from request From on, 0 for 200
	From     int
	Asked    func(n int)
}

// Set has servers do otherwise, or compares what they were asked.
func (f *Models) Set(what string, values []string, out io.Writer) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	value := strings.NewReplacer(`\n`, "\n").Replace(strings.Join(values, " "))
	n := func(i int) int {
		if i >= len(values) {
			return 0
		}
		n, _ := strconv.Atoi(values[i]) // 0 for what is no number
		return n
	}
	switch what {
	case "dims":
		f.Dims = n(0)
	case "said":
		f.Said = value
	case "raw":
		f.Raw = value
	case "hang":
		f.Hang = true
	case "grow":
		f.Grow = true
	case "status": // STATUS [FROM], counted from now on
		f.Status, f.From = n(0), f.Requests+n(1)
	case "ok":
		f.Raw, f.Hang, f.Grow, f.Status = "", false, false, 0
	case "reset":
		f.Requests, f.Texts = 0, nil
	case "asked":
		if f.Requests != n(0) {
			return fmt.Errorf("%d requests", f.Requests)
		}
	case "texts":
		if len(f.Texts) != n(0) {
			return fmt.Errorf("%d texts", len(f.Texts))
		}
	case "print":
		body, err := json.Marshal(f.Body)
		_, _ = fmt.Fprintf(out, "authorization %s\n%s\n%s\n", f.Auth, strings.Join(f.Texts, "\n"), body)
		return err
	default:
		return fmt.Errorf("no %s of models", what)
	}
	return nil
}

func (f *Models) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.Requests++
	f.Auth, f.Body = r.Header.Get("Authorization"), map[string]any{}
	// Read first: a server sees that a client has gone only after the body.
	err := json.NewDecoder(r.Body).Decode(&f.Body)
	if f.Asked != nil {
		f.Asked(f.Requests)
	}
	var answer any
	switch {
	case f.Hang:
		<-r.Context().Done()
		return
	case f.Raw != "":
		_, _ = io.WriteString(w, f.Raw)
		return
	case err != nil || f.Status != 0 && f.Requests >= f.From:
		http.Error(w, "out of order", max(f.Status, http.StatusBadRequest))
		return
	case strings.Contains(r.URL.Path, "embed"):
		answer = f.vectors()
	case strings.HasSuffix(r.URL.Path, "/rerank"):
		var results []any
		for i := range f.Body["documents"].([]any) {
			results = append(results, map[string]any{"index": i, "relevance_score": float64(i) / 100})
		}
		answer = map[string]any{"results": results, "data": results}
	default:
		message := map[string]any{"content": f.Said}
		answer = map[string]any{"message": message, "choices": []any{map[string]any{"message": message}}}
	}
	if err := json.NewEncoder(w).Encode(answer); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

// vectors returns one of each text that was sent, as each provider writes them.
func (f *Models) vectors() any {
	var vectors, data []any
	if f.Grow {
		f.Dims++
	}
	input, _ := f.Body["input"].([]any)
	for i, in := range input {
		text, _ := in.(string)
		f.Texts = append(f.Texts, text)
		v := make([]float64, f.Dims)
		v[0], v[len(text)%f.Dims] = 0.25, 1
		vectors, data = append(vectors, v), append(data, map[string]any{"index": i, "embedding": v})
	}
	return map[string]any{"embeddings": vectors, "data": data}
}

// Sorts is a model to which a text is about webhooks, about holidays or about something else.
type Sorts struct{ asked int }

func (*Sorts) Model() string { return "sorts" }

func (*Sorts) Dim() int { return 3 }

func (m *Sorts) Vectors(_ context.Context, texts []string) ([][]int8, error) {
	out := make([][]int8, len(texts))
	for i, text := range texts {
		m.asked++
		switch text = strings.ToLower(text); {
		case strings.Contains(text, "webhook"), strings.Contains(text, "callback"):
			out[i] = []int8{127, 0, 0}
		case strings.Contains(text, "holiday"), strings.Contains(text, "vacation"):
			out[i] = []int8{0, 127, 0}
		default:
			out[i] = []int8{0, 0, 127}
		}
	}
	return out, nil
}

// Asked is how many texts were embedded.
func (m *Sorts) Asked() int { return m.asked }

func (*Sorts) Whole(...string) (int, bool) { return 421, true }
