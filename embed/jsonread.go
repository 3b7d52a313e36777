package embed

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// readObject calls field with each member of a JSON object in order. Unlike json.Unmarshal it
// refuses a name that is there twice, which two readers may understand in two ways, and bytes
// that are not UTF-8.
func readObject(data []byte, field func(name string, value json.RawMessage) error) error {
	if !utf8.Valid(data) {
		return errors.New("not UTF-8")
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	start, err := dec.Token()
	if err != nil {
		return jsonProblem(err)
	}
	if start != json.Delim('{') {
		return errors.New("not a JSON object")
	}
	seen := map[string]bool{}
	for dec.More() {
		token, err := dec.Token()
		if err != nil {
			return jsonProblem(err)
		}
		name, _ := token.(string) // a decoder gives nothing else there
		if seen[name] {
			return fmt.Errorf("%s is there twice", clip(name))
		}
		seen[name] = true
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return fmt.Errorf("%s: %w", clip(name), jsonProblem(err))
		}
		if err := field(name, value); err != nil {
			return fmt.Errorf("%s: %w", clip(name), err)
		}
	}
	if _, err := dec.Token(); err != nil {
		return jsonProblem(err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("more after the JSON object")
	}
	return nil
}

// jsonProblem says in words what an end in the middle means.
func jsonProblem(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		strings.Contains(err.Error(), "unexpected end of JSON") {
		return errors.New("truncated JSON")
	}
	return err
}

// clip quotes a text that came from outside for an error, in one short line.
func clip(s string) string {
	const most = 80
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return fmt.Sprintf("%q", s)
}
