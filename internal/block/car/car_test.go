package car

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/ipfs/go-cid"
	"github.com/ipld/go-car/v2/storage"

	"github.com/mnem-project/mnem/internal/testkit/cases"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/ipld/prime"
)

// block is one block that tests write to files.
type block struct {
	cid  ipld.CID
	data []byte
}

func rawBlock(data string) block {
	return block{ipld.Sum(ipld.Raw, []byte(data)), []byte(data)}
}

func intBlock(n int64) block {
	data := ipld.AppendInt(nil, n)
	return block{ipld.Sum(ipld.DagCBOR, data), data}
}

func write(t testing.TB, roots []ipld.CID, blocks ...block) []byte {
	t.Helper()
	var out bytes.Buffer
	w := must.Get(NewWriter(&out, roots...))(t)
	for _, b := range blocks {
		must.OK(t, w.Put(b.cid, b.data))
	}
	must.OK(t, w.Flush())
	must.True(t, w.Blocks() == len(blocks) && w.Bytes() == int64(out.Len()),
		"%d blocks, %d bytes; wrote %d, %d", w.Blocks(), w.Bytes(), len(blocks), out.Len())
	return out.Bytes()
}

// read reads a whole file and returns its blocks, copied.
func read(in io.Reader) (roots []ipld.CID, blocks []Block, err error) {
	r, err := NewReader(in)
	if err != nil {
		return nil, nil, err
	}
	for {
		b, err := r.Next()
		if errors.Is(err, io.EOF) {
			return r.Roots(), blocks, nil
		}
		if err != nil {
			return r.Roots(), blocks, err
		}
		b.Data = bytes.Clone(b.Data)
		blocks = append(blocks, b)
	}
}

func TestReadBack(t *testing.T) {
	roots := []ipld.CID{intBlock(3).cid, rawBlock("absent").cid}
	put := []block{
		intBlock(3), rawBlock(""), rawBlock(strings.Repeat("x", 91)), rawBlock(strings.Repeat("y", 92)),
		rawBlock(strings.Repeat("z", ipld.MaxBlock)), intBlock(-1), intBlock(3),
	}
	file := write(t, roots, put...)
	for name, in := range map[string]io.Reader{
		"whole": bytes.NewReader(file), "bytes": iotest.OneByteReader(bytes.NewReader(file)),
	} {
		got, blocks, err := read(in)
		must.OK(t, err, name)
		must.True(t, len(got) == len(roots) && got[0] == roots[0] && got[1] == roots[1], "%s: roots %v", name, got)
		must.Require(t, len(blocks) == len(put), "%s: %d blocks, want %d", name, len(blocks), len(put))
		for i, b := range blocks {
			must.True(t, b.CID == put[i].cid && bytes.Equal(b.Data, put[i].data),
				"%s: block %d is %s of %d bytes", name, i, b.CID, len(b.Data))
			must.True(t, bytes.Equal(file[b.Start:b.Start+int64(len(b.Data))], b.Data),
				"%s: block %d is not at %d", name, i, b.Start)
			n, width := binary.Uvarint(file[b.Offset:])
			must.True(t, b.Offset+int64(width)+ipld.CIDLen == b.Start && n == uint64(ipld.CIDLen+len(b.Data)),
				"%s: section %d is not at %d", name, i, b.Offset)
		}
	}
}

func TestWriterRefuses(t *testing.T) {
	good := intBlock(1).cid
	for name, roots := range map[string][]ipld.CID{
		"no root": nil, "undefined root": {good, {}}, "too many": make([]ipld.CID, MaxRoots+1),
	} {
		must.True(t, must.Err(NewWriter(io.Discard, roots...)) != nil, "%s: accepted", name)
	}
	w := must.Get(NewWriter(io.Discard, good))(t)
	must.True(t, w.Put(ipld.CID{}, nil) != nil, "an undefined CID was accepted")
	must.True(t, w.Put(good, make([]byte, ipld.MaxBlock+1)) != nil, "a block over the limit was accepted")
	w = must.Get(NewWriter(failing{}, good))(t)
	must.Fail(t, w.Flush(), errDisk)
}

var errDisk = errors.New("disk full")

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errDisk }

// TestManyRoots reads a file with the largest allowed number of roots.
func TestManyRoots(t *testing.T) {
	roots := make([]ipld.CID, MaxRoots)
	for i := range roots {
		roots[i] = intBlock(int64(i)).cid
	}
	got, _, err := read(bytes.NewReader(write(t, roots)))
	must.True(t, err == nil && len(got) == MaxRoots && got[999] == roots[999], "%d roots, %v", len(got), err)
}

