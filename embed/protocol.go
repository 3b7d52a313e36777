package embed

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/mnem-project/mnem/graph"
)

// protocol is how one kind of provider is asked.
type protocol struct {
	name, path               string
	hint, keyHint, modelHint string // what to do about the commonest failures
	endpoint                 func(*Options) (base string, key Secret)
	request                  func(model string, texts []string, dims int) ([]byte, error)
	decode                   func(answer []byte, n int) ([]floats, error)
	// problem returns what an answer says about a failure: a sentence and a word.
	problem func(answer []byte) (said, reason string)
}

// quotaReason is OpenAI's word for a 429 that no waiting helps.
const quotaReason = "insufficient_quota"

var ollama = protocol{
	name: "ollama", path: "/api/embed",
	hint:      "is Ollama running there? start it with: ollama serve",
	keyHint:   "set the key, or the base URL of a server without one",
	modelHint: "fetch the model with: ollama pull MODEL",
	endpoint:  func(o *Options) (string, Secret) { return o.OllamaURL, o.OllamaKey },
	request: func(model string, texts []string, dims int) ([]byte, error) {
		return marshal(struct {
			Model      string   `json:"model"`
			Input      []string `json:"input"`
			Truncate   bool     `json:"truncate"`
			Dimensions int      `json:"dimensions,omitempty"`
		}{model, texts, true, dims})
	},
	decode: decodeOllama,
	problem: func(answer []byte) (string, string) {
		var a struct{ Error string }
		if json.Unmarshal(answer, &a) != nil {
			return string(answer), ""
		}
		return a.Error, ""
	},
}

var openai = protocol{
	name: "openai", path: "/v1/embeddings",
	hint:      "check the base URL and the network",
	keyHint:   "check the key",
	modelHint: "check the model's name and the base URL",
	endpoint:  func(o *Options) (string, Secret) { return o.OpenAIURL, o.OpenAIKey },
	request: func(model string, texts []string, dims int) ([]byte, error) {
		return marshal(struct {
			Model      string   `json:"model"`
			Input      []string `json:"input"`
			Format     string   `json:"encoding_format"`
			Dimensions int      `json:"dimensions,omitempty"`
		}{model, texts, "float", dims})
	},
	decode: decodeOpenAI,
	problem: func(answer []byte) (string, string) {
		var a struct {
			Error struct {
				Message string
				Code    any
			}
		}
		if json.Unmarshal(answer, &a) != nil {
			return string(answer), ""
		}
		code, _ := a.Error.Code.(string)
		return a.Error.Message, code
	},
}

// marshal writes JSON without the escapes that are only for web pages.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// floats is a vector as JSON has it. Unlike a []float64 it refuses null among its numbers.
type floats []float64

// UnmarshalJSON reads one vector.
func (f *floats) UnmarshalJSON(raw []byte) error {
	if len(raw) < 2 || raw[0] != '[' {
		return fmt.Errorf("%s is not a list of numbers", clip(string(raw)))
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
			return fmt.Errorf("number %d: %s is not a finite number", len(out), clip(string(item)))
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
	err := readObject(answer, func(name string, value json.RawMessage) error {
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
	err := readObject(answer, func(name string, value json.RawMessage) error {
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
