package sources

import (
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
	"unicode/utf8"

	"github.com/mnem-project/mnem/internal/testkit/must"
)

const someHash = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

func FuzzSource(f *testing.F) {
	for _, text := range []string{"file://p-1/a/b.c?sha256=" + someHash + "#L1-L1000000000", "url:http://h/p?q#f", "conversation:abc#7", "manual:\xff"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Parse(text)
		must.True(t, err != nil || (s.String() == text && utf8.ValidString(text)), "%q is written %q", text, s.String())
	})
}

func checkOne(t *testing.T, fsys fs.FS, text string) SourceCheck {
	t.Helper()
	src := must.Get(Parse(text))(t)
	c := Checker{Root: func(project string) fs.FS {
		if project != "" {
			return nil
		}
		return fsys
	}}
	return c.Check(SourceEntry{Text: text, Source: src})
}

func TestSourceCheck(t *testing.T) {
	file := func(s string) fs.FS { return fstest.MapFS{"a.txt": {Data: []byte(s)}} }
	first := checkOne(t, file("one\ntwo\nthree\n"), "file:a.txt#L2-L3")
	must.Equal(t, first.State, SourceUnhashed)
	must.Equal(t, first.Span, "two\nthree")
	hashed := first.Now.String()
	whole := checkOne(t, file("one\ntwo\nthree\n"), "file:a.txt").Now.String()
	for _, c := range []struct {
		source, data string
		state        SourceState
		place        string
	}{
		{hashed, "one\ntwo\nthree\n", SourceUnchanged, "file:a.txt#L2-L3"},
		{hashed, "one\ntwo\nthree", SourceUnchanged, "file:a.txt#L2-L3"},
		{hashed, "one\ntwo\nthree\nfour\n", SourceUnchanged, "file:a.txt#L2-L3"},
		{hashed, "zero\none\ntwo\nthree\n", SourceMoved, "file:a.txt#L3-L4"},
		{hashed, "two\nthree\n", SourceMoved, "file:a.txt#L1-L2"},
		{hashed, "two\nthree\nx\nx\ntwo\nthree\n", SourceMoved, "file:a.txt#L1-L2"},
		{hashed, "one\ntwo\n3\n", SourceChanged, "file:a.txt#L2-L3"},
		{hashed, "one\r\ntwo\r\nthree\r\n", SourceChanged, "file:a.txt#L2-L3"},
		{hashed, "one\ntwo\n", SourceRemoved, "file:a.txt#L2-L3"},
		{hashed, "", SourceRemoved, "file:a.txt#L2-L3"},
		{whole, "one\ntwo\nthree\n", SourceUnchanged, "file:a.txt"},
		{whole, "one\ntwo\nthree", SourceChanged, "file:a.txt"},
		{whole, "", SourceChanged, "file:a.txt"},
		{strings.Replace(hashed, "L2-L3", "L999999999-L1000000000", 1), "two\nthree\n", SourceMoved,
			"file:a.txt#L1-L2"},
		{"file:b.txt", "", SourceRemoved, "file:b.txt"},
		{"file:a.txt/x", "one", SourceRemoved, "file:a.txt/x"},
		{"file:a.txt/x/y", "one", SourceRemoved, "file:a.txt/x/y"},
		{"file://p/a.txt", "", SourceUnchecked, "file://p/a.txt"},
		{"manual:Ada", "", SourceUnchecked, "manual:Ada"},
	} {
		got := checkOne(t, file(c.data), c.source)
		must.Equal(t, got.State, c.state, c.source, " in ", c.data)
		must.Equal(t, got.Now.Place(), c.place, c.source, " in ", c.data)
	}
}

func TestSourceBounds(t *testing.T) {
	large := fstest.MapFS{"a.txt": {Data: make([]byte, MaxSourceFile+1)}, "d/x": {},
		"d/.mnem/config": {}, "d/.MNEM/config": {}, "d/.mnem./config": {}}
	for source, why := range map[string]string{
		"file:a.txt": "more than", "file:d": "no regular file",
		"file:d/.mnem/config": "of a repository", "file:d/.MNEM/config": "of a repository",
		"file:d/.mnem./config": "of a repository",
	} {
		c := checkOne(t, large, source)
		must.True(t, c.State == SourceUnreadable && strings.Contains(c.Why, why),
			"%s: %s %q", source, c.State, c.Why)
	}
	// The search for lines that do not exist is bounded.
	many := fstest.MapFS{"a.txt": {Data: []byte(strings.Repeat("a line of some length\n", 300_000))}}
	c := checkOne(t, many, "file:a.txt?sha256="+someHash+"#L1-L200000")
	must.Equal(t, c.State, SourceChanged, "bytes shown")
	must.Equal(t, len(c.Span), MaxShown, "bytes shown")
}
