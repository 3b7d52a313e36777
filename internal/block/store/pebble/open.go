package pebble

import (
	"errors"
	"fmt"
	iofs "io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	pdb "github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/ipld"
)

const dbName = "db"

// ErrFormat is returned by Open when the store was written by a later version of this program.
var ErrFormat = errors.New("store has a later format")

// Open opens the store in dir. It returns an error that wraps store.ErrNotFound when there is none and Options.Create
// is off; a *BusyError, when another owner does not release it within Options.Wait; a *HeadError or another error that
// wraps store.ErrCorrupt when stored bytes are damaged; ErrFormat for a later format; ErrStopped when a write fails
// while recovering a store.
func Open(dir string, opts Options) (*Store, error) {
	opts.setDefaults()
	opts.Create = opts.Create && !opts.ReadOnly
	s, err := open(dir, opts)
	if err != nil && !opts.ReadOnly && isFull(err) { // others filled the disk in the meantime
		s, err = open(dir, opts)
	}
	if err != nil {
		return nil, fmt.Errorf("open store %s: %w", dir, err)
	}
	return s, nil
}

func open(dir string, opts Options) (*Store, error) {
	fs := opts.FS
	if fs == nil {
		fs = &disk{FS: vfs.Default, readOnly: opts.ReadOnly}
	}
	if opts.Create {
		if err := makeDirs(fs, fs.PathJoin(dir, dbName)); err != nil {
			return nil, err
		}
	} else if _, err := fs.Stat(fs.PathJoin(dir, dbName)); errors.Is(err, iofs.ErrNotExist) {
		return nil, missing(dir, fs)
	} else if err != nil {
		return nil, err
	}
	var err error
	if opts.FS == nil {
		if dir, err = realPath(dir); err != nil {
			return nil, err
		}
	}
	db := fs.PathJoin(dir, dbName)
	s := newStore(dir, &failFS{FS: fs, fail: newFailSwitch()}, opts)
	if s.lock, err = lockDB(s.fs, dir, db, &opts); err != nil {
		return nil, err
	}
	if err := s.openLocked(db); err != nil {
		return nil, errors.Join(err, s.release())
	}
	return s, nil
}

// realPath returns the canonical path of dir, which must exist: Pebble's table of this process's locks is keyed by
// name.
func realPath(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(dir)
}

// makeDirs makes dir and its parents and makes them durable.
func makeDirs(fs vfs.FS, dir string) error {
	var changed []string // parents of missing directories, deepest first
	for d := dir; ; d = fs.PathDir(d) {
		if _, err := fs.Stat(d); err == nil || !errors.Is(err, iofs.ErrNotExist) {
			break
		}
		changed = append(changed, fs.PathDir(d))
		if fs.PathDir(d) == d {
			break
		}
	}
	if len(changed) == 0 {
		return nil
	}
	if err := fs.MkdirAll(dir, dirMode); err != nil {
		return err
	}
	for _, d := range slices.Backward(changed) {
		if err := syncDir(fs, d); err != nil {
			return err
		}
	}
	return nil
}

func headFiles(fs vfs.FS, dir string) (slots, marker Slots, err error) {
	if slots, err = HeadFile(dir, fs); err == nil {
		marker, err = readSlots(fs, dir, markerSlots)
	}
	return slots, marker, err
}

// missing returns the error of opening a store without a database.
func missing(dir string, fs vfs.FS) error {
	slots, marker, err := headFiles(fs, dir)
	if err != nil {
		return err
	}
	newest := slots.Newest()
	if newest.Seq < marker.Newest().Seq {
		newest = marker.Newest()
	}
	if slots.Exists || marker.Exists {
		return &HeadError{Acknowledged: newest, Reason: "the database is gone"}
	}
	return store.ErrNotFound
}

// openLocked opens the store once it is locked.
func (s *Store) openLocked(db string) error {
	if err := writeOwner(s.fs, s.dir, s.opts.Owner); err != nil {
		s.opts.Logf("%v", err) // informational; another process may be reading it
	}
	slots, marker, err := headFiles(s.fs, s.dir)
	if err != nil {
		return err
	}
	rest, created, err := leftovers(s.fs, db)
	switch {
	case err != nil:
		return err
	case !created && (slots.Exists || marker.Exists || !s.opts.Create):
		return missing(s.dir, s.fs)
	case !created:
		for _, name := range rest {
			if err := s.fs.Remove(name); err != nil {
				return fmt.Errorf("remove the rest of an unfinished creation: %w", err)
			}
		}
	}
	if !s.opts.ReadOnly {
		if err := s.removeScratch(); err != nil {
			return err
		}
	}
	if err := s.openFitting(db, created); err != nil {
		return err
	}
	if err := s.load(slots, marker); err != nil {
		return err
	}
	if !s.reading() && s.head.Seq > 0 {
		s.roomMu.Lock()
		defer s.roomMu.Unlock()
		return s.refill(false)
	}
	return nil
}

