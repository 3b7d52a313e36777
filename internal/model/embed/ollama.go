package embed

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/mnem-project/mnem/internal/model"
)

var ollama = protocol{
	Protocol: model.Protocol{
		Provider: model.Provider{
			Name: "ollama", URL: "http://127.0.0.1:11434", Secret: "OLLAMA_API_KEY", Shown: "Ollama",
		},
		Action: "embed", Path: "/api/embed",
		Hint:      "is Ollama running there? start it with: ollama serve",
		KeyHint:   "set the key, or the base URL of a server without one",
		ModelHint: "fetch the model with: ollama pull MODEL",
	},
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
	err := model.ReadObject(answer, func(name string, value json.RawMessage) error {
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
