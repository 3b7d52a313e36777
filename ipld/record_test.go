package ipld_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/mnem-project/mnem/internal/testkit/cases"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
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

func (s *sample) fields(r *ipld.Record) {
	r.Begin("sample", 1, &s.extra)
	r.Bytes("id", &s.id)
	r.OptLink("ref", &s.ref)
	r.OptString("name", &s.name)
	r.Int("count", &s.count)
	r.Links("links", &s.links, 0, 10)
	r.Value("props", &s.props)
}

func (s *sample) encode() []byte { return ipld.WriteRecord(0, s.fields) }

func decodeSample(block []byte) (*sample, error) {
	s := new(sample)
	return ipld.ReadRecord(block, s, s.fields, nil)
}

// only is a record with no fields but unknown ones.
func only(kind string, extra *[]ipld.Entry) func(*ipld.Record) {
	return func(r *ipld.Record) { r.Begin(kind, 1, extra) }
}

func TestRecordKeepsUnknownFields(t *testing.T) {
	known := ipld.FieldNames(new(sample).fields)
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
		block := want.encode()
		must.OK(t, ipld.Check(block))
		got := must.Get(decodeSample(block))(t)
		must.Require(t, len(got.extra) == len(unknown), "%d unknown fields, want %d", len(got.extra), len(unknown))
		if again := got.encode(); !bytes.Equal(again, block) {
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
		block := ipld.WriteRecord(0, only("k", &extra))
		var got []ipld.Entry
		_, err := ipld.ReadRecord(block, &got, only("k", &got), nil)
		switch fits := 1+2*(n+2) <= ipld.MaxItems; {
		case !fits && !errors.Is(err, ipld.ErrInvalid):
			t.Errorf("%d extra fields: %v", n, err)
		case fits && (err != nil || len(got) != n):
			t.Errorf("%d extra fields: read %d, %v", n, len(got), err)
		}
	}
}

func TestRecordRefused(t *testing.T) {
	entry := func(key string, v ipld.Value) ipld.Entry { return ipld.Entry{Key: key, Value: v} }
	record := func(entries ...ipld.Entry) []byte { return ipld.AppendValue(nil, ipld.MapValue(entries...)) }
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
		{"a field missing", "count: missing", "sample", record(v, kind, entry("id", ipld.BytesValue(nil)))},
		{"bad known field", "want an integer", "sample", record(kind, v, entry("id", ipld.BytesValue(nil)), entry("count", ipld.Value{}))},
		{"too many links", "limit 10", "sample", record(kind, v, entry("links", ipld.ListValue(
			make([]ipld.Value, 11)...)))},
		{"block too large", "limit 1048576", "", make([]byte, ipld.MaxBlock+1)},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := decodeSample(c.block)
			must.True(t, errors.Is(err, ipld.ErrInvalid) && strings.Contains(err.Error(), c.reason),
				"got %v, want %q", err, c.reason)
			must.Equal(t, ipld.RecordKind(c.block), c.kind, "kind")
			got := ipld.PeekKind(c.block)
			must.True(t, got == c.kind || ipld.Check(c.block) != nil, "kind %q by a peek, want %q", got, c.kind)
		})
	}
	whole := (&sample{props: ipld.Value{}}).encode()
	wanted := errors.New("enough")
	read := new(sample)
	_, err := ipld.ReadRecord(whole, read, read.fields, func() error { return wanted })
	must.Fail(t, err, wanted)
	must.Fail(t, must.Err(ipld.ReadRecord(whole, read, only("sample", nil), nil)), ipld.ErrInvalid)
}

