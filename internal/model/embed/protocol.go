package embed

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/mnem-project/mnem/internal/base/vector"
	"github.com/mnem-project/mnem/internal/model"
)

// protocol is how one kind of provider is asked.
type protocol struct {
	model.Protocol
	identity func(name string) string // of names that mean the same model; nil if none do
	request  func(name string, texts []string) any
	decode   func(answer []byte, n int) ([]floats, error)
}

// floats is a vector as JSON has it. Unlike a []float64 it refuses null among its numbers.
type floats []float64

// UnmarshalJSON reads one vector.
func (f *floats) UnmarshalJSON(raw []byte) error {
	if len(raw) < 2 || raw[0] != '[' {
		return fmt.Errorf("%s is not a list of numbers", model.Clip(string(raw)))
	}
	rest, count := raw[1:len(raw)-1], bytes.Count(raw, []byte{','})+1
	if count > vector.MaxDims {
		return fmt.Errorf("%d numbers, limit %d", count, vector.MaxDims)
	}
	if len(bytes.TrimSpace(rest)) == 0 {
		return errors.New("no numbers")
	}
	// The decoder has seen to the syntax, so what is not a number is another value.
	out := make(floats, 0, count)
	for item := range bytes.SplitSeq(rest, []byte{','}) {
		item = bytes.TrimSpace(item)
		x, err := strconv.ParseFloat(string(item), 64)
		if err != nil || !isNumber(item) {
			return fmt.Errorf("number %d: %s is not a finite number", len(out), model.Clip(string(item)))
		}
		out = append(out, x)
	}
	*f = out
	return nil
}

// isNumber tells JSON's numbers from the other words that ParseFloat takes, such as Inf.
func isNumber(item []byte) bool {
	return len(item) > 0 && (item[0] == '-' || item[0] >= '0' && item[0] <= '9')
}

var ollama = protocol{
	Protocol: model.Ollama.For("embed", "/api/embed", 0),
	// For Ollama the two are the same model.
	identity: func(name string) string { return strings.TrimSuffix(name, ":latest") },
	request: func(name string, texts []string) any {
		return struct {
			Model    string   `json:"model"`
			Input    []string `json:"input"`
			Truncate bool     `json:"truncate"`
		}{name, texts, true}
	},
	decode: decodeOllama,
}

// decodeOllama reads {"embeddings":[[…],…]}.
func decodeOllama(answer []byte, n int) ([]floats, error) {
	var vectors []floats
	if err := model.Members(answer, map[string]any{"embeddings": &vectors}, nil); err != nil {
		return nil, err
	}
	if len(vectors) != n {
		return nil, fmt.Errorf("%d vectors for %d texts", len(vectors), n)
	}
	return vectors, nil
}

var openai = protocol{
	Protocol: model.OpenAI.For("embed", "/v1/embeddings", 0),
	request: func(name string, texts []string) any {
		return struct {
			Model  string   `json:"model"`
			Input  []string `json:"input"`
			Format string   `json:"encoding_format"`
		}{name, texts, "float"}
	},
	decode: decodeOpenAI,
}

// decodeOpenAI reads {"data":[{"index":0,"embedding":[…]},…]} in the order of the indices.
func decodeOpenAI(answer []byte, n int) ([]floats, error) {
	var data []struct {
		Index     *int
		Embedding floats
	}
	if err := model.Members(answer, map[string]any{"data": &data}, nil); err != nil {
		return nil, err
	}
	if len(data) != n {
		return nil, fmt.Errorf("%d vectors for %d texts", len(data), n)
	}
	vectors := make([]floats, n)
	for i, d := range data {
		if d.Index == nil || *d.Index < 0 || *d.Index >= n {
			return nil, fmt.Errorf("item %d has no index from 0 to %d", i, n-1)
		}
		if vectors[*d.Index] != nil {
			return nil, fmt.Errorf("index %d is there twice", *d.Index)
		}
		if d.Embedding == nil {
			return nil, fmt.Errorf("item %d has no vector", i)
		}
		vectors[*d.Index] = d.Embedding
	}
	return vectors, nil
}
