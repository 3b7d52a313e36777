package pebble

import (
	"errors"
	"fmt"

	pdb "github.com/cockroachdb/pebble/v2"

	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/ipld"
)

// FormatVersion is the version of a store's contents: keys, records, and the objects in blocks. It only grows. A
// program opens stores of its own and of earlier versions; the first operation it records in an earlier store
// raises the version to its own.
//
//	1  messages of commits, tags and merges are in their records
//	2  they are blocks of their own; edges and marks may be erased
const FormatVersion = 2

const formatKind = "format"

// FormatError is returned by Open when a store was written by a later version of this program.
// errors.Is(err, ErrFormat) holds.
type FormatError struct {
	What  string // what has a later format
	Needs int    // version needed to open it
	Knows int    // newest version that this program can open
}

func (e *FormatError) Error() string {
	return fmt.Sprintf("%v: %s format %d is needed, this program knows up to %d", ErrFormat, e.What, e.Needs, e.Knows)
}

// Is reports whether target is ErrFormat.
func (e *FormatError) Is(target error) bool { return target == ErrFormat }

func encodeFormat(version int) []byte {
	w := ipld.NewRecord(nil, nil)
	w.Version(1)
	w.Kind(formatKind)
	w.Int("format", int64(version))
	return w.Finish()
}

func decodeFormat(b []byte) (int64, error) {
	var version int64
	_, err := ipld.DecodeRecord(b, formatKind, 1, func(key string, d *ipld.Decoder) (bool, error) {
		if key != "format" {
			return false, nil
		}
		var err error
		version, err = d.Int()
		return true, err
	})
	if err == nil && version < 1 {
		err = fmt.Errorf("version %d", version)
	}
	if err != nil {
		return 0, fmt.Errorf("read format record: %w: %w", store.ErrCorrupt, err)
	}
	return version, nil
}

// checkVersion refuses a store of a later format. A store without operations has no format yet.
func (s *Store) checkVersion() error {
	b, err := s.get(formatKey)
	if errors.Is(err, pdb.ErrNotFound) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read format record: %w", err)
	}
	version, err := decodeFormat(b)
	if err == nil && version > FormatVersion {
		err = &FormatError{What: "repository", Needs: int(version), Knows: FormatVersion}
	}
	s.format = version
	return err
}
