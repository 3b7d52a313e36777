package rewrite

import (
	"encoding/json"
	"errors"

	"github.com/mnem-project/mnem/internal/model"
)

var openai = protocol{
	Protocol: model.Protocol{
		Provider: model.Provider{
			Name: "openai", URL: "https://api.openai.com", Secret: "OPENAI_API_KEY",
			Shown: "a server like OpenAI's",
		},
		Action: "rewrite", Path: "/v1/chat/completions", MaxAnswer: defaultAnswer,
	},
	// Neither temperature nor a limit: there are models that refuse either.
	request: func(name string, m []message) any {
		return map[string]any{"model": name, "messages": m, "stream": false}
	},
	decode: decodeOpenAI,
}

// decodeOpenAI reads {"choices":[{"message":{"content":…}}]}.
func decodeOpenAI(answer []byte) (string, error) {
	var choices []struct {
		Message reply `json:"message"`
	}
	err := model.ReadObject(answer, func(name string, value json.RawMessage) error {
		if name == "choices" {
			return json.Unmarshal(value, &choices)
		}
		return nil
	})
	if err == nil && len(choices) == 0 {
		err = errors.New("no choices")
	}
	if err != nil {
		return "", err
	}
	return choices[0].Message.text()
}
