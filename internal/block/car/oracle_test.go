package car

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"github.com/ipfs/go-cid"
	"github.com/ipld/go-car/v2/storage"

	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/ipld/prime"
)

// TestReadsCARv2 reads indexed version 2 files that go-car wrote, and refuses damaged ones.
func TestReadsCARv2(t *testing.T) {
	one := intBlock(1)
	var file memoryFile
	w := must.Get(storage.NewWritable(&file, []cid.Cid{prime.Cid(one.cid)}))(t)
	must.OK(t, w.Put(context.Background(), prime.Cid(one.cid).KeyString(), one.data))
	must.OK(t, w.Finalize())
	top, back, err := read(bytes.NewReader(file.data))
	if err != nil || len(top) != 1 || top[0] != one.cid || len(back) != 1 || !bytes.Equal(back[0].Data, one.data) {
		t.Fatalf("%v, %v, %v", top, back, err)
	}
	v1 := write(t, []ipld.CID{one.cid}, one)
	must.Check(t, bytes.Contains(file.data, v1) && len(file.data) > len(v1)+len(pragma)+headerV2,
		"%d bytes, %d of them the CARv1 file: no index", len(file.data), len(v1))
	wrapped := func(first, size uint64, rest ...[]byte) []byte {
		out := append([]byte(pragma), make([]byte, characteristics)...)
		for _, n := range []uint64{first, size, 0} {
			out = binary.LittleEndian.AppendUint64(out, n)
		}
		return append(out, bytes.Join(rest, nil)...)
	}
	size := uint64(len(v1))
	padded := wrapped(60, size, make([]byte, 9), v1, []byte("what follows is not read"))
	if _, back, err := read(bytes.NewReader(padded)); err != nil || len(back) != 1 {
		t.Errorf("with padding: %v, %v", back, err)
	}
	for name, c := range map[string]struct {
		file   []byte
		reason string
	}{
		"a pragma alone":  {[]byte(pragma), "ends inside a header"},
		"blocks too soon": {wrapped(50, size, v1), "from byte 50 on"},
		"no end":          {wrapped(51, 0, v1), "in 0 bytes"},
		"far away":        {wrapped(1<<63, size, v1), "from byte 9223372036854775808 on"},
		"beyond the end":  {wrapped(5000, size, v1), "ends inside a header"},
		"cut":             {wrapped(51, size+9, v1), "ends 9 bytes before"},
		"too short":       {wrapped(51, size-1, v1), "ends inside a section"},
		"one in another":  {wrapped(51, size+51, wrapped(51, size, v1)), "a CARv2 header where"},
		"another block":   {wrapped(51, size, v1[:len(v1)-1], []byte{2}), "the bytes are those of"},
	} {
		var bad *FormatError
		if _, _, err := read(bytes.NewReader(c.file)); !errors.As(err, &bad) || !strings.Contains(bad.Reason, c.reason) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// memoryFile is a file in memory.
type memoryFile struct{ data []byte }

func (f *memoryFile) Write(p []byte) (int, error) {
	f.data = append(f.data, p...)
	return len(p), nil
}

func (f *memoryFile) WriteAt(p []byte, off int64) (int, error) {
	if room := int(off) + len(p) - len(f.data); room > 0 {
		f.data = append(f.data, make([]byte, room)...)
	}
	return copy(f.data[off:], p), nil
}
