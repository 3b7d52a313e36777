package sqlite

import (
	"encoding/binary"
	"errors"
	"io"
)

const (
	logHead   = 32
	frameHead = 24
	logMagic  = 0x377f0682 // the last bit is the byte order of sums
)

// readLog finds the pages that the log has in place of those of the file.
func (d *Database) readLog() error {
	if d.log.Size < logHead {
		return nil
	}
	head := make([]byte, logHead)
	if _, err := d.log.ReadAt(head, 0); err != nil {
		return damaged("its log: %v", err)
	}
	magic := binary.BigEndian.Uint32(head)
	order := binary.ByteOrder(binary.LittleEndian)
	if magic&1 == 1 {
		order = binary.BigEndian
	}
	var sum checksum
	sum.add(order, head[:24])
	if magic&^1 != logMagic || binary.BigEndian.Uint32(head[8:]) != uint32(d.size) || !sum.is(head[24:]) {
		return nil // of no database, or left behind by an earlier one
	}
	frame := make([]byte, frameHead+d.size)
	pending := map[uint32]int64{}
	d.frames = map[uint32]int64{}
	in := io.NewSectionReader(d.log, logHead, d.log.Size-logHead)
	for at := int64(logHead); ; at += int64(len(frame)) {
		if _, err := io.ReadFull(in, frame); errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil
		} else if err != nil {
			return damaged("its log: %v", err)
		}
		sum.add(order, frame[:8])
		sum.add(order, frame[frameHead:])
		if string(frame[8:16]) != string(head[16:24]) || !sum.is(frame[16:24]) {
			return nil // the rest belongs to an earlier log
		}
		pending[binary.BigEndian.Uint32(frame)] = at + frameHead
		if pages := binary.BigEndian.Uint32(frame[4:]); pages > 0 { // the end of a commit
			for n, at := range pending {
				d.frames[n] = at
			}
			clear(pending)
		}
	}
}

// checksum is the sum of a log.
type checksum struct{ a, b uint32 }

func (s *checksum) add(order binary.ByteOrder, p []byte) {
	for ; len(p) >= 8; p = p[8:] {
		s.a += order.Uint32(p) + s.b
		s.b += order.Uint32(p[4:]) + s.a
	}
}

func (s *checksum) is(p []byte) bool {
	return binary.BigEndian.Uint32(p) == s.a && binary.BigEndian.Uint32(p[4:]) == s.b
}