// load reads what the store keeps in memory, and repairs the head file and the marker.
func (s *Store) load(slots, marker Slots) error {
	if err := s.checkVersion(); err != nil {
		return err
	}
	if err := s.loadRedactions(); err != nil {
		return err
	}
	if err := s.loadHead(slots, marker); err != nil {
		return err
	}
	return s.loadMarker(marker)
}

// openDB opens the database, which is not open yet.
func (s *database) openDB(db string, readOnly bool) error {
	opened := make(chan *pdb.DB, 1)
	s.opened = opened
	_, knows := s.free()
	s.gate = newGate(!knows)
	opts := s.opts.pebble(s.fs, s.lock, s.gate, readOnly)
	err := s.fs.fail.guard(func() error {
		defer close(opened)
		d, err := pdb.Open(db, opts)
		if err == nil {
			opened <- d
		}
		return err
	})
	if err != nil {
		return openError(err)
	}
	s.db = <-opened
	return nil
}

// leftovers reports whether the database's creation was completed. If not, it lists the files to remove, which
// Pebble might refuse to open: a power cut during creation can leave any of them. Pebble writes its options last,
// and nothing can be stored before.
func leftovers(fs vfs.FS, db string) (rest []string, created bool, err error) {
	names, err := fs.List(db)
	if err != nil {
		return nil, false, err
	}
	for _, name := range names {
		if err := checkFormat(name); err != nil {
			return nil, false, err
		}
		switch {
		case strings.HasPrefix(name, "OPTIONS-"), strings.HasSuffix(name, ".sst"),
			strings.HasSuffix(name, ".blob"):
			created = true
		case strings.HasPrefix(name, "MANIFEST-"), strings.HasPrefix(name, "marker."),
			strings.HasPrefix(name, "temporary."), strings.HasSuffix(name, ".dbtmp"),
			strings.HasSuffix(name, ".log"):
			rest = append(rest, fs.PathJoin(db, name))
		}
	}
	return rest, created, nil
}

// checkFormat refuses a database of a later format by the name of its version marker, which ends in the version.
func checkFormat(name string) error {
	const marker = "marker.format-version."
	if !strings.HasPrefix(name, marker) {
		return nil
	}
	version, err := strconv.Atoi(name[strings.LastIndexByte(name, '.')+1:])
	if err == nil && version > int(formatVersion) {
		return &FormatError{What: "database", Needs: version, Knows: int(formatVersion)}
	}
	return nil
}

// openError says whether err, from opening an existing database, means that it is damaged: it does unless the
// system refused access to a file that exists.
func openError(err error) error {
	var path *iofs.PathError
	var link *os.LinkError
	var panicked *panicError
	var errno syscall.Errno
	switch {
	case errors.Is(err, store.ErrCorrupt):
		return err
	case pdb.IsCorruptionError(err), errors.Is(err, iofs.ErrNotExist), errors.As(err, &panicked):
	case errors.Is(err, ErrStopped), errors.As(err, &path), errors.As(err, &link),
		errors.As(err, &errno):
		return err
	}
	return corrupt(err)
}

// loadHead reads the head, compares it with the head file and the marker, and repairs both.
func (s *Store) loadHead(slots, marker Slots) error {
	stored, err := s.readHead()
	if err != nil {
		return err
	}
	s.head = stored.Head
	behind, err := reconcile(stored, slots)
	if err == nil {
		err = checkMarker(stored.Head, slots, marker)
	}
	switch {
	case err != nil && !s.opts.AcceptHead:
		return err
	case s.reading():
		return nil
	case err != nil && stored.Seq == 0:
		return errors.Join(s.remark(stored.Head), removeIfThere(s.fs, s.fs.PathJoin(s.dir, headName)))
	case err != nil:
		return errors.Join(s.headFile.rewrite(stored.Head), s.remark(stored.Head))
	case behind:
		return s.catchUp(stored, slots)
	}
	return nil
}

func removeIfThere(fs vfs.FS, name string) error {
	if err := fs.Remove(name); err != nil && !errors.Is(err, iofs.ErrNotExist) {
		return err
	}
	return nil
}

// catchUp writes the stored head to the head file. If its slot holds the newest valid head, which a torn write
// would lose, it first writes the predecessor to the other slot.
func (s *Store) catchUp(stored record, slots Slots) error {
	if newest := slots.Newest().Seq; newest != 0 && newest%2 == stored.Seq%2 {
		before := store.Head{Seq: stored.Seq - 1, Operation: stored.previous}
		if err := s.headFile.write(before); err != nil {
			return err
		}
	}
	return s.headFile.write(stored.Head)
}

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

// formatFields names the fields of the format record. A later version may add others.
func formatFields(version *int64) func(*ipld.Record) {
	return func(r *ipld.Record) {
		var unknown []ipld.Entry
		r.Begin(formatKind, 1, &unknown)
		r.Int("format", version)
	}
}

func encodeFormat(version int) []byte {
	return ipld.WriteRecord(32, formatFields(new(int64(version))))
}

func decodeFormat(b []byte) (int64, error) {
	var version int64
	_, err := ipld.ReadRecord(b, &version, formatFields(&version), nil)
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
