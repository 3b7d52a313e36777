package ipld_test

import (
	"bytes"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
)

// TestIsLink compares with the decoder, of links with each byte changed, cut and added.
func TestIsLink(t *testing.T) {
	check := func(item []byte) {
		t.Helper()
		v, err := ipld.DecodeValue(item)
		if want := err == nil && v.Kind() == ipld.Link; ipld.IsLink(item) != want {
			t.Errorf("% x: IsLink is %v, decoded as %v, %v", item, !want, v.Kind(), err)
		}
	}
	for _, codec := range []ipld.Codec{ipld.Raw, ipld.DagCBOR} {
		link := ipld.AppendLink(nil, ipld.Sum(codec, []byte("x")))
		check(link)
		must.Check(t, ipld.IsLink(link), "% x is no link", link)
		for i := range link {
			for b := range 256 {
				changed := bytes.Clone(link)
				changed[i] = byte(b)
				check(changed)
			}
			check(link[:i])
		}
		check(append(bytes.Clone(link), 0))
	}
	check(nil)
	check(ipld.AppendBytes(nil, make([]byte, 39)))
}
