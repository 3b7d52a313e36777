package car

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/ipfs/go-cid"
	oracle "github.com/ipld/go-car/v2"
	"github.com/ipld/go-car/v2/storage"

	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/ipld/prime"
)

// randomBlocks makes blocks of many sizes; the same seed makes the same.
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

// TestAgainstGoCAR writes files here and there: both read both, and the bytes are the same.
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
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range blocks {
		if err := w.Put(context.Background(), prime.Cid(b.cid).KeyString(), b.data); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Finalize(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func readTheirs(t *testing.T, file []byte, top []ipld.CID, blocks []block) {
	t.Helper()
	r, err := oracle.NewBlockReader(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	if r.Version != 1 || len(r.Roots) != len(top) || r.Roots[0] != prime.Cid(top[0]) {
		t.Errorf("version %d, roots %v", r.Version, r.Roots)
	}
	for _, want := range blocks {
		b, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		if b.Cid() != prime.Cid(want.cid) || !bytes.Equal(b.RawData(), want.data) {
			t.Fatalf("block %s, want %s", b.Cid(), want.cid)
		}
	}
	if _, err := r.Next(); !errors.Is(err, io.EOF) {
		t.Errorf("after the last block: %v", err)
	}
}

// TestRefusesCARv2 reads a version 2 file that go-car wrote.
func TestRefusesCARv2(t *testing.T) {
	one := intBlock(1)
	var file memoryFile
	w, err := storage.NewWritable(&file, []cid.Cid{prime.Cid(one.cid)})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Put(context.Background(), prime.Cid(one.cid).KeyString(), one.data); err != nil {
		t.Fatal(err)
	}
	if err := w.Finalize(); err != nil {
		t.Fatal(err)
	}
	var bad *FormatError
	if _, _, err := read(bytes.NewReader(file.data)); !errors.As(err, &bad) ||
		bad.Reason != "the file is a CARv2; only CARv1 is read" {
		t.Errorf("%v", err)
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
