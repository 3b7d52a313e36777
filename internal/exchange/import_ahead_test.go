package exchange_test

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/mnem-project/mnem/internal/exchange"
)

// countingReader counts how often it is read.
type countingReader struct {
	io.ReaderAt
	reads int
}

func (c *countingReader) ReadAt(p []byte, at int64) (int, error) {
	c.reads++
	return c.ReaderAt.ReadAt(p, at)
}

// TestReadAhead compares reads through Ahead with the file, in order and out of it, to the end and beyond; blocks
// in file order cost few reads.
func TestReadAhead(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	file := make([]byte, 3<<20+17)
	for i := range file {
		file[i] = byte(rnd.Uint32())
	}
	from := &countingReader{bytes.NewReader(file), 0}
	a := &exchange.Ahead{In: from}
	read := func(at int64, n int) {
		t.Helper()
		got, want := make([]byte, n), make([]byte, n)
		gotN, err := a.ReadAt(got, at)
		wantN, wantErr := bytes.NewReader(file).ReadAt(want, at)
		if gotN != wantN || !bytes.Equal(got[:gotN], want[:wantN]) || (gotN < n) != (err != nil) ||
			gotN < n && !errors.Is(err, wantErr) {
			t.Fatalf("%d bytes at %d: %d, %v, want %d, %v", n, at, gotN, err, wantN, wantErr)
		}
	}
	blocks := 0
	for at := int64(0); at < int64(len(file)); blocks++ {
		n := min(100+rnd.IntN(500), len(file)-int(at))
		read(at, n)
		at += int64(n + rnd.IntN(60)) // the gap between
	}
	if most := len(file)/exchange.AheadBytes + 2; from.reads > most {
		t.Errorf("%d reads for %d blocks in order, want %d at most", from.reads, blocks, most)
	}
	for range 2000 {
		read(rnd.Int64N(int64(len(file)+10)), rnd.IntN(600))
	}
	read(1, 2*exchange.AheadBytes)
	read(int64(len(file))-5, 10)
}
