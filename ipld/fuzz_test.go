package ipld_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/ipld/prime"
)

func addBlocks(f *testing.F) {
	accepted, refused := vectors(f)
	for _, block := range accepted {
		f.Add(block)
	}
	for _, block := range refused {
		f.Add(block)
	}
	f.Add(ipld.AppendValue(nil, someValue()))
	f.Add(nested(ipld.MaxDepth, "\x81"))
	f.Add(nested(ipld.MaxDepth+1, "\xa1\x60"))
}

func FuzzDecodeValue(f *testing.F) {
	addBlocks(f)
	f.Fuzz(func(t *testing.T, block []byte) {
		v, err := ipld.DecodeValue(block)
		if err != nil {
			must.Fail(t, err, ipld.ErrInvalid)
			return
		}
		if again := ipld.AppendValue(nil, v); !bytes.Equal(again, block) {
			t.Fatalf("encoded as %x", again)
		}
		if !ipld.HasJSON(v) {
			return
		}
		back, err := ipld.ParseJSON(ipld.AppendJSON(nil, v))
		if err != nil || !back.Equal(v) {
			t.Fatalf("%s came back from JSON as %s, %v", show(v), show(back), err)
		}
	})
}

// FuzzCheck: all readers of any block agree, and none changes it.
func FuzzCheck(f *testing.F) {
	addBlocks(f)
	f.Fuzz(func(t *testing.T, block []byte) {
		before := bytes.Clone(block)
		check := ipld.Check(block)
		v, err := ipld.DecodeValue(block)
		if (check == nil) != (err == nil) || check != nil && check.Error() != err.Error() {
			t.Fatalf("Check: %v; DecodeValue: %v", check, err)
		}
		links := 0
		c := ipld.Sum(ipld.DagCBOR, block)
		err = ipld.Links(c, block, func(ipld.CID) error { links++; return nil })
		must.Equal(t, check == nil, err == nil, "Check: ", check, "; Links: ", err)
		must.Equal(t, links, countLinks(v), "links")
		n, err := prime.Node(block)
		must.Equal(t, check == nil, err == nil, "Check: ", check, "; Node: ", err)
		must.Require(t, err != nil || fromNode(t, n).Equal(v), "node differs from value")
		must.Require(t, bytes.Equal(block, before), "block changed")
	})
}

func countLinks(v ipld.Value) int {
	n := 0
	if v.Kind() == ipld.Link {
		n++
	}
	for _, item := range v.List() {
		n += countLinks(item)
	}
	for _, e := range v.Entries() {
		n += countLinks(e.Value)
	}
	return n
}

func FuzzParseCID(f *testing.F) {
	for _, s := range []string{
		"", emptyText, ipld.Sum(ipld.DagCBOR, nil).String(), strings.ToUpper(emptyText),
		emptyText[:58] + "v", emptyText[:57] + "\r\n", "QmdfTbBqBPQ7VNxZEYEj14VmRuZBkqFbiwReogJgS1zR1n",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		c, err := ipld.ParseCID(s)
		if err != nil {
			must.Require(t, errors.Is(err, ipld.ErrCID) && !c.Defined(), "%s, %v", c, err)
			return
		}
		must.Equal(t, c.String(), s, "is a second spelling of")
		must.Equal(t, prime.Cid(c).String(), s, "is a second spelling of")
	})
}

func FuzzDecodeRecord(f *testing.F) {
	addBlocks(f)
	s := sample{id: []byte{1}, ref: ipld.Sum(ipld.Raw, nil), name: "n", props: someValue(),
		links: []ipld.CID{ipld.Sum(ipld.Raw, nil)}}
	f.Add(s.encode())
	s.extra = []ipld.Entry{{Key: "a", Value: ipld.ListValue(someValue())}, {Key: "zz"}}
	f.Add(s.encode())
	f.Fuzz(func(t *testing.T, block []byte) {
		var extra []ipld.Entry
		_, err := ipld.ReadRecord(block, &extra, only("sample", &extra), nil)
		typed, typedErr := decodeSample(block)
		if err != nil {
			must.Require(t, errors.Is(err, ipld.ErrInvalid) && typedErr != nil,
				"generic reader: %v; typed reader: %v", err, typedErr)
			return
		}
		must.OK(t, ipld.Check(block), "record is not canonical")
		must.Equal(t, ipld.RecordKind(block), "sample", "record without a kind")
		must.Equal(t, ipld.PeekKind(block), "sample", "record without a kind")
		if again := ipld.WriteRecord(0, only("sample", &extra)); !bytes.Equal(again, block) {
			t.Fatalf("written as %x", again)
		}
		// A typed writer writes every field; what it read it writes back unchanged.
		if typedErr == nil && len(extra) == len(typed.extra)+6 && typed.name != "" {
			again := typed.encode()
			must.Require(t, bytes.Equal(again, block), "typed writer wrote %x", again)
		}
	})
}

func FuzzParseJSON(f *testing.F) {
	for _, s := range []string{
		"", "null", "-0", "-0.0", "1e400", "9223372036854775808", `"\ud800"`, `{"a":1,"a":2}`,
		`{"/":"` + emptyText + `"}`, `{"/":{"bytes":"/w"}}`, `{"/":{"bytes":"/w==","x":[{}]}}`,
		`{"bb":[1,2.5e-7,{"a":{"/":{"bytes":""}}}],"a":"\u2028\\"}`, "1 2", "\"\xff\"", "[[[]]]]",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		before := bytes.Clone(text)
		v, err := ipld.ParseJSON(text)
		must.Require(t, bytes.Equal(text, before), "input changed")
		if err != nil {
			var je *ipld.JSONError
			must.Require(t, errors.As(err, &je) && je.Offset >= 0 && je.Offset <= int64(len(text)),
				"bad error %v", err)
			return
		}
		must.Require(t, ipld.HasJSON(v), "parsed, but has no JSON form")
		if block := ipld.AppendValue(nil, v); len(block) <= ipld.MaxBlock {
			must.OK(t, ipld.Check(block))
		}
		out := ipld.AppendJSON(nil, v)
		again, err := ipld.ParseJSON(out)
		if err != nil || !again.Equal(v) {
			t.Fatalf("%s came back as %s, %v", out, show(again), err)
		}
	})
}
