package car

import (
	"bytes"
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

	"github.com/mnem-project/mnem/internal/testkit/cases"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
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
	if w.Blocks() != len(blocks) || w.Bytes() != int64(out.Len()) {
		t.Errorf("%d blocks, %d bytes; wrote %d, %d", w.Blocks(), w.Bytes(), len(blocks), out.Len())
	}
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

// TestGolden pins a small file to the byte.
func TestGolden(t *testing.T) {
	one, hi := intBlock(1), rawBlock("hi")
	file := write(t, []ipld.CID{one.cid}, one, hi)
	want := "3a" + "a265726f6f747381d82a582500" + hex.EncodeToString(one.cid.Bytes()) +
		"6776657273696f6e01" +
		"25" + hex.EncodeToString(one.cid.Bytes()) + "01" +
		"26" + hex.EncodeToString(hi.cid.Bytes()) + hex.EncodeToString([]byte("hi"))
	must.Equal(t, hex.EncodeToString(file), want, "file is\n")
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
		must.Check(t, len(got) == len(roots) && got[0] == roots[0] && got[1] == roots[1],
			"%s: roots %v", name, got)
		must.Require(t, len(blocks) == len(put), "%s: %d blocks, want %d", name, len(blocks), len(put))
		for i, b := range blocks {
			must.Check(t, b.CID == put[i].cid && bytes.Equal(b.Data, put[i].data),
				"%s: block %d is %s of %d bytes", name, i, b.CID, len(b.Data))
			must.Check(t, bytes.Equal(file[b.Start:b.Start+int64(len(b.Data))], b.Data),
				"%s: block %d is not at %d", name, i, b.Start)
			n, width := binary.Uvarint(file[b.Offset:])
			must.Check(t, b.Offset+int64(width)+ipld.CIDLen == b.Start && n == uint64(ipld.CIDLen+len(b.Data)),
				"%s: section %d is not at %d", name, i, b.Offset)
		}
	}
}

func TestWriterRefuses(t *testing.T) {
	good := intBlock(1).cid
	for name, roots := range map[string][]ipld.CID{
		"no root": nil, "undefined root": {good, {}}, "too many": make([]ipld.CID, MaxRoots+1),
	} {
		must.Check(t, must.Err(NewWriter(io.Discard, roots...)) != nil, "%s: accepted", name)
	}
	w := must.Get(NewWriter(io.Discard, good))(t)
	must.Check(t, w.Put(ipld.CID{}, nil) != nil, "an undefined CID was accepted")
	must.Check(t, w.Put(good, make([]byte, ipld.MaxBlock+1)) != nil, "a block over the limit was accepted")
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
	must.Check(t, err == nil && len(got) == MaxRoots && got[999] == roots[999], "%d roots, %v", len(got), err)
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
		must.Check(t, last != nil, "no end")
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

// TestCut truncates a file at every byte. A cut between two sections leaves a valid file; any other is refused.
func TestCut(t *testing.T) {
	one, two := intBlock(1), rawBlock("two")
	start := len(write(t, []ipld.CID{one.cid}))
	middle := len(write(t, []ipld.CID{one.cid}, one))
	file := write(t, []ipld.CID{one.cid}, one, two)
	for n := range file {
		_, blocks, err := read(bytes.NewReader(file[:n]))
		switch n {
		case start, middle:
			must.Check(t, err == nil && len(blocks) <= 1, "%d bytes: %d blocks, %v", n, len(blocks), err)
		default:
			must.Fail(t, err, ErrFormat, n)
		}
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
		if got := write(t, roots, again...); !bytes.Equal(got, file) {
			t.Fatalf("writing what was read gives %x", got)
		}
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
	if limit := uint64(ipld.MaxBlock + 256<<10); allocated > limit {
		t.Errorf("%d bytes allocated, limit %d", allocated, limit)
	}
}
