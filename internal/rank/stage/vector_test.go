package stage

import (
	"errors"
	"slices"
	"testing"

	"github.com/mnem-project/mnem/internal/cases"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// TestSessionVectors decodes the blocks of clause 13.2. The vectors were written by a program that
// does not know this package.
func TestSessionVectors(t *testing.T) {
	for _, v := range cases.Read(t, "../../../spec/vectors/session.jsonl") {
		var in struct{ Block string }
		cases.Parse(t, v.Input, &in)
		block := cases.Bytes(t, in.Block)
		s, err := retrieve.DecodeSession(block)
		if v.Fails != "" {
			if !errors.Is(err, ipld.ErrInvalid) {
				t.Errorf("%s: error %v, want %s", v.Path(), err, v.Fails)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", v.Path(), err)
			continue
		}
		var want struct{ CID, JSON string }
		cases.Parse(t, v.Expect, &want)
		if !slices.Equal(s.Encode(), block) || ipld.Sum(ipld.DagCBOR, block).String() != want.CID {
			t.Errorf("%s: encodes to %x", v.Path(), s.Encode())
		}
	}
}
