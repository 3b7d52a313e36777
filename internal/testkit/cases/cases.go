// Package cases reads files of test cases for tests: conformance vectors, gold sets and golden files.
//
// A file is named LAYER.jsonl. Each line is one case, a JSON object:
//
//	name     unique in the file
//	clause   the clause of SPEC.md that decides it; gold sets and golden files have none
//	title    one line for people
//	fails    the class of the error with which the input must be refused, if it must
//	input    what goes in, by layer
//	expect   what must come out
package cases

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Case is one line of a file.
type Case struct {
	Layer  string `json:"-"` // from the name of the file
	Name   string
	Clause string
	Title  string
	Fails  string
	Input  json.RawMessage
	Expect json.RawMessage
}

// Path names the case in messages: LAYER/NAME.
func (c Case) Path() string { return c.Layer + "/" + c.Name }

// Read returns the cases of a file. A file without a case, a name that comes twice, an unknown member
// and a blank line fail the test.
func Read(t testing.TB, path string) []Case {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	layer := strings.TrimSuffix(filepath.Base(path), ".jsonl")
	var all []Case
	seen := map[string]bool{}
	for line := range bytes.Lines(data) {
		c := Case{Layer: layer}
		Parse(t, line, &c)
		if c.Name == "" || seen[c.Name] || c.Input == nil || c.Expect == nil {
			t.Fatalf("%s: line %d (%q) has a name twice, or no name, input or expect", path, len(all)+1,
				c.Name)
		}
		seen[c.Name] = true
		all = append(all, c)
	}
	if len(all) == 0 {
		t.Fatalf("%s has no case", path)
	}
	return all
}

// ReadDir returns the cases of all files of a folder, which holds nothing else.
func ReadDir(t testing.TB, dir string) []Case {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []Case
	for _, e := range entries {
		if filepath.Ext(e.Name()) != ".jsonl" {
			t.Fatalf("%s is no file of cases", filepath.Join(dir, e.Name()))
		}
		all = append(all, Read(t, filepath.Join(dir, e.Name()))...)
	}
	if len(all) == 0 {
		t.Fatalf("%s has no file of cases", dir)
	}
	return all
}

// Parse reads JSON of a case and fails the test where it has members that into lacks.
func Parse(t testing.TB, data []byte, into any) {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		t.Fatalf("JSON of a case: %v: %.200s", err, data)
	}
}

// Bytes reads the notation of bytes: hex, parts separated by spaces, each optionally `*COUNT`.
func Bytes(t testing.TB, text string) []byte {
	t.Helper()
	var out []byte
	for _, part := range strings.Fields(text) {
		digits, times, repeated := strings.Cut(part, "*")
		n := 1
		var err error
		if repeated {
			n, err = strconv.Atoi(times)
		}
		b, hexErr := hex.DecodeString(digits)
		if err != nil || hexErr != nil || n < 0 {
			t.Fatalf("bad bytes %q", part)
		}
		out = append(out, bytes.Repeat(b, n)...)
	}
	return out
}
