package ipld_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
)

// nested returns depth lists or maps around null.
func nested(depth int, open string) []byte {
	return append(bytes.Repeat([]byte(open), depth), 0xf6)
}

func manyItems(n int, item string) []byte {
	return append(ipld.AppendList(nil, n), strings.Repeat(item, n)...)
}

// manyKeys returns a map of n entries with null under keys of three bytes.
func manyKeys(n int) []byte {
	b := ipld.AppendMap(nil, n)
	for i := range n {
		b = append(b, 0x63, byte(i>>14&0x7f), byte(i>>7&0x7f), byte(i&0x7f), 0xf6)
	}
	return b
}

func TestLimits(t *testing.T) {
	link := string(ipld.AppendLink(nil, ipld.Sum(ipld.Raw, nil)))
	links := (ipld.MaxBlock - 5) / len(link)
	cases := []struct {
		name, reason string
		block        []byte
	}{
		{"lists at the depth limit", "", nested(ipld.MaxDepth, "\x81")},
		{"lists over it", "deeper than 64", nested(ipld.MaxDepth+1, "\x81")},
		{"maps at the depth limit", "", nested(ipld.MaxDepth, "\xa1\x60")},
		{"maps over it", "deeper than 64", nested(ipld.MaxDepth+1, "\xa1\x60")},
		{"empty list over it", "deeper than 64", append(bytes.Repeat([]byte{0x81}, ipld.MaxDepth), 0x80)},
		{"empty map over it", "deeper than 64", append(bytes.Repeat([]byte{0x81}, ipld.MaxDepth), 0xa0)},
		{"as deep twice", "", append([]byte{0x82}, bytes.Repeat(nested(ipld.MaxDepth-1, "\x81"), 2)...)},
		{"a million lists", "deeper than 64", bytes.Repeat([]byte{0x81}, ipld.MaxBlock)},
		{"items at the limit", "", manyItems(ipld.MaxItems-1, "\x00")},
		{"items over it", "more than 131072", manyItems(ipld.MaxItems, "\x00")},
		{"keys at the limit", "", manyKeys((ipld.MaxItems - 1) / 2)},
		{"keys over it", "more than 131072", manyKeys(ipld.MaxItems / 2)},
		{"links are not items", "", manyItems(links, link)},
		{"block at the size limit", "", ipld.AppendBytes(nil, make([]byte, ipld.MaxBlock-5))},
		{"block over it", "limit 1048576", ipld.AppendBytes(nil, make([]byte, ipld.MaxBlock-4))},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			v, err := ipld.DecodeValue(c.block)
			if c.reason != "" {
				must.True(t, errors.Is(err, ipld.ErrInvalid) && strings.Contains(err.Error(), c.reason),
					"got %v, want %q", err, c.reason)
			} else if err != nil {
				t.Error(err)
			} else if !bytes.Equal(ipld.AppendValue(nil, v), c.block) {
				t.Error("encoded differently")
			}
			check := ipld.Check(c.block)
			must.True(t, (check == nil) == (err == nil), "Check: %v; DecodeValue: %v", check, err)
		})
	}
}

// TestDepthOfListsReadByHand: a reader that takes a list item by item refuses the blocks that
// Check refuses, and a list that is read leaves no level behind.
func TestDepthOfListsReadByHand(t *testing.T) {
	for _, depth := range []int{ipld.MaxDepth, ipld.MaxDepth + 1} {
		block := append([]byte{0x82}, bytes.Repeat(nested(depth-1, "\x81"), 2)...)
		d, err := ipld.NewDecoder(block)
		must.OK(t, err)
		n := must.Get(d.List())(t)
		for range n {
			if _, err = d.Value(); err != nil {
				break
			}
		}
		if err == nil {
			err = d.End()
		}
		check := ipld.Check(block)
		must.True(t, (check == nil) == (err == nil), "depth %d: read by hand: %v; Check: %v", depth, err, check)
	}
	// A hundred empty lists, one after the other, are two levels deep.
	flat := append([]byte{0x98, 100}, bytes.Repeat([]byte{0x80}, 100)...)
	must.OK(t, ipld.Check(flat))
}

// allocated returns the bytes that fn allocates.
func allocated(fn func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	fn()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// TestHostileHeads: a head's length is not allocated up front, and a block's memory is bounded.
func TestHostileHeads(t *testing.T) {
	zeros := string(make([]byte, ipld.MaxBlock-5))
	promises := map[string][]byte{
		"2^63 list items": unhex(t, "9b8000000000000000"),
		"2^63 entries":    unhex(t, "bb8000000000000000"),
		"1 GB string":     unhex(t, "7a40000000"),
		"1 GB bytes":      unhex(t, "5a40000000"),
		"a million items, then an error": append(binary.BigEndian.AppendUint32([]byte{0x9a},
			ipld.MaxBlock-6), "\xff"+zeros[1:]...),
		"half a million entries, then an error": append(binary.BigEndian.AppendUint32(
			[]byte{0xba}, (ipld.MaxBlock-6)/2), zeros...),
		"a million links, then none": append(binary.BigEndian.AppendUint32([]byte{0x9a},
			ipld.MaxBlock-6), zeros...),
	}
	readers := map[string]func(block []byte) error{
		"Check":       ipld.Check,
		"DecodeValue": func(b []byte) error { return must.Err(ipld.DecodeValue(b)) },
		"Decoder.Links": func(b []byte) error {
			d, err := ipld.NewDecoder(b)
			if err == nil {
				_, err = d.Links(1 << 30)
			}
			return err
		},
		"Links": func(b []byte) error {
			return ipld.Links(ipld.Sum(ipld.DagCBOR, nil), b, func(ipld.CID) error { return nil })
		},
	}
	for name, block := range promises {
		for how, read := range readers {
			var err error
			// Items before the error take memory: the largest list of zeros has MaxItems.
			limit := uint64(32 << 10)
			if how == "DecodeValue" && strings.HasPrefix(name, "a million links") {
				limit = 48 << 20
			}
			n := allocated(func() { err = read(block) })
			must.True(t, n <= limit, "%s of %s allocates %d bytes", how, name, n)
			must.Fail(t, err, ipld.ErrInvalid, how, " of ", name)
		}
	}
}

func TestDecodedMemory(t *testing.T) {
	for name, block := range map[string][]byte{
		"list":         manyItems(ipld.MaxItems-1, "\x60"),
		"map":          manyKeys((ipld.MaxItems - 1) / 2),
		"lists of one": manyItems(ipld.MaxItems/2-1, "\x81\x00"),
	} {
		var err error
		n := allocated(func() { _, err = ipld.DecodeValue(block) })
		must.True(t, err == nil && n <= 48<<20, "%s: %d bytes, %v", name, n, err)
	}
}

func TestCheckAllocations(t *testing.T) {
	block := ipld.AppendValue(nil, someValue())
	n := testing.AllocsPerRun(100, func() { must.OK(t, ipld.Check(block)) })
	must.True(t, n <= 1, "Check allocates %v times", n)
}
