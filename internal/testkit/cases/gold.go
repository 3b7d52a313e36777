package cases

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"
)

// Gold scores answers against the gold set at path: it asks answer for every case, compares the JSON of
// what it returns with what the case expects, and fails the test where fewer than least are equal. Each
// that differs is logged. After a change of a rule that is wanted, MNEM_REWRITE=1 writes the answers
// as they are now in place of the expected ones, to be reviewed case by case.
func Gold(t testing.TB, path string, least int, answer func(t testing.TB, c Case) any) {
	t.Helper()
	var anew bytes.Buffer
	equal, all := 0, Read(t, path)
	for _, c := range all {
		got, err := json.Marshal(answer(t, c))
		if err != nil {
			t.Fatal(err)
		}
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
		if err := os.WriteFile(path, anew.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
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
	if err := dec.Decode(&v); err != nil {
		t.Fatalf("%v: %.200s", err, data)
	}
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
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