// TestRecordOrder: a known field replaces an unknown one of its name, and fields out of order, which could never be read
// again, are not written.
func TestRecordOrder(t *testing.T) {
	n := int64(8)
	extra := []ipld.Entry{{Key: "a"}, {Key: "b", Value: ipld.IntValue(7)}}
	got := ipld.WriteRecord(0, func(r *ipld.Record) {
		r.Extra(&extra)
		r.Int("b", &n)
	})
	want := ipld.MapValue(ipld.Entry{Key: "a"}, ipld.Entry{Key: "b", Value: ipld.IntValue(8)})
	must.True(t, bytes.Equal(got, ipld.AppendValue(nil, want)), "got %x", got)
	for _, keys := range [][2]string{{"kind", "v"}, {"b", "a"}, {"a", "a"}} {
		must.True(t, panics(func() {
			ipld.WriteRecord(0, func(r *ipld.Record) {
				r.Int(keys[0], &n)
				r.Int(keys[1], &n)
			})
		}), "%v written", keys)
	}
}

func panics(fn func()) (did bool) {
	defer func() { did = recover() != nil }()
	fn()
	return false
}

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	return must.Get(hex.DecodeString(strings.ReplaceAll(s, " ", "")))(t)
}

func show(v ipld.Value) string { return v.Kind().String() + " " + string(ipld.AppendJSON(nil, v)) }

// vectors returns the blocks of the conformance vectors of the codec that are accepted, and those that are refused, by
// name, without the largest. Package spec holds that they are.
func vectors(t testing.TB) (accepted, refused map[string][]byte) {
	t.Helper()
	accepted, refused = map[string][]byte{}, map[string][]byte{}
	for _, c := range cases.Read(t, filepath.Join("..", "spec", "vectors", "codec.jsonl")) {
		var in struct{ Block string }
		must.OK(t, json.Unmarshal(c.Input, &in))
		switch block := cases.Bytes(t, in.Block); {
		case len(block) > 4096:
		case c.Fails == "":
			accepted[c.Name] = block
		default:
			refused[c.Name] = block
		}
	}
	must.Require(t, len(accepted) >= 40 && len(refused) >= 60,
		"%d vectors are accepted and %d refused", len(accepted), len(refused))
	return accepted, refused
}

// TestRefusedAt: both readers name the same byte.
func TestRefusedAt(t *testing.T) {
	for block, offset := range map[string]int{
		"": 0, "1801": 0, "9f01ff": 0, "a2616201616102": 4, "81a2616201616102": 5, "a260016002": 3, "a10101": 1, "0100": 1,
		"a161ff01": 1, "8281f6": 3, "a16161": 3, "8201": 0,
	} {
		_, err := ipld.DecodeValue(unhex(t, block))
		for _, err := range []error{err, ipld.Check(unhex(t, block))} {
			var de *ipld.DecodeError
			must.True(t, errors.As(err, &de) && errors.Is(err, ipld.ErrInvalid) && de.Offset == offset,
				"%s: %v, want one at byte %d", block, err, offset)
		}
	}
}

// TestTypedReaders makes sure that each reader refuses every item of another kind.
func TestTypedReaders(t *testing.T) {
	readers := map[string]func(d *ipld.Decoder) error{
		"int":    func(d *ipld.Decoder) error { return must.Err(d.Int()) },
		"string": func(d *ipld.Decoder) error { return must.Err(d.String()) },
		"bytes":  func(d *ipld.Decoder) error { return must.Err(d.Bytes()) },
		"bool":   func(d *ipld.Decoder) error { return must.Err(d.Bool()) },
		"link":   func(d *ipld.Decoder) error { return must.Err(d.Link()) },
		"list":   func(d *ipld.Decoder) error { return must.Err(d.List()) },
		"map":    func(d *ipld.Decoder) error { return d.Map(func(string) error { return d.Skip() }) },
	}
	accepted, _ := vectors(t)
	for kind, read := range readers {
		for name, block := range accepted {
			d := must.Get(ipld.NewDecoder(block))(t)
			want := must.Get(ipld.DecodeValue(block))(t)
			err := read(d)
			must.Equal(t, want.Kind().String() == kind, err == nil, kind, " reader on ", name, ": ", err)
			must.True(t, err == nil || errors.Is(err, ipld.ErrInvalid),
				"%s reader on %s: untyped error %v", kind, name, err)
		}
	}
}