// section encodes a section whose length prefix is given separately and may be wrong.
func section(length string, content ...[]byte) []byte {
	head, err := hex.DecodeString(length)
	if err != nil {
		panic(err)
	}
	return append(head, bytes.Join(content, nil)...)
}

// TestReaderRefuses freezes where and why files are refused.
func TestReaderRefuses(t *testing.T) {
	cases.Golden(t, filepath.Join("testdata", "refused.jsonl"), func(t testing.TB, c cases.Case) any {
		var file string
		cases.Parse(t, c.Input, &file)
		_, _, err := read(bytes.NewReader(cases.Bytes(t, file)))
		var bad *FormatError
		if !errors.As(err, &bad) || !errors.Is(err, ErrFormat) {
			t.Fatalf("%s: %v", c.Path(), err)
		}
		return fmt.Sprintf("at %d: %s", bad.Offset, bad.Reason)
	})
}

// TestReaderRepeatsItsError keeps reading after an error and after the end.
func TestReaderRepeatsItsError(t *testing.T) {
	one := intBlock(1)
	good := write(t, []ipld.CID{one.cid}, one)
	for _, file := range [][]byte{good, good[:len(good)-1]} {
		r := must.Get(NewReader(bytes.NewReader(file)))(t)
		var last error
		for range 3 {
			if _, err := r.Next(); err != nil && last == nil {
				last = err
			} else if err != last {
				t.Errorf("after %v: %v", last, err)
			}
		}
		must.True(t, last != nil, "no end")
	}
}

// TestReaderFails checks that a failing reader is not reported as a truncated file.
func TestReaderFails(t *testing.T) {
	one := intBlock(1)
	good := write(t, []ipld.CID{one.cid}, one)
	for n := range good {
		in := io.MultiReader(bytes.NewReader(good[:n]), iotest.ErrReader(errDisk))
		_, _, err := read(in)
		must.Require(t, errors.Is(err, errDisk) && !errors.Is(err, ErrFormat), "after %d bytes: %v", n, err)
	}
}

// FuzzReader reads arbitrary input: the reader never panics, fails only with a FormatError, and whatever it accepts
// is written back byte for byte.
func FuzzReader(f *testing.F) {
	one, two := intBlock(1), rawBlock("two")
	f.Add(write(f, []ipld.CID{one.cid}, one, two))
	f.Add(write(f, []ipld.CID{one.cid, two.cid}))
	f.Add([]byte{0x0a, 0xa1, 0x67, 'v', 'e', 'r', 's', 'i', 'o', 'n', 2})
	f.Fuzz(func(t *testing.T, file []byte) {
		roots, blocks, err := read(bytes.NewReader(file))
		if err != nil {
			must.Fail(t, err, ErrFormat)
			return
		}
		var again []block
		for _, b := range blocks {
			again = append(again, block{b.CID, b.Data})
		}
		got := write(t, roots, again...)
		must.Require(t, bytes.Equal(got, file), "writing what was read gives %x", got)
	})
}

// TestBoundedMemory reads a section that claims the largest length but is empty.
func TestBoundedMemory(t *testing.T) {
	one := intBlock(1)
	file := append(write(t, []ipld.CID{one.cid}), section("a48040")...)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, _, err := read(bytes.NewReader(file))
	runtime.ReadMemStats(&after)
	must.Fail(t, err, ErrFormat)
	allocated := after.TotalAlloc - before.TotalAlloc
	limit := uint64(ipld.MaxBlock + 256<<10)
	must.True(t, allocated <= limit, "%d bytes allocated, limit %d", allocated, limit)
}

// TestReadsCARv2 reads indexed version 2 files that go-car wrote, and refuses damaged ones.
func TestReadsCARv2(t *testing.T) {
	one := intBlock(1)
	var file memoryFile
	w := must.Get(storage.NewWritable(&file, []cid.Cid{prime.Cid(one.cid)}))(t)
	must.OK(t, w.Put(context.Background(), prime.Cid(one.cid).KeyString(), one.data))
	must.OK(t, w.Finalize())
	top, back, err := read(bytes.NewReader(file.data))
	must.Require(t, err == nil && len(top) == 1 && top[0] == one.cid && len(back) == 1 &&
		bytes.Equal(back[0].Data, one.data), "%v, %v, %v", top, back, err)
	v1 := write(t, []ipld.CID{one.cid}, one)
	must.True(t, bytes.Contains(file.data, v1) && len(file.data) > len(v1)+len(pragma)+headerV2,
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
	_, back, err = read(bytes.NewReader(padded))
	must.True(t, err == nil && len(back) == 1, "with padding: %v, %v", back, err)
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
		_, _, err := read(bytes.NewReader(c.file))
		must.True(t, errors.As(err, &bad) && strings.Contains(bad.Reason, c.reason), "%s: %v", name, err)
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
