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
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/must"
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
	data := must.Get(os.ReadFile(path))(t)
	layer := strings.TrimSuffix(filepath.Base(path), ".jsonl")
	var all []Case
	seen := map[string]bool{}
	for line := range bytes.Lines(data) {
		c := Case{Layer: layer}
		Parse(t, line, &c)
		must.Require(t, c.Name != "" && !seen[c.Name] && c.Input != nil && c.Expect != nil,
			"%s: line %d (%q) has a name twice, or no name, input or expect", path, len(all)+1, c.Name)
		seen[c.Name] = true
		all = append(all, c)
	}
	must.Require(t, len(all) > 0, "%s has no case", path)
	return all
}

// ReadDir returns the cases of all files of a folder, which holds nothing else.
func ReadDir(t testing.TB, dir string) []Case {
	t.Helper()
	entries := must.Get(os.ReadDir(dir))(t)
	var all []Case
	for _, e := range entries {
		must.Equal(t, filepath.Ext(e.Name()), ".jsonl", filepath.Join(dir, e.Name()), " is no file of cases")
		all = append(all, Read(t, filepath.Join(dir, e.Name()))...)
	}
	must.Require(t, len(all) > 0, "%s has no file of cases", dir)
	return all
}

// Parse reads JSON of a case and fails the test where it has members that into lacks.
func Parse(t testing.TB, data []byte, into any) {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	must.OK(t, dec.Decode(into), "JSON of a case: ", data)
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
		must.Require(t, err == nil && hexErr == nil && n >= 0, "bad bytes %q", part)
		out = append(out, bytes.Repeat(b, n)...)
	}
	return out
}

// Gold scores answers against the gold set at path: it asks answer for every case, compares the JSON of
// what it returns with what the case expects, and fails the test where fewer than least are equal. Each
// that differs is logged. After a change of a rule that is wanted, MNEM_REWRITE=1 writes the answers
// as they are now in place of the expected ones, to be reviewed case by case.
func Gold(t testing.TB, path string, least int, answer func(t testing.TB, c Case) any) {
	t.Helper()
	var anew bytes.Buffer
	equal, all := 0, Read(t, path)
	for _, c := range all {
		got := must.Get(json.Marshal(answer(t, c)))(t)
		got = canonical(t, got)
		if bytes.Equal(got, canonical(t, c.Expect)) {
			equal++
		} else {
			t.Logf("%s:\n got %s\nwant %s", c.Path(), got, c.Expect)
		}
		c.Expect = got
		anew.Write(canonicalLine(t, c))
	}
	t.Logf("%s: %d of %d", path, equal, len(all))
	switch {
	case os.Getenv("MNEM_REWRITE") != "":
		must.OK(t, os.WriteFile(path, anew.Bytes(), 0o644))
	case equal < least:
		t.Errorf("%s: %d of %d cases are answered as the set says, want %d", path, equal, len(all), least)
	}
}

// Golden holds answers to the golden file at path: as Gold, and every case must be answered as the file says.
func Golden(t testing.TB, path string, answer func(t testing.TB, c Case) any) {
	t.Helper()
	Gold(t, path, len(Read(t, path)), answer)
}

// canonical is JSON with the members of objects in order and without white space.
func canonical(t testing.TB, data []byte) []byte {
	t.Helper()
	var v any
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	must.OK(t, dec.Decode(&v), data)
	return bytes.TrimSpace(encode(t, v))
}

func canonicalLine(t testing.TB, c Case) []byte {
	t.Helper()
	return encode(t, struct {
		Name   string          `json:"name"`
		Title  string          `json:"title"`
		Input  json.RawMessage `json:"input"`
		Expect json.RawMessage `json:"expect"`
	}{c.Name, c.Title, c.Input, c.Expect})
}

func encode(t testing.TB, v any) []byte {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	must.OK(t, enc.Encode(v))
	return b.Bytes()
}

// Batch is one batch of change lines of a case.
type Batch struct {
	Time   int64 // microseconds
	Lines  []string
	Forest *Forest // lines before those, nil for none
	Pad    int     // length to which the last line is padded with spaces
}

// Forest stands for many lines: Count nodes nI, an edge to each but the first from node (I-1)/Fanout, and a
// mark on each but the first if there is a State.
type Forest struct {
	Count, Fanout int
	State         string
}

// All returns the lines of the batch in order, without line ends.
func (b Batch) All() []string {
	all := append(b.Forest.lines(), b.Lines...)
	if last := len(all) - 1; b.Pad > 0 {
		all[last] += strings.Repeat(" ", b.Pad-len(all[last]))
	}
	return all
}

func (f *Forest) lines() []string {
	var out []string
	if f == nil {
		return nil
	}
	for i := range f.Count {
		out = append(out, fmt.Sprintf(`{"node":{"key":"n%d","type":"T"}}`, i))
	}
	for i := 1; i < f.Count; i++ {
		out = append(out, fmt.Sprintf(`{"edge":{"type":"t","src":"n%d","dst":"n%d"}}`, (i-1)/f.Fanout, i))
	}
	for i := 1; i < f.Count && f.State != ""; i++ {
		out = append(out, fmt.Sprintf(`{"mark":{"node":"n%d","state":"%s"}}`, i, f.State))
	}
	return out
}
