package spec_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"testing"

	"github.com/mnem-project/mnem/internal/text"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/store"
	"github.com/mnem-project/mnem/store/mem"
)

func same(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s:\n got %s\nwant %s", what, got, want)
	}
}

func runCodec(t *testing.T, v vector) {
	var in struct{ Block string }
	var want struct{ CID, JSON, Error string }
	parse(t, v.Input, &in)
	parse(t, v.Expect, &want)
	block := expand(t, in.Block)
	value, err := ipld.DecodeValue(block)
	if checkErr := ipld.Check(block); (checkErr == nil) != (err == nil) {
		t.Errorf("Check says %v, DecodeValue says %v", checkErr, err)
	}
	if refusal(t, v, err) {
		return
	}
	if !bytes.Equal(ipld.AppendValue(nil, value), block) {
		t.Error("encoding the decoded value gives other bytes")
	}
	same(t, "CID", ipld.Sum(ipld.DagCBOR, block).String(), want.CID)
	if want.JSON != "" {
		same(t, "JSON form", string(ipld.AppendJSON(nil, value)), want.JSON)
	}
}

func runCID(t *testing.T, v vector) {
	var in struct {
		Codec, Block string
		Text         *string
	}
	var want struct{ CID, Bytes, Error string }
	parse(t, v.Input, &in)
	parse(t, v.Expect, &want)
	var c ipld.CID
	var err error
	if in.Text != nil {
		c, err = ipld.ParseCID(*in.Text)
	} else {
		codec := map[string]ipld.Codec{"raw": ipld.Raw, "dag-cbor": ipld.DagCBOR}[in.Codec]
		b := store.NewBlock(codec, expand(t, in.Block))
		c, err = b.CID, mem.New().Facts().Put(t.Context(), b)
	}
	if refusal(t, v, err) {
		return
	}
	same(t, "CID", c.String(), want.CID)
	same(t, "bytes", hex.EncodeToString(c.Bytes()), want.Bytes)
	back, err := ipld.CIDFromBytes(c.Bytes())
	if err != nil || back != c {
		t.Errorf("reading the bytes gives %v, %v", back, err)
	}
}

func runJSON(t *testing.T, v vector) {
	var in struct{ Text, Hex string }
	var want struct{ Block, JSON, Error string }
	parse(t, v.Input, &in)
	parse(t, v.Expect, &want)
	data := []byte(in.Text)
	if in.Hex != "" {
		data = expand(t, in.Hex)
	}
	value, err := ipld.ParseJSON(data)
	if refusal(t, v, err) {
		return
	}
	if got := ipld.AppendValue(nil, value); !bytes.Equal(got, expand(t, want.Block)) {
		t.Errorf("dag-cbor %x, want %s", got, want.Block)
	}
	same(t, "JSON form", string(ipld.AppendJSON(nil, value)), want.JSON)
	again, err := ipld.ParseJSON([]byte(want.JSON))
	if err != nil || !again.Equal(value) {
		t.Errorf("reading what was written gives %v, %v", again, err)
	}
}

func runAnalysis(t *testing.T, v vector) {
	var in struct {
		Text, Escape       *string
		TextHex, EscapeHex string
		Language           string
		First, Last        rune
	}
	var want struct {
		Terms  []string
		Line   string
		Count  int
		SHA256 string
	}
	parse(t, v.Input, &in)
	parse(t, v.Expect, &want)
	pick := func(plain *string, hexed string) string {
		if plain != nil {
			return *plain
		}
		return string(expand(t, hexed))
	}
	if in.Escape != nil || in.EscapeHex != "" {
		same(t, "line", text.EscapeLine(pick(in.Escape, in.EscapeHex)), want.Line)
		return
	}
	a, err := text.New(in.Language)
	if err != nil {
		t.Fatal(err)
	}
	if in.Last > 0 {
		terms := a.Terms(planeText(in.First, in.Last))
		var joined []byte
		for _, term := range terms {
			joined = append(append(joined, term...), '\n')
		}
		digest := ipld.Sum(ipld.Raw, joined).Digest()
		same(t, "number of terms", fmt.Sprint(len(terms)), fmt.Sprint(want.Count))
		same(t, "digest", hex.EncodeToString(digest[:]), want.SHA256)
		return
	}
	same(t, "terms", fmt.Sprintf("%q", a.Terms(pick(in.Text, in.TextHex))),
		fmt.Sprintf("%q", want.Terms))
}

// planeText is all code points from first to last, a space after each that is divisible by 3.
func planeText(first, last rune) string {
	var out []rune
	for r := first; r <= last; r++ {
		if r < 0xd800 || r > 0xdfff {
			out = append(out, r)
			if r%3 == 0 {
				out = append(out, ' ')
			}
		}
	}
	return string(out)
}
