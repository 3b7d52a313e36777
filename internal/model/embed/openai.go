package embed

import (
	"encoding/json"
	"fmt"

	"github.com/mnem-project/mnem/internal/model"
)

var openai = protocol{
	Protocol: model.Protocol{
		Provider: model.Provider{
			Name: "openai", URL: "https://api.openai.com", Secret: "OPENAI_API_KEY",
			Shown: "a server like OpenAI's",
		},
		Action: "embed", Path: "/v1/embeddings",
	},
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
	err := model.ReadObject(answer, func(name string, value json.RawMessage) error {
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
