package model

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// ReadObject calls field with each member of a JSON object in order. Unlike json.Unmarshal it refuses a name that is
// there twice, which two readers may understand in two ways, and bytes that are not UTF-8.
func ReadObject(data []byte, field func(name string, value json.RawMessage) error) error {
	if !utf8.Valid(data) {
		return errors.New("not UTF-8")
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	start, err := dec.Token()
	if err != nil {
		return JSONProblem(err)
	}
	if start != json.Delim('{') {
		return errors.New("not a JSON object")
	}
	seen := map[string]bool{}
	for dec.More() {
		token, err := dec.Token()
		if err != nil {
			return JSONProblem(err)
		}
		name, _ := token.(string) // a decoder gives nothing else there
		if seen[name] {
			return fmt.Errorf("%s is there twice", Clip(name))
		}
		seen[name] = true
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return fmt.Errorf("%s: %w", Clip(name), JSONProblem(err))
		}
		if err := field(name, value); err != nil {
			return fmt.Errorf("%s: %w", Clip(name), err)
		}
	}
	if _, err := dec.Token(); err != nil {
		return JSONProblem(err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("more after the JSON object")
	}
	return nil
}

// Members reads the members of a JSON object, as ReadObject does, into what to points to by their names. It skips others,
// or refuses them with the error that unknown is.
func Members(data []byte, to map[string]any, unknown error) error {
	return ReadObject(data, func(name string, value json.RawMessage) error {
		if p := to[name]; p != nil {
			return json.Unmarshal(value, p)
		}
		return unknown
	})
}

// JSONProblem explains an unexpected end of JSON.
func JSONProblem(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		strings.Contains(err.Error(), "unexpected end of JSON") {
		return errors.New("truncated JSON")
	}
	return err
}

// Clip quotes a text that came from outside for an error, in one short line.
func Clip(s string) string {
	const most = 80
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return fmt.Sprintf("%q", s)
}

// Marshal writes JSON without the escapes that are only for web pages.
func Marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// quotaReason is OpenAI's word for a 429 that no waiting helps.
const quotaReason = "insufficient_quota"

// problemText reads a provider's description of a failure from the member "error", "message" or "detail": a text, or an
// object with a "message" and a "code". An answer that is not JSON is itself the description.
func problemText(answer []byte) (said, reason string) {
	var a struct{ Error, Message, Detail any }
	if json.Unmarshal(answer, &a) != nil {
		return string(answer), ""
	}
	for _, v := range []any{a.Error, a.Message, a.Detail} {
		switch v := v.(type) {
		case string:
			return v, ""
		case map[string]any:
			said, _ = v["message"].(string)
			reason, _ = v["code"].(string)
			return said, reason
		}
	}
	return "", ""
}

// List joins words as a sentence has them: "a, b and c", with the last joined by word.
func List(words []string, word string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " " + word + " " + words[last]
}
