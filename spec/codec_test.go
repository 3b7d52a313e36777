package spec_test

import (
	"bytes"
	"encoding/hex"
	"testing"

	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
)

func same(t *testing.T, what, got, want string) {
	t.Helper()
	must.Equal(t, got, want, what, ":\n")
}

func runCodec(t *testing.T, v vector) {
	var in struct{ Block string }
	var want struct{ CID, JSON, Error string }
	parse(t, v.Input, &in)
	parse(t, v.Expect, &want)
	block := expand(t, in.Block)
	value, err := ipld.DecodeValue(block)
	checkErr := ipld.Check(block)
	must.True(t, (checkErr == nil) == (err == nil), "Check says %v, DecodeValue says %v", checkErr, err)
	if refusal(t, v, err) {
		return
	}
	must.True(t, bytes.Equal(ipld.AppendValue(nil, value), block), "encoding the decoded value gives other bytes")
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
	must.Equal(t, must.Get(ipld.CIDFromBytes(c.Bytes()))(t, "reading the bytes gives"), c, "reading the bytes gives")
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
	got := ipld.AppendValue(nil, value)
	must.True(t, bytes.Equal(got, expand(t, want.Block)), "dag-cbor %x, want %s", got, want.Block)
	same(t, "JSON form", string(ipld.AppendJSON(nil, value)), want.JSON)
	again, err := ipld.ParseJSON([]byte(want.JSON))
	must.True(t, err == nil && again.Equal(value), "reading what was written gives %v, %v", again, err)
}
