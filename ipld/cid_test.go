package ipld_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/ipfs/go-cid"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/ipld/prime"
	"github.com/multiformats/go-multibase"
	"github.com/multiformats/go-multihash"
	"pgregory.net/rapid"
)

const emptyText = "bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku"

func TestCIDAgreesWithGoCid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data := rapid.SliceOf(rapid.Byte()).Draw(t, "data")
		codec := rapid.SampledFrom([]ipld.Codec{ipld.Raw, ipld.DagCBOR}).Draw(t, "codec")
		c := ipld.Sum(codec, data)
		hash := must.Get(multihash.Sum(data, multihash.SHA2_256, -1))(t)
		theirs := cid.NewCidV1(uint64(codec), hash)
		must.Require(t, theirs.String() == c.String() && bytes.Equal(theirs.Bytes(), c.Bytes()),
			"got %s, go-cid has %s", c, theirs)
		must.Require(t, prime.Cid(c) == theirs && c.Codec() == codec && c.Digest() == [32]byte(hash[2:]),
			"parts differ")
		for name, read := range map[string]func() (ipld.CID, error){
			"text":   func() (ipld.CID, error) { return ipld.ParseCID(theirs.String()) },
			"bytes":  func() (ipld.CID, error) { return ipld.CIDFromBytes(theirs.Bytes()) },
			"go-cid": func() (ipld.CID, error) { return prime.FromCid(theirs) },
		} {
			must.Equal(t, must.Get(read())(t), c, "from ", name)
		}
	})
}

// TestCIDSpellings refuses every spelling of one CID but the canonical one.
func TestCIDSpellings(t *testing.T) {
	c := ipld.Sum(ipld.Raw, nil)
	must.Equal(t, c.String(), emptyText, "got ", c)
	spelled := []string{
		"", "b", "bafk", strings.ToUpper(emptyText), "B" + strings.ToUpper(emptyText[1:]),
		"b" + strings.ToUpper(emptyText[1:]), emptyText[:58], emptyText + "a", emptyText + "=",
		emptyText + "\n", emptyText[:57] + "\r\n", "\n" + emptyText[:58], " " + emptyText[:58],
		emptyText[:30] + "\n" + emptyText[31:], emptyText[:58] + "v", emptyText[:58] + "1",
		"/ipfs/" + emptyText, emptyText + "/", strings.Repeat("b", 1<<20), "\xff" + emptyText[1:],
		"bafybeihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku", // dag-pb
		"QmdfTbBqBPQ7VNxZEYEj14VmRuZBkqFbiwReogJgS1zR1n",              // version 0
	}
	for _, base := range []multibase.Encoding{
		multibase.Base16, multibase.Base16Upper, multibase.Base32Upper, multibase.Base32pad,
		multibase.Base32hex, multibase.Base36, multibase.Base58BTC, multibase.Base64,
		multibase.Base64url, multibase.Identity,
	} {
		s := must.Get(prime.Cid(c).StringOfBase(base))(t)
		spelled = append(spelled, s)
	}
	for _, s := range spelled {
		got, err := ipld.ParseCID(s)
		if !errors.Is(err, ipld.ErrCID) {
			t.Errorf("%.80q: got %s, %v", s, got, err)
		} else if len(err.Error()) > 500 {
			t.Errorf("%.80q: error of %d bytes", s, len(err.Error()))
		}
	}
}
