package car

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/mnem-project/mnem/ipld"
)

const (
	// Version is the CAR version that this package reads and writes.
	Version = 1
	// MaxRoots is the largest number of roots.
	MaxRoots = 1000
	// MaxHeader is the longest header in bytes: MaxRoots links of 41 bytes and the map around them.
	MaxHeader = 41*MaxRoots + 64
	// MaxSection is the longest section in bytes, without its length prefix.
	MaxSection = ipld.CIDLen + ipld.MaxBlock

	keyRoots   = "roots"
	keyVersion = "version"

	writeBuffer = 64 << 10
)

var errRoots = errors.New("want 1 to 1000 roots, each defined")

// Writer writes one file as a stream. Not for concurrent use.
type Writer struct {
	out    *bufio.Writer
	head   []byte // of a section, reused
	blocks int
	bytes  int64
}

// NewWriter starts a file with 1 to MaxRoots roots, in the order given. Output is buffered until Flush.
func NewWriter(out io.Writer, roots ...ipld.CID) (*Writer, error) {
	if len(roots) < 1 || len(roots) > MaxRoots {
		return nil, fmt.Errorf("write CAR header: %d roots: %w", len(roots), errRoots)
	}
	b := ipld.AppendMap(nil, 2)
	b = ipld.AppendList(ipld.AppendString(b, keyRoots), len(roots))
	for _, c := range roots {
		if !c.Defined() {
			return nil, fmt.Errorf("write CAR header: %w", errRoots)
		}
		b = ipld.AppendLink(b, c)
	}
	b = ipld.AppendInt(ipld.AppendString(b, keyVersion), Version)
	w := &Writer{out: bufio.NewWriterSize(out, writeBuffer)}
	return w, w.section(binary.AppendUvarint(nil, uint64(len(b))), b)
}

// Put writes a block of at most ipld.MaxBlock bytes. It does not verify that data hashes to c.
func (w *Writer) Put(c ipld.CID, data []byte) error {
	if !c.Defined() || len(data) > ipld.MaxBlock {
		return fmt.Errorf("write CAR section: block %q of %d bytes, limit %d", c, len(data), ipld.MaxBlock)
	}
	w.head = binary.AppendUvarint(w.head[:0], uint64(ipld.CIDLen+len(data)))
	w.head = c.Append(w.head)
	w.blocks++
	return w.section(w.head, data)
}

func (w *Writer) section(head, data []byte) error {
	w.bytes += int64(len(head) + len(data))
	for _, part := range [][]byte{head, data} {
		if _, err := w.out.Write(part); err != nil {
			return fmt.Errorf("write CAR file: %w", err)
		}
	}
	return nil
}

// Flush writes all buffered output to the underlying writer.
func (w *Writer) Flush() error {
	if err := w.out.Flush(); err != nil {
		return fmt.Errorf("write CAR file: %w", err)
	}
	return nil
}

// Blocks returns the number of blocks put.
func (w *Writer) Blocks() int { return w.blocks }

// Bytes returns the length of the file so far.
func (w *Writer) Bytes() int64 { return w.bytes }
