package perf

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	pdb "github.com/cockroachdb/pebble/v2"

	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/store"
)

// The yardsticks: the same database, with the same settings where they matter, without mnem.
const (
	rawBatch    = 4 << 20 // bytes of blocks in one write, as in store/pebble
	rawMemTable = 16 << 20
	rawCache    = 32 << 20
)

// silent keeps Pebble from writing to standard error.
type silent struct{}

func (silent) Infof(string, ...any)      {}
func (silent) Errorf(string, ...any)     {}
func (silent) Fatalf(f string, a ...any) { panic(fmt.Sprintf(f, a...)) }

func openRaw(dir string, readOnly bool) (*pdb.DB, error) {
	db, err := pdb.Open(dir, &pdb.Options{
		CacheSize: rawCache, MemTableSize: rawMemTable, MemTableStopWritesThreshold: 4,
		FormatMajorVersion: pdb.FormatNewest, Logger: silent{}, ReadOnly: readOnly,
		ErrorIfNotExists: readOnly, DisableTableStats: true,
	})
	if err != nil {
		return nil, fmt.Errorf("open yardstick: %w", err)
	}
	return db, nil
}

// ReadOne opens the database in a directory read-only, reads one block and closes it: the yardstick
// of a process that answers one question.
func ReadOne(dir string) (err error) {
	db, err := openRaw(dir, true)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	it, err := db.NewIter(nil)
	if err != nil {
		return err
	}
	if !it.First() {
		err = errors.New("nothing is stored")
	}
	return errors.Join(err, it.Close())
}

// blockLog remembers on disk which blocks were written, in their order. Facts and indexes are written side
// by side.
type blockLog struct {
	file *os.File
	mu   sync.Mutex
	buf  *bufio.Writer
}

func newBlockLog(path string) (*blockLog, error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	return &blockLog{file: f, buf: bufio.NewWriterSize(f, 1<<20)}, nil
}

func (l *blockLog) add(b store.Block) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, err := l.buf.Write(b.CID.Bytes())
	return err
}

func (l *blockLog) close() error { return errors.Join(l.buf.Flush(), l.file.Close()) }

// writeRaw writes the blocks of a log, found in st, to an empty Pebble, in their order, and returns
// how long the writes took, the last one synced, and nothing else.
func writeRaw(
	ctx context.Context, st store.Store, log, dir string,
) (took time.Duration, err error) {
	f, err := os.Open(log)
	if err != nil {
		return 0, err
	}
	defer func() { _ = f.Close() }() // only read from
	db, err := openRaw(dir, false)
	if err != nil {
		return 0, err
	}
	w := rawWriter{db: db, took: &took, batch: db.NewBatch()}
	err = w.blocks(ctx, bufio.NewReaderSize(f, 1<<20), st)
	if err == nil {
		err = w.apply(pdb.Sync)
	}
	return took, errors.Join(err, db.Close())
}

type rawWriter struct {
	db    *pdb.DB
	batch *pdb.Batch
	took  *time.Duration
}

func (w *rawWriter) blocks(ctx context.Context, in io.Reader, st store.Store) error {
	var entry [ipld.CIDLen]byte
	for {
		_, err := io.ReadFull(in, entry[:])
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		data, err := find(ctx, st, entry[:])
		if err != nil {
			return err
		}
		start := time.Now()
		err = w.batch.Set(entry[:], data, nil)
		*w.took += time.Since(start)
		if err == nil && w.batch.Len() > rawBatch {
			err = w.apply(pdb.NoSync)
		}
		if err != nil {
			return err
		}
	}
}

// find reads a block wherever it is.
func find(ctx context.Context, st store.Store, entry []byte) ([]byte, error) {
	c, err := ipld.CIDFromBytes(entry)
	if err != nil {
		return nil, err
	}
	data, err := st.Facts().Get(ctx, c)
	if errors.Is(err, store.ErrNotFound) {
		data, err = st.Derived().Get(ctx, c)
	}
	return data, err
}

// apply writes the batch.
func (w *rawWriter) apply(o *pdb.WriteOptions) error {
	start := time.Now()
	err := w.db.Apply(w.batch, o)
	*w.took += time.Since(start)
	w.batch = w.db.NewBatch()
	return err
}
