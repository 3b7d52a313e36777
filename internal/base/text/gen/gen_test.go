package main

import (
	"bytes"
	"fmt"
	"os"
	"testing"
	"unicode"

	"github.com/mnem-project/mnem/internal/testkit/must"
)

// TestCommitted: the committed files equal this program's output. With another Unicode version they do not, and
// must not: the tables of a version never change.
func TestCommitted(t *testing.T) {
	want := must.Get(os.ReadFile("../testdata/tables.txt"))(t)
	header := fmt.Sprintf("# Tables of analyser version 1, from Unicode %s.\n", unicode.Version)
	if !bytes.HasPrefix(want, []byte(header)) {
		t.Skipf("the tables are from another Unicode version than %s", unicode.Version)
	}
	derived := must.Get(derive())(t)
	must.True(t, bytes.Equal(plainText(derived), want), "testdata/tables.txt differs from what is derived now")
	src := must.Get(goSource(derived))(t)
	want = must.Get(os.ReadFile("../tables.go"))(t)
	must.True(t, bytes.Equal(src, want), "tables.go differs from what is derived now")
	if size := len(src) + len(plainText(derived)); size > 400_000 {
		t.Errorf("generated files have %d bytes together, more than 400 kB", size)
	}
}

func TestPack(t *testing.T) {
	values := make([]int, 5*blockSize)
	values[0], values[2*blockSize], values[3*blockSize+7] = 1, 1, 9
	p := pack(values)
	must.Require(t, len(p.index) == 5 && len(p.blocks) == 3,
		"%d blocks of which %d differ, want 5 and 3", len(p.index), len(p.blocks))
	for i, want := range values {
		must.Equal(t, p.blocks[p.index[i/blockSize]][i%blockSize], want, "value ", i)
	}
}

func TestWriteFolds(t *testing.T) {
	fold := map[rune]string{'A': "a", 'B': "b", 'C': "c", 0xC0: "a", 0xDF: "ss"}
	var b bytes.Buffer
	writeFolds(&b, fold)
	want := "fold 0041 0043 +32\nfold 00C0 = 0061\nfold 00DF = 0073 0073\n"
	must.Equal(t, b.String(), want, "folds are written\n")
}

// TestKinCommitted: the committed table is made from the list.
func TestKinCommitted(t *testing.T) {
	list := must.Get(os.ReadFile("../kin.txt"))(t)
	want := must.Get(kinTable(string(list)))(t)
	got := must.Get(os.ReadFile("../kin.tab"))(t)
	must.Equal(t, string(got), want, "kin.tab is not what kin.txt makes: run go generate")
}

func TestKinTable(t *testing.T) {
	got, err := kinTable("# said\n\npets: dog cats\nrun running ran\nRan sprint\n")
	const want = "cat pet\ndog pet\npet cat dog\nran run sprint\nrun ran\nsprint ran\n"
	must.OK(t, err)
	must.Equal(t, got, want)
	for _, bad := range []string{"one", "the pet", "pet:", "pet dog: cat", ": cat", "the: cat", "pet dog-house", "pet: the"} {
		if got, err := kinTable(bad); err == nil {
			t.Errorf("%q was read: %q", bad, got)
		}
	}
}
