package text

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/mnem-project/mnem/internal/testkit/must"
)

// TestTablesGolden pins fold, class and escape of every code point. For each of them in order, the hash takes one
// byte for the class, one for the escape (1 or 0), one for the length of the fold in bytes, and the fold in UTF-8;
// the length is 0 if the code point folds to itself or its fold is never used. A released version keeps its hash
// forever.
func TestTablesGolden(t *testing.T) {
	const want = "b407d8ba87d5d296a20d2872ba008b4281645f421f16fd680ea2540c59a46f83"
	h := sha256.New()
	for r := rune(0); r <= utf8.MaxRune; r++ {
		entry, fold, escape := entryOf(r), "", byte(0)
		if entry&foldFlag != 0 {
			fold = foldOf(r)
		}
		if isEscaped(r) {
			escape = 1
		}
		h.Write([]byte{entry & classMask, escape, byte(len(fold))})
		h.Write([]byte(fold))
	}
	must.Equal(t, hex.EncodeToString(h.Sum(nil)), want, "hash over all code points")
}

// TestFoldStable: terms fold to themselves, so terms can be searched as text.
func TestFoldStable(t *testing.T) {
	for r := rune(0); r <= utf8.MaxRune; r++ {
		if entryOf(r)&foldFlag == 0 {
			continue
		}
		must.True(t, foldOf(r) != "", "%U folds to nothing and is not ignored", r)
		for _, f := range foldOf(r) {
			entry := entryOf(f)
			if class := entry & classMask; entry&foldFlag != 0 || !isWordClass(class) && class < classHan {
				t.Errorf("%U folds to %U, entry %#x", r, f, entry)
			}
		}
	}
}

// TestStems compares the stemmer with testdata/stems.txt, which another implementation of the
// same revision wrote.
func TestStems(t *testing.T) {
	const want = "fdb5306a5e76d2c7b59b4e66803ad6f2c9e2d9f6cce3eff38b32142c75d692a4"
	f := must.Get(os.Open("testdata/stems.txt"))(t)
	defer f.Close()
	h := sha256.New()
	sc, n := newScanner().(*scanner), 0
	for lines := bufio.NewScanner(f); lines.Scan(); {
		word, stem, ok := strings.Cut(lines.Text(), " ")
		if !ok || word == "#" {
			continue
		}
		n++
		if word[0] != '\'' && word[0] != stem[0] { // HasPhrase relies on this
			t.Errorf("the stem of %q begins otherwise: %q", word, stem)
		}
		for range 2 { // computed, then remembered
			must.Equal(t, sc.stem(word), stem, "stem of ", word)
		}
		fmt.Fprintf(h, "%s %s\n", word, sc.stem(word))
	}
	must.Require(t, n >= 3000, "only %d words read", n)
	must.Equal(t, hex.EncodeToString(h.Sum(nil)), want, "hash over words and stems")
}

// TestStemLeavesAlone: tokens the stemmer must not see, and stems that would be empty.
func TestStemLeavesAlone(t *testing.T) {
	sc := newScanner().(*scanner)
	for _, token := range []string{"", "running2", "3.14", "étés", "straßes", "日本", "v1.2s", "cafés", "''s", "s'"} {
		must.Equal(t, sc.stem(token), token, "stem of")
	}
}

// TestImports: nothing with tables that change between releases may affect a term or an escape. The hash of a
// lexicon affects only if it looks, and no number.
func TestImports(t *testing.T) {
	allowed := []string{
		"embed",
		"errors", "fmt", "hash/maphash", "slices", "strconv", "strings", "sync", "unicode/utf8",
		"github.com/blevesearch/snowballstem", "github.com/blevesearch/snowballstem/english",
	}
	files, err := filepath.Glob("*.go")
	must.Require(t, err == nil && len(files) != 0, "no source files: %v", err)
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f := must.Get(parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly))(t)
		for _, spec := range f.Imports {
			path := strings.Trim(spec.Path.Value, `"`)
			must.True(t, slices.Contains(allowed, path), "%s imports %s", name, path)
		}
	}
}

func TestStopWords(t *testing.T) {
	for _, w := range strings.Fields("the a an and don't i'm you've themselves between won't") {
		must.True(t, isStopWord(w), "%q is no stop word", w)
	}
	for _, w := range strings.Fields("will may us never now time dont The I o'clock s t") {
		must.True(t, !isStopWord(w), "%q is a stop word", w)
	}
}

// TestKin reads every line of the table by Kin, and terms between, before and behind its lines.
func TestKin(t *testing.T) {
	a := analyzer(t, "en")
	lines := strings.Split(strings.TrimSuffix(kinTable, "\n"), "\n")
	// The ranking is this table, too: receipts of it are replayed by it for ever.
	const pinned = "e5199d1d6f8b6918cf2775406d501f679bb8bcd37dfa2a6980f283b563294671"
	must.Equal(t, fmt.Sprintf("%x", sha256.Sum256([]byte(kinTable))), pinned, "the table")
	if !slices.IsSorted(lines) || len(lines) < 5000 {
		t.Fatalf("%d lines, sorted: %v", len(lines), slices.IsSorted(lines))
	}
	for _, line := range lines {
		term, kin, _ := strings.Cut(line, " ")
		got := a.Kin(term)
		must.True(t, strings.Join(got, " ") == kin && kin != "", "kin of %q: %q, want %q", term, got, kin)
		for _, k := range got {
			must.True(t, slices.Contains(a.Kin(k), term), "%q is kindred to %q, and not the other way", k, term)
		}
		for _, none := range []string{term + "\x00", term + " ", strings.Repeat(term, 3), term + "\n" + kin} {
			if got := a.Kin(none); got != nil {
				t.Errorf("kin of %q: %q", none, got)
			}
		}
	}
	for _, none := range []string{"", " ", "\n", "\x00", "zzzz", "\xff"} {
		got := a.Kin(none)
		must.True(t, got == nil, "kin of %q: %q", none, got)
	}
	dog := a.Kin("dog")
	if !slices.Contains(dog, "pet") || slices.Contains(dog, "cat") {
		t.Errorf("kin of dog: %q", dog) // members of a class are not kin of each other
	}
	if bare, err := New("none"); err != nil || bare.Kin("dog") != nil {
		t.Errorf("kin without a language: %v, %v", bare.Kin("dog"), err)
	}
}
