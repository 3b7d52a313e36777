package chats

import (
	"errors"
	"io"

	"github.com/mnem-project/mnem/internal/base/sqlite"
)

// Neighbour is implemented by files that can open the file whose path is theirs with an ending more. It is closed by
// the caller, and nil if there is none.
type Neighbour interface {
	Next(ending string) (SizedFile, error)
}

// SizedFile is a file of known size.
type SizedFile interface {
	io.ReaderAt
	io.Closer
	Size() int64
}

// databases has a reader for each format that has databases.
var databases = map[string]func(*sqlite.Database, Handler) error{
	"cursor": cursorDatabase, "opencode": openCodeDatabase,
}

// maxRows is how many rows of a database are put in order.
const maxRows = 4_000_000

// errRows is returned for a database of more rows.
var errRows = errors.New("more than 4,000,000 rows of messages")

// readDatabase reads a file of a format that may be a database; is reports whether it is one.
func readDatabase(format string, in io.Reader, h Handler) (is bool, err error) {
	read, file := databases[format], sqlite.Sized{}
	at, ok := in.(archive)
	if read == nil || !ok {
		return false, nil
	}
	head := make([]byte, len(sqlite.Magic))
	if n, _ := at.ReadAt(head, 0); string(head[:n]) != sqlite.Magic {
		return false, nil
	}
	file.ReaderAt = at
	if file.Size, err = at.Seek(0, io.SeekEnd); err != nil {
		return true, err
	}
	var log sqlite.Sized
	if n, ok := in.(Neighbour); ok {
		beside, err := n.Next("-wal")
		if err != nil {
			return true, err
		}
		if beside != nil {
			defer func() { _ = beside.Close() }() // only read
			log = sqlite.Sized{ReaderAt: beside, Size: beside.Size()}
		}
	}
	db, err := sqlite.Open(file, log)
	if err == nil {
		err = read(db, h)
	} else if errors.Is(err, sqlite.ErrDamaged) {
		return true, ErrFormat
	}
	return true, err
}

// eachRow calls yield with the rows of a table. Damage ends the reading and is reported; the rows before it count.
func eachRow(db *sqlite.Database, name string, h Handler, yield func(*sqlite.Table, *sqlite.Row) error) error {
	t, ok := db.Table(name)
	if !ok {
		return nil
	}
	err := db.Each(t, func(r *sqlite.Row) error { return yield(t, r) })
	if errors.Is(err, sqlite.ErrDamaged) {
		h.Skipped(Damaged, "the rest of the table "+name)
		return nil
	}
	return err
}
