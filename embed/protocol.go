package embed

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/provider"
)

// protocol is how one kind of provider is asked.
type protocol struct {
	provider.Protocol
	endpoint func(*Options) (base string, key Secret)
	request  func(model string, texts []string, dims int) ([]byte, error)
	decode   func(answer []byte, n int) ([]floats, error)
}

var ollama = protocol{
	Protocol: provider.Protocol{
		Action: "embed", Name: "ollama", Path: "/api/embed",
		Hint:      "is Ollama running there? start it with: ollama serve",
		KeyHint:   "set the key, or the base URL of a server without one",
		ModelHint: "fetch the model with: ollama pull MODEL",
		Problem:   provider.ProblemText,
	},
	endpoint: func(o *Options) (string, Secret) { return o.OllamaURL, o.OllamaKey },
	request: func(model string, texts []string, dims int) ([]byte, error) {
		return provider.Marshal(struct {
			Model      string   `json:"model"`
			Input      []string `json:"input"`
			Truncate   bool     `json:"truncate"`
			Dimensions int      `json:"dimensions,omitempty"`
		}{model, texts, true, dims})
	},
	decode: decodeOllama,
}

var openai = protocol{
	Protocol: provider.Protocol{
		Action: "embed", Name: "openai", Path: "/v1/embeddings",
		Hint:      "check the base URL and the network",
		KeyHint:   "check the key",
		ModelHint: "check the model's name and the base URL",
		Problem:   provider.ProblemText,
	},
	endpoint: func(o *Options) (string, Secret) { return o.OpenAIURL, o.OpenAIKey },
	request: func(model string, texts []string, dims int) ([]byte, error) {
		return provider.Marshal(struct {
			Model      string   `json:"model"`
			Input      []string `json:"input"`
			Format     string   `json:"encoding_format"`
			Dimensions int      `json:"dimensions,omitempty"`
		}{model, texts, "float", dims})
	},
	decode: decodeOpenAI,
}

// floats is a vector as JSON has it. Unlike a []float64 it refuses null among its numbers.
type floats []float64

// UnmarshalJSON reads one vector.
func (f *floats) UnmarshalJSON(raw []byte) error {
	if len(raw) < 2 || raw[0] != '[' {
		return fmt.Errorf("%s is not a list of numbers", provider.Clip(string(raw)))
	}
	rest, count := raw[1:len(raw)-1], bytes.Count(raw, []byte{','})+1
	if count > graph.MaxDims {
		return fmt.Errorf("%d numbers, limit %d", count, graph.MaxDims)
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
			return fmt.Errorf("number %d: %s is not a finite number", len(out), provider.Clip(string(item)))
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

// decodeOllama reads {"embeddings":[[…],…]}.
func decodeOllama(answer []byte, n int) ([]floats, error) {
	var vectors []floats
	err := provider.ReadObject(answer, func(name string, value json.RawMessage) error {
		if name == "embeddings" {
			return json.Unmarshal(value, &vectors)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(vectors) != n {
		return nil, fmt.Errorf("%d vectors for %d texts", len(vectors), n)
	}
	return vectors, nil
}

// decodeOpenAI reads {"data":[{"index":0,"embedding":[…]},…]} in the order of the indices.
func decodeOpenAI(answer []byte, n int) ([]floats, error) {
	var data []struct {
		Index     *int
		Embedding floats
	}
	err := provider.ReadObject(answer, func(name string, value json.RawMessage) error {
		if name == "data" {
			return json.Unmarshal(value, &data)
		}
		return nil
	})
	if err != nil {
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
