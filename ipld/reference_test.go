package ipld_test

import (
	"bytes"
	"encoding/hex"
	"os"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/ipld"
)

// TestReference reads testdata/reference.txt: a line is a block in hex, a tab, and the DAG-JSON that
// go-ipld-prime's codecs print for it, empty if that loses a float.
func TestReference(t *testing.T) {
	text, err := os.ReadFile("testdata/reference.txt")
	if err != nil {
		t.Fatal(err)
	}
	cases, printed := 0, 0
	for line := range strings.Lines(string(text)) {
		blockHex, want, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		block, err := hex.DecodeString(blockHex)
		if !ok || err != nil {
			t.Fatalf("line %d: %v", cases+1, err)
		}
		cases++
		v, err := ipld.DecodeValue(block)
		if err != nil {
			t.Errorf("line %d: %v", cases, err)
			continue
		}
		if again := ipld.AppendValue(nil, v); !bytes.Equal(again, block) {
			t.Errorf("line %d: encoded as %x", cases, again)
		}
		if want == "" {
			continue
		}
		printed++
		theirs, err := ipld.ParseJSON([]byte(want))
		if err != nil {
			t.Errorf("line %d: %v", cases, err)
		} else if !theirs.Equal(v) {
			t.Errorf("line %d: %s reads as %s", cases, want, show(theirs))
		}
	}
	if cases != 100 || printed < 40 {
		t.Errorf("%d cases, %d of them printed", cases, printed)
	}
}
