package retrieve

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/mnem-project/mnem/ipld"
)

// recordVector is a block and what must come of it. The vectors were written by a program that
// does not know this package.
type recordVector struct {
	Input  struct{ Block string }
	Expect struct{ CID, JSON, Error string }
}

// TestSessionVectors decodes the blocks of clause 13.2.
func TestSessionVectors(t *testing.T) {
	files, err := filepath.Glob("../spec/vectors/session/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d vectors, %v", len(files), err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var v recordVector
		if err := json.Unmarshal(data, &v); err != nil {
			t.Fatal(err)
		}
		block, err := hex.DecodeString(v.Input.Block)
		if err != nil {
			t.Fatal(err)
		}
		s, err := DecodeSession(block)
		if v.Expect.Error != "" {
			if !errors.Is(err, ipld.ErrInvalid) {
				t.Errorf("%s: error %v, want %s", file, err, v.Expect.Error)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		if !slices.Equal(s.Encode(), block) ||
			ipld.Sum(ipld.DagCBOR, block).String() != v.Expect.CID {
			t.Errorf("%s: encodes to %x", file, s.Encode())
		}
	}
}
