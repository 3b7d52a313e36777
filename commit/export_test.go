package commit

import (
	"bytes"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
)

// ascending are n links in the order of their bytes.
func ascending(n int) []ipld.CID {
	var links []ipld.CID
	for i := range n {
		b := append([]byte{1, 0x71, 0x12, 0x20, byte(i)}, make([]byte, 31)...)
		c, err := ipld.CIDFromBytes(b)
		if err != nil {
			panic(err)
		}
		links = append(links, c)
	}
	return links
}

func goldenExport() *Export {
	return &Export{
		Scope: ScopeRange, Format: ExportFormat, Refs: link("refs"), Head: "refs/heads/main",
		Objects: ascending(2), Since: ascending(1),
	}
}

// FuzzDecodeExport checks that whatever decodes, encodes to the same bytes.
func FuzzDecodeExport(f *testing.F) {
	f.Add(goldenExport().Encode())
	f.Fuzz(func(t *testing.T, block []byte) {
		e, err := DecodeExport(block)
		if err != nil {
			must.Fail(t, err, ipld.ErrInvalid)
			return
		}
		if got := e.Encode(); !bytes.Equal(got, block) {
			t.Fatalf("encodes to %x", got)
		}
	})
}
