package sources

import (
	"strings"
	"testing"
)

const someHash = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

var goodSources = []string{
	"file:notes.md", "file:docs/a b.md#L3", "file:docs/notes.md#L3-L17", "file://mnem/docs/x.md",
	"file:a.txt?sha256=" + someHash, "file://p-1/a/b.c?sha256=" + someHash + "#L1-L1000000000",
	"file:100%25 %3F%23.md", "file:资料/笔记.md#L1", "file:...", "file:a:b", "file:C:/x",
	"url:https://example.org", "url:http://h/p?q#f", "url:https://例え.jp/道",
	"conversation:abc", "conversation:abc#7", "conversation:2026-01-02 stand-up", "manual:",
	"manual:Ada", "manual:a#b?c%d",
}

func TestSourcesThatAre(t *testing.T) {
	for _, text := range goodSources {
		s, err := Parse(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
		} else if got := s.String(); got != text {
			t.Errorf("%q is written %q", text, got)
		}
	}
}

func TestSourcesThatAreNot(t *testing.T) {
	for _, text := range []string{
		"", "notes.md", "File:a", "file", "file:", "file:/etc/passwd", "file:../x", "file:a/../b",
		"file:a//b", "file:a/", "file:.", "file:./a", `file:a\b`, "file:a\nb", "file: a", "file:a ",
		"file:a\x00", "file:\xff", "file://a", "file:///a", "file://A/b", "file://-a/b", "file://a/",
		"file://" + strings.Repeat("a", 65) + "/b", "file://a//b", "file://a/../b",
		"file:a%", "file:a%2", "file:a%2f", "file:a%41", "file:a%3f", "file:a?", "file:a?sha256=",
		"file:a?sha256=" + strings.ToUpper(someHash), "file:a?sha256=" + someHash + "0",
		"file:a?md5=" + someHash, "file:a#", "file:a#3", "file:a#L0", "file:a#L03", "file:a#L3-",
		"file:a#L3-L3", "file:a#L3-L2", "file:a#L3-4", "file:a#L+3", "file:a#L1000000001", "file:a#L3#L4",
		"file:a#L1?sha256=" + someHash, "url:", "url:example.org", "url:ftp://h/", "url:https://",
		"url:https:///x", "url:https://a b", "url: https://a", "conversation:", "conversation:#1",
		"conversation:a#", "conversation:a#0", "conversation:a#b", "conversation:a#1#2", "manual:a\tb",
		"manual", "url", "manual: Ada", "session:1", "url:https://h/" + strings.Repeat("x", 1024),
	} {
		if s, err := Parse(text); err == nil {
			t.Errorf("%q is taken for %+v", text, s)
		}
	}
}

func FuzzSource(f *testing.F) {
	for _, text := range goodSources {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Parse(text)
		if err == nil && s.String() != text {
			t.Errorf("%q is written %q", text, s.String())
		}
	})
}
