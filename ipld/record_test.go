package ipld_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
	"pgregory.net/rapid"
)

// sample is a record with a field of each kind; name is optional.
type sample struct {
	id    []byte
	ref   ipld.CID
	name  string
	links []ipld.CID
	count int64
	props ipld.Value
	extra []ipld.Entry
}

func (s *sample) encode(buf []byte) []byte {
	w := ipld.NewRecord(buf, s.extra)
	w.Version(1)
	w.Bytes("id", s.id)
	w.OptLink("ref", s.ref)
	w.Kind("sample")
	w.OptString("name", s.name)
	w.Int("count", s.count)
	w.Links("links", s.links)
	w.Value("props", s.props)
	return w.Finish()
}

func decodeSample(block []byte) (*sample, error) {
	var s sample
	var err error
	s.extra, err = ipld.DecodeRecord(block, "sample", 1, s.field)
	if err != nil {
		return nil, err
	}
	return &s, nil
}

func (s *sample) field(key string, d *ipld.Decoder) (known bool, err error) {
	switch key {
	case "id":
		s.id, err = d.Bytes()
	case "ref":
		s.ref, err = d.Link()
	case "name":
		s.name, err = d.String()
	case "count":
		s.count, err = d.Int()
	case "links":
		s.links, err = d.Links(10)
	case "props":
		s.props, err = d.Value()
	default:
		return false, nil
	}
	return true, err
}

func TestRecordKeepsUnknownFields(t *testing.T) {
	known := []string{"v", "id", "ref", "kind", "name", "count", "links", "props"}
	rapid.Check(t, func(t *rapid.T) {
		fields := rapid.MapOfN(genString(), genValue(1), 0, 40).Draw(t, "unknown")
		for _, key := range known {
			delete(fields, key)
		}
		var unknown []ipld.Entry
		for key, v := range fields {
			unknown = append(unknown, ipld.Entry{Key: key, Value: v})
		}
		ipld.SortEntries(unknown)
		want := sample{
			id: []byte{1, 2}, ref: genCID().Draw(t, "ref"), count: rapid.Int64().Draw(t, "count"),
			name:  rapid.String().Draw(t, "name"),
			links: rapid.SliceOfN(genCID(), 0, 10).Draw(t, "links"),
			props: genValue(1).Draw(t, "props"), extra: unknown,
		}
		prefix := []byte("before")
		buf := want.encode(prefix)
		block, ok := bytes.CutPrefix(buf, prefix)
		if !ok {
			t.Fatalf("prefix lost: %x", buf)
		}
		must.OK(t, ipld.Check(block))
		got, err := decodeSample(block)
		must.OK(t, err)
		if len(got.extra) != len(unknown) {
			t.Fatalf("%d unknown fields, want %d", len(got.extra), len(unknown))
		}
		if again := got.encode(nil); !bytes.Equal(again, block) {
			t.Fatalf("read and written:\n%x\nwas\n%x", again, block)
		}
		must.Equal(t, ipld.RecordKind(block), "sample", "kind")
	})
}

// TestRecordHead crosses every width of the map's head.
func TestRecordHead(t *testing.T) {
	for _, n := range []int{0, 1, 21, 22, 253, 254, 255, 1000, 65533, 65534, 65535} {
		var extra []ipld.Entry
		for i := range n {
			extra = append(extra, ipld.Entry{Key: fmt.Sprintf("key-%06d", i)})
		}
		w := ipld.NewRecord(nil, extra)
		w.Version(1)
		w.Kind("k")
		block := w.Finish()
		got, err := ipld.DecodeRecord(block, "k", 1, nothingKnown)
		switch fits := 1+2*(n+2) <= ipld.MaxItems; {
		case !fits && !errors.Is(err, ipld.ErrInvalid):
			t.Errorf("%d extra fields: %v", n, err)
		case fits && (err != nil || len(got) != n):
			t.Errorf("%d extra fields: read %d, %v", n, len(got), err)
		}
	}
}

func nothingKnown(string, *ipld.Decoder) (bool, error) { return false, nil }

func TestRecordRefused(t *testing.T) {
	entry := func(key string, v ipld.Value) ipld.Entry { return ipld.Entry{Key: key, Value: v} }
	record := func(entries ...ipld.Entry) []byte {
		return ipld.AppendValue(nil, ipld.MapValue(entries...))
	}
	kind, v := entry("kind", ipld.StringValue("sample")), entry("v", ipld.IntValue(1))
	cases := []struct {
		name, reason, kind string
		block              []byte
	}{
		{"not a map", "major type", "", []byte{0x80}},
		{"empty block", "unexpected end", "", nil},
		{"empty map", "no kind or version", "", record()},
		{"no version", "no kind or version", "", record(kind)},
		{"no kind", "no kind or version", "", record(v)},
		{"another kind", `kind "other"`, "other", record(v, entry("kind", ipld.StringValue("other")))},
		{"kind is bytes", "major type", "", record(v, entry("kind", ipld.BytesValue([]byte("s"))))},
		{"another version", "version 2", "sample", record(kind, entry("v", ipld.IntValue(2)))},
		{"version is a string", "integer", "", record(kind, entry("v", ipld.StringValue("1")))},
		{"trailing byte", "trailing", "", append(record(kind, v), 0)},
		{"bad known field", "want an integer", "sample", record(kind, v, entry("count", ipld.Value{}))},
		{"too many links", "limit 10", "sample", record(kind, v, entry("links", ipld.ListValue(
			make([]ipld.Value, 11)...)))},
		{"block too large", "limit 1048576", "", make([]byte, ipld.MaxBlock+1)},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := decodeSample(c.block)
			if !errors.Is(err, ipld.ErrInvalid) || !strings.Contains(err.Error(), c.reason) {
				t.Errorf("got %v, want %q", err, c.reason)
			}
			must.Equal(t, ipld.RecordKind(c.block), c.kind, "kind")
			if got := ipld.PeekKind(c.block); got != c.kind && ipld.Check(c.block) == nil {
				t.Errorf("kind %q by a peek, want %q", got, c.kind)
			}
		})
	}
	wanted := errors.New("enough")
	_, err := ipld.DecodeRecord(record(kind, v, entry("zzzzz", ipld.Value{})), "sample", 1,
		func(string, *ipld.Decoder) (bool, error) { return true, wanted })
	must.Fail(t, err, wanted)
}

// TestRecordWriterOrder: a known field replaces an unknown one of its name, and fields out of order, which could never
// be read again, are not written.
func TestRecordWriterOrder(t *testing.T) {
	w := ipld.NewRecord(nil, []ipld.Entry{{Key: "a"}, {Key: "b", Value: ipld.IntValue(7)}})
	w.Int("b", 8)
	want := ipld.MapValue(ipld.Entry{Key: "a"}, ipld.Entry{Key: "b", Value: ipld.IntValue(8)})
	if got := w.Finish(); !bytes.Equal(got, ipld.AppendValue(nil, want)) {
		t.Errorf("got %x", got)
	}
	for _, keys := range [][2]string{{"kind", "v"}, {"b", "a"}, {"a", "a"}} {
		if !panics(func() {
			w := ipld.NewRecord(nil, nil)
			w.Int(keys[0], 1)
			w.Int(keys[1], 1)
		}) {
			t.Errorf("%v written", keys)
		}
	}
}

func panics(fn func()) (did bool) {
	defer func() { did = recover() != nil }()
	fn()
	return false
}
