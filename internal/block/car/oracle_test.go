package car

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ipfs/go-cid"
	oracle "github.com/ipld/go-car/v2"
	"github.com/ipld/go-car/v2/storage"

	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/ipld/prime"
)

// randomBlocks makes blocks of many sizes, deterministically for a seed.
func randomBlocks(rng *rand.Rand) []block {
	var out []block
	for range 1 + rng.IntN(40) {
		data := make([]byte, rng.IntN(1<<rng.IntN(14)))
		for i := range data {
			data[i] = byte(rng.Uint32())
		}
		b := block{ipld.Sum(ipld.Raw, data), data}
		if rng.IntN(2) == 0 {
			b.data = ipld.AppendBytes(nil, data)
			b.cid = ipld.Sum(ipld.DagCBOR, b.data)
		}
		out = append(out, b)
	}
	return out
}

func roots(blocks []block, n int) []ipld.CID {
	var out []ipld.CID
	for _, b := range blocks[:min(n, len(blocks))] {
		out = append(out, b.cid)
	}
	return out
}

// TestAgainstGoCAR writes files with this package and with go-car: each reads the other's, and the bytes are equal.
func TestAgainstGoCAR(t *testing.T) {
	const seed = 7
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, seed))
	for range 50 {
		blocks := randomBlocks(rng)
		top := roots(blocks, 1+rng.IntN(3))
		ours := write(t, top, blocks...)
		theirs := writeTheirs(t, top, blocks)
		if !bytes.Equal(ours, theirs) {
			t.Fatalf("%d bytes here, %d there", len(ours), len(theirs))
		}
		readTheirs(t, ours, top, blocks)
		got, back, err := read(bytes.NewReader(theirs))
		if err != nil || len(got) != len(top) || len(back) != len(blocks) {
			t.Fatalf("%d roots, %d blocks, %v", len(got), len(back), err)
		}
	}
}

func writeTheirs(t *testing.T, top []ipld.CID, blocks []block) []byte {
	t.Helper()
	var out bytes.Buffer
	var cids []cid.Cid
	for _, c := range top {
		cids = append(cids, prime.Cid(c))
	}
	w, err := storage.NewWritable(&out, cids, oracle.WriteAsCarV1(true),
		oracle.AllowDuplicatePuts(true))
	must.OK(t, err)
	for _, b := range blocks {
		must.OK(t, w.Put(context.Background(), prime.Cid(b.cid).KeyString(), b.data))
	}
	must.OK(t, w.Finalize())
	return out.Bytes()
}

func readTheirs(t *testing.T, file []byte, top []ipld.CID, blocks []block) {
	t.Helper()
	r, err := oracle.NewBlockReader(bytes.NewReader(file))
	must.OK(t, err)
	if r.Version != 1 || len(r.Roots) != len(top) || r.Roots[0] != prime.Cid(top[0]) {
		t.Errorf("version %d, roots %v", r.Version, r.Roots)
	}
	for _, want := range blocks {
		b, err := r.Next()
		must.OK(t, err)
		if b.Cid() != prime.Cid(want.cid) || !bytes.Equal(b.RawData(), want.data) {
			t.Fatalf("block %s, want %s", b.Cid(), want.cid)
		}
	}
	_, err = r.Next()
	must.Fail(t, err, io.EOF)
}

// TestReadsCARv2 reads indexed version 2 files that go-car wrote, and refuses damaged ones.
func TestReadsCARv2(t *testing.T) {
	one := intBlock(1)
	var file memoryFile
	w, err := storage.NewWritable(&file, []cid.Cid{prime.Cid(one.cid)})
	must.OK(t, err)
	must.OK(t, w.Put(context.Background(), prime.Cid(one.cid).KeyString(), one.data))
	must.OK(t, w.Finalize())
	top, back, err := read(bytes.NewReader(file.data))
	if err != nil || len(top) != 1 || top[0] != one.cid || len(back) != 1 || !bytes.Equal(back[0].Data, one.data) {
		t.Fatalf("%v, %v, %v", top, back, err)
	}
	v1 := write(t, []ipld.CID{one.cid}, one)
	if !bytes.Contains(file.data, v1) || len(file.data) <= len(v1)+len(pragma)+headerV2 {
		t.Errorf("%d bytes, %d of them the CARv1 file: no index", len(file.data), len(v1))
	}
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
