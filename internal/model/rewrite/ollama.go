package rewrite

import (
	"encoding/json"

	"github.com/mnem-project/mnem/internal/model"
)

var ollama = protocol{
	Protocol: model.Protocol{
		Provider: model.Provider{
			Name: "ollama", URL: "http://127.0.0.1:11434", Secret: "OLLAMA_API_KEY", Shown: "Ollama",
		},
		Action: "rewrite", Path: "/api/chat", MaxAnswer: defaultAnswer,
		Hint:      "is Ollama running there? start it with: ollama serve",
		KeyHint:   "set the key, or the base URL of a server without one",
		ModelHint: "fetch the model with: ollama pull MODEL",
	},
	request: func(name string, m []message) any {
		return map[string]any{"model": name, "messages": m, "stream": false,
			"options": map[string]any{"temperature": 0}}
	},
	decode: decodeOllama,
}

// decodeOllama reads {"message":{"content":…}}.
func decodeOllama(answer []byte) (string, error) {
	var m reply
	err := model.ReadObject(answer, func(name string, value json.RawMessage) error {
		if name == "message" {
			return json.Unmarshal(value, &m)
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	return m.text()
}
