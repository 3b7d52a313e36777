package ipld_test

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/cases"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
)

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
			must.Check(t, errors.As(err, &de) && errors.Is(err, ipld.ErrInvalid) && de.Offset == offset,
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
		"map": func(d *ipld.Decoder) error {
			return d.Map(func(string) error { return d.Skip() })
		},
	}
	accepted, _ := vectors(t)
	for kind, read := range readers {
		for name, block := range accepted {
			d := must.Get(ipld.NewDecoder(block))(t)
			want := must.Get(ipld.DecodeValue(block))(t)
			err := read(d)
			must.Equal(t, want.Kind().String() == kind, err == nil, kind, " reader on ", name, ": ", err)
			must.Check(t, err == nil || errors.Is(err, ipld.ErrInvalid),
				"%s reader on %s: untyped error %v", kind, name, err)
		}
	}
}
