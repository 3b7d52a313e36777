package sources

import (
	"testing"
	"unicode/utf8"
)

const someHash = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

func FuzzSource(f *testing.F) {
	for _, text := range []string{"file://p-1/a/b.c?sha256=" + someHash + "#L1-L1000000000", "url:http://h/p?q#f", "conversation:abc#7", "manual:\xff"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Parse(text)
		if err == nil && (s.String() != text || !utf8.ValidString(text)) {
			t.Errorf("%q is written %q", text, s.String())
		}
	})
}
