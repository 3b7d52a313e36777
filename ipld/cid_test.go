package ipld_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/ipfs/go-cid"
	"github.com/multiformats/go-multihash"
	"pgregory.net/rapid"

	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/ipld/prime"
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
		must.True(t, ipld.IsLink(link), "% x is no link", link)
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

func TestFollow(t *testing.T) {
	var store blocks
	leaf := store.put(ipld.Raw, []byte("leaf"))
	child := store.put(ipld.DagCBOR, ipld.AppendValue(nil, ipld.MapValue(
		ipld.Entry{Key: "n", Value: ipld.IntValue(7)}, ipld.Entry{Key: "leaf", Value: ipld.LinkValue(leaf)})))
	root := store.put(ipld.DagCBOR, ipld.AppendValue(nil, ipld.MapValue(
		ipld.Entry{Key: "list", Value: ipld.ListValue(ipld.IntValue(1), ipld.LinkValue(child))},
		ipld.Entry{Key: "gone", Value: ipld.LinkValue(ipld.Sum(ipld.Raw, nil))})))
	for _, c := range []struct {
		path, want string
		last       ipld.CID
	}{
		{"list/0", "1", root}, {"list/1/n", "7", child}, {"/list/1/n/", "7", child},
		{"list/1/leaf", `{"/":{"bytes":"bGVhZg"}}`, leaf},
		{"list/1", `{"leaf":{"/":"` + leaf.String() + `"},"n":7}`, child},
	} {
		var b bytes.Buffer
		last, err := ipld.Follow(context.Background(), store.get, root, c.path, &b)
		must.True(t, err == nil && b.String() == c.want && last == c.last,
			"%s: %s in %s, %v; want %s in %s", c.path, &b, last, err, c.want, c.last)
	}
	for path, want := range map[string]error{
		"x": ipld.ErrPath, "list/2": ipld.ErrPath, "list/-1": ipld.ErrPath, "list/one": ipld.ErrPath,
		"list/0/x": ipld.ErrPath, "gone": errMissing, "list/1/leaf/x": ipld.ErrPath,
		strings.Repeat("a/", ipld.MaxPathSegments): ipld.ErrPath, strings.Repeat("a", ipld.MaxPath+1): ipld.ErrPath,
	} {
		var b bytes.Buffer
		_, err := ipld.Follow(context.Background(), store.get, root, path, &b)
		must.True(t, errors.Is(err, want) && b.Len() <= 0, "%.20s: %v, want %v; printed %q", path, err, want, &b)
	}
}

// TestFollowPrintsAsDAGJSON compares the output of Follow for whole blocks, of any values, with DAGJSON.
func TestFollowPrintsAsDAGJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := genValue(3).Draw(t, "value")
		var store blocks
		c := store.put(ipld.DagCBOR, ipld.AppendValue(nil, v))
		var want, got bytes.Buffer
		wantErr := ipld.DAGJSON(&want, c, store.data[c])
		_, err := ipld.Follow(context.Background(), store.get, c, "", &got)
		must.Require(t, got.String() == want.String() && (err == nil) == (wantErr == nil),
			"%s, %v; want %s, %v", &got, err, &want, wantErr)
	})
}
