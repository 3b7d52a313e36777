package pebble

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	iofs "io/fs"
	"math"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/ipld"
)

const (
	headName    = "head"
	headMagic   = "mnemhead"
	headKind    = "head"
	headVersion = 1

	slotStride = 4096 // bytes between slots; a torn write stays within one page
	slotSeq    = len(headMagic)
	slotCID    = slotSeq + 8
	slotCRC    = slotCID + ipld.CIDLen
	slotLen    = slotCRC + 4
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// HeadError is returned by Open when the acknowledged head and the stored one disagree in a way that no power cut
// explains: stored bytes were lost or changed. errors.Is(err, store.ErrCorrupt) holds.
type HeadError struct {
	Acknowledged store.Head // of the newest valid slot; zero if no slot is valid
	Stored       store.Head // Pebble's; zero if there is none
	Reason       string
}

func (e *HeadError) Error() string {
	return fmt.Sprintf("corrupt store: %s: acknowledged %s, stored %s", e.Reason,
		headText(e.Acknowledged), headText(e.Stored))
}

func headText(h store.Head) string {
	if h.Seq == 0 {
		return "no operation"
	}
	return fmt.Sprintf("operation %d %s", h.Seq, h.Operation)
}

// Is reports whether target is store.ErrCorrupt.
func (e *HeadError) Is(target error) bool { return target == store.ErrCorrupt }

// record is the head record.
type record struct {
	store.Head
	previous ipld.CID // undefined in the first record
	// after is the newest head that was durable when this one was applied. If commits overlap it is older than the
	// direct predecessor.
	after store.Head
}

// alone returns the direct predecessor, which is after for a commit that overlaps no other.
func (r record) alone() store.Head {
	if !r.previous.Defined() {
		return store.Head{}
	}
	return store.Head{Seq: r.Seq - 1, Operation: r.previous}
}

// fields names the fields of the record and returns whether it has after. A later version may add others.
func (r *record) fields(rec *ipld.Record) (overlaps bool) {
	var unknown []ipld.Entry
	rec.Begin(headKind, headVersion, &unknown)
	ipld.Number(rec, "seq", &r.Seq, 1, math.MaxInt64)
	if overlaps = rec.Has("after", r.after != r.alone()); overlaps {
		rec.Field("after", r.appendAfter, func(d *ipld.Decoder) (err error) {
			r.after, err = decodeAfter(d)
			return err
		})
	}
	rec.OptLink("previous", &r.previous)
	rec.Link("operation", &r.Operation)
	return overlaps
}

func (r *record) appendAfter(b []byte) []byte {
	if r.after.Seq == 0 {
		return ipld.AppendList(b, 0)
	}
	b = ipld.AppendInt(ipld.AppendList(b, 2), int64(r.after.Seq))
	return ipld.AppendLink(b, r.after.Operation)
}

func (r record) encode() []byte {
	return ipld.WriteRecord(192, func(rec *ipld.Record) { r.fields(rec) })
}

func decodeRecord(b []byte) (record, error) {
	var r record
	overlaps := false
	_, err := ipld.ReadRecord(b, &r, func(rec *ipld.Record) { overlaps = r.fields(rec) }, nil)
	if !overlaps {
		r.after = r.alone()
	}
	if err == nil && overlaps && (r.after.Seq >= r.Seq || r.after == r.alone()) {
		err = fmt.Errorf("operation %d after %d", r.Seq, r.after.Seq)
	}
	if err != nil {
		return record{}, fmt.Errorf("read head record: %w: %w", store.ErrCorrupt, err)
	}
	return r, nil
}

func decodeAfter(d *ipld.Decoder) (h store.Head, err error) {
	items, err := d.List()
	if err != nil || items == 0 {
		return h, err
	}
	if items != 2 {
		return h, d.Errorf("head of %d items, want 2", items)
	}
	n, err := d.Int()
	if err == nil && n < 1 {
		err = d.Errorf("sequence number %d", n)
	}
	if err != nil {
		return h, err
	}
	h.Seq = uint64(n)
	h.Operation, err = d.Link()
	return h, err
}

// Slot is one of the two slots of a head file.
type Slot struct {
	Head    store.Head // of a valid slot
	Damaged bool       // neither valid nor empty
}

// Slots is the content of a head file.
type Slots struct {
	Exists bool // whether the file exists
	Slot   [2]Slot
}

// Newest returns the head of the newest valid slot, or the zero Head if none is valid.
func (s Slots) Newest() store.Head {
	if s.Slot[1].Head.Seq > s.Slot[0].Head.Seq {
		return s.Slot[1].Head
	}
	return s.Slot[0].Head
}

// HeadFile reads the head file of the store in dir; fs nil is the disk. A missing file is no error. It takes no
// lock: while another process writes, a slot may appear torn.
func HeadFile(dir string, fs vfs.FS) (Slots, error) {
	if fs == nil {
		fs = vfs.Default
	}
	return readSlots(fs, dir, headSlots)
}

// slotKind describes a file of slots: the head file or the marker.
type slotKind struct{ what, name, magic string }

var (
	headSlots   = slotKind{"head file", headName, headMagic}
	markerSlots = slotKind{"marker", markerName, markerMagic}
)

func readSlots(fs vfs.FS, dir string, kind slotKind) (Slots, error) {
	f, err := fs.Open(fs.PathJoin(dir, kind.name))
	if errors.Is(err, iofs.ErrNotExist) {
		return Slots{}, nil
	}
	if err != nil {
		return Slots{}, fmt.Errorf("read %s: %w", kind.what, err)
	}
	defer f.Close()
	out := Slots{Exists: true}
	for i := range out.Slot {
		b := make([]byte, slotLen)
		if _, err := f.ReadAt(b, int64(i)*slotStride); err != nil && err != io.EOF {
			return Slots{}, fmt.Errorf("read %s: %w", kind.what, err)
		}
		out.Slot[i] = decodeSlot(kind.magic, b, i)
	}
	return out, nil
}

func encodeSlot(magic string, h store.Head) []byte {
	b := append(make([]byte, 0, slotLen), magic...)
	b = binary.BigEndian.AppendUint64(b, h.Seq)
	b = h.Operation.Append(b)
	return binary.BigEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

func decodeSlot(magic string, b []byte, index int) Slot {
	if bytes.Count(b, []byte{0}) == len(b) {
		return Slot{}
	}
	seq := binary.BigEndian.Uint64(b[slotSeq:])
	op, err := ipld.CIDFromBytes(b[slotCID:slotCRC])
	if err != nil || string(b[:slotSeq]) != magic ||
		binary.BigEndian.Uint32(b[slotCRC:]) != crc32.Checksum(b[:slotCRC], castagnoli) ||
		seq == 0 || seq > math.MaxInt64 || seq%2 != uint64(index) {
		return Slot{Damaged: true}
	}
	return Slot{Head: store.Head{Seq: seq, Operation: op}}
}

// reconcile compares Pebble's head with the head file, by the table in the package comment. It reports whether the
// file is behind the stored head.
func reconcile(stored record, slots Slots) (behind bool, err error) {
	newest := slots.Newest()
	fail := func(reason string) (bool, error) {
		return false, &HeadError{Acknowledged: newest, Stored: stored.Head, Reason: reason}
	}
	other := slots.Slot[(stored.Seq+1)%2]
	switch {
	case stored.Seq == 0 && !slots.Exists:
		return false, nil
	case stored.Seq == 0:
		return fail("acknowledged operations are gone")
	case newest == stored.Head && other.Damaged:
		return fail("a slot of the head file is damaged, which may have named a newer operation")
	case newest == stored.Head:
		return false, nil
	case newest.Seq == stored.Seq:
		return fail("the head file names another operation")
	case newest.Seq > stored.Seq:
		return fail("acknowledged operations are gone")
	case newest.Seq == 0 && !stored.previous.Defined() && !other.Damaged,
		newest.Seq == 0 && stored.previous.Defined() && stored.after.Seq == 0 &&
			!(slots.Slot[0].Damaged && slots.Slot[1].Damaged):
		return true, nil
	case newest.Seq == 0:
		return fail("the head file is missing or damaged")
	case newest.Seq == stored.Seq-1 && newest.Operation != stored.previous,
		newest.Seq == stored.after.Seq && newest != stored.after:
		return fail("the head file names another operation")
	case newest.Seq >= stored.after.Seq:
		return true, nil
	}
	return fail("the head file is too old")
}

type slotFile struct {
	slotKind
	fs   vfs.FS
	dir  string
	file vfs.File // nil until the first write
}

// write puts h into its slot and makes it durable.
func (f *slotFile) write(h store.Head) error {
	if err := f.set(h); err != nil {
		return err
	}
	if err := f.file.SyncData(); err != nil {
		return fmt.Errorf("write %s: %w", f.what, err)
	}
	return nil
}

// set puts h into its slot.
func (f *slotFile) set(h store.Head) error {
	if err := f.open(); err != nil {
		return fmt.Errorf("open %s: %w", f.what, err)
	}
	if err := f.put(encodeSlot(f.magic, h), h.Seq%2); err != nil {
		return fmt.Errorf("write %s: %w", f.what, err)
	}
	return nil
}

// rewrite makes h the only head of the file.
func (f *slotFile) rewrite(h store.Head) error {
	if err := f.write(h); err != nil {
		return err
	}
	err := f.put(make([]byte, slotLen), (h.Seq+1)%2)
	if err == nil {
		err = f.file.SyncData()
	}
	if err != nil {
		return fmt.Errorf("clear %s: %w", f.what, err)
	}
	return nil
}

func (f *slotFile) put(b []byte, slot uint64) error {
	_, err := f.file.WriteAt(b, int64(slot)*slotStride)
	return err
}

func (f *slotFile) open() (err error) {
	if f.file != nil {
		return nil
	}
	f.file, err = f.fs.OpenReadWrite(f.fs.PathJoin(f.dir, f.name), vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	return syncDir(f.fs, f.dir)
}

func (f *slotFile) close() error {
	if f.file == nil {
		return nil
	}
	return f.file.Close()
}

func syncDir(fs vfs.FS, dir string) error {
	d, err := fs.OpenDir(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	return errors.Join(err, d.Close())
}

const (
	markerName  = "marker"
	markerMagic = "mnemmark"
)

// checkMarker compares the head file with the marker, by the rules in the package comment.
func checkMarker(stored store.Head, slots, marker Slots) error {
	newest, vouched := slots.Newest(), marker.Newest()
	fail := func(reason string) error {
		return &HeadError{Acknowledged: vouched, Stored: stored, Reason: reason}
	}
	switch {
	case !marker.Exists:
		return nil
	case newest.Seq == 0:
		return fail("operations were acknowledged, as the marker says, and the head file is missing or damaged")
	case newest.Seq < vouched.Seq:
		return fail("the head file is older than the marker")
	case newest.Seq == vouched.Seq && newest != vouched:
		return fail("the head file and the marker name different operations")
	}
	return nil
}

// loadMarker takes over the marker file, and repairs one with a torn slot.
func (s *Store) loadMarker(marker Slots) error {
	s.vouched, s.marked = marker.Newest(), marker.Exists
	if s.reading() || !marker.Slot[0].Damaged && !marker.Slot[1].Damaged {
		return nil
	}
	return s.remark(s.head)
}

// remark makes h the only operation that the marker names; if h is zero it removes the marker.
func (s *Store) remark(h store.Head) error {
	if h.Seq == 0 {
		s.marked = false
		return removeIfThere(s.fs, s.fs.PathJoin(s.dir, markerName))
	}
	if err := s.marker.rewrite(h); err != nil {
		return err
	}
	s.vouched, s.marked = h, true
	return nil
}

// mark writes the marker of a store that has none, once the first head is durable. syncs must be held.
func (s *Store) mark(h store.Head) error {
	if s.marked {
		return nil
	}
	if err := s.marker.write(h); err != nil {
		return err
	}
	s.vouched, s.marked = h, true
	return nil
}

// markEnd writes the last operation to the marker when the store is closed. It is not synced: after a power cut the
// marker may name an earlier operation.
func (s *Store) markEnd() {
	if h := s.durable(); !s.reading() && s.marked && h.Seq > s.vouched.Seq {
		if err := s.marker.set(h); err != nil {
			s.opts.Logf("%v", err) // the marker still names an earlier operation
		}
	}
}
