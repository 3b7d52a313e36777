package care

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/ipld"
)

// purgeNote is stored from before a purge changes anything until it is done. It is a record:
//
//	v         int     1
//	kind      string  "purge"
//	seq       int     the newest operation before it
//	node      bytes   16 bytes: the node's id
//	time      int     time
//	actor     string
//	reason?   string
//	receipts  bool    whether texts of requests are erased too
//
// A purge of a text has no node. Its note begins with the byte 0 and the length of the record, 4 bytes big-endian;
// after the record follow the CIDs of the blocks that contain the text, 36 bytes each: the note must not contain
// the text.
type purgeNote struct {
	node     graph.ID
	actor    string
	time     graph.Time
	reason   string
	receipts bool
	seq      uint64
	blocks   map[ipld.CID]bool // that hold the text; nil if a node is purged
}

const kindPurge = "purge"

func (n purgeNote) encode() []byte {
	w := ipld.NewRecord(nil, nil)
	w.Version(1)
	w.Int("seq", int64(n.seq))
	w.Kind(kindPurge)
	if n.blocks == nil {
		w.Bytes("node", n.node[:])
	}
	w.Int("time", int64(n.time))
	w.String("actor", n.actor)
	w.OptString("reason", n.reason)
	w.Append("receipts", func(b []byte) []byte { return ipld.AppendBool(b, n.receipts) })
	record := w.Finish()
	if n.blocks == nil {
		return record
	}
	b := append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(record))), record...)
	for _, c := range slices.SortedFunc(maps.Keys(n.blocks), ipld.CID.Compare) {
		b = c.Append(b)
	}
	return b
}

// noted returns the blocks that contain the text of a purge, nil for the purge of a node.
func (p *Erasing) noted() map[ipld.CID]bool {
	if p.secret == nil {
		return nil
	}
	return p.Held
}

func decodePurgeNote(b []byte) (n purgeNote, err error) {
	if len(b) > 5 && b[0] == 0 {
		rest := b[5:]
		length := int(binary.BigEndian.Uint32(b[1:]))
		if length > len(rest) || (len(rest)-length)%ipld.CIDLen != 0 {
			return n, fmt.Errorf("read note of a purge: %w: cut off", store.ErrCorrupt)
		}
		n.blocks = make(map[ipld.CID]bool)
		for list := rest[length:]; len(list) > 0; list = list[ipld.CIDLen:] {
			c, err := ipld.CIDFromBytes(list[:ipld.CIDLen])
			if err != nil {
				return n, fmt.Errorf("read note of a purge: %w: %w", store.ErrCorrupt, err)
			}
			n.blocks[c] = true
		}
		b = rest[:length]
	}
	_, err = ipld.DecodeRecord(b, kindPurge, 1, func(key string, d *ipld.Decoder) (bool, error) {
		var err error
		switch key {
		case "seq":
			var seq int64
			seq, err = d.Int()
			n.seq = uint64(seq)
		case "node":
			var id []byte
			if id, err = d.Bytes(); err == nil && len(id) != graph.IDLen {
				return true, d.Errorf("id of %d bytes", len(id))
			}
			copy(n.node[:], id)
		case "time":
			var t int64
			t, err = d.Int()
			n.time = graph.Time(t)
		case "actor":
			n.actor, err = d.String()
		case "reason":
			n.reason, err = d.String()
		case "receipts":
			n.receipts, err = d.Bool()
		default:
			return false, nil
		}
		return true, err
	})
	if err == nil && (n.node.IsZero() != (n.blocks != nil) || n.actor == "") {
		err = fmt.Errorf("%w: no node or actor", ipld.ErrInvalid)
	}
	if err != nil {
		err = fmt.Errorf("read note of a purge: %w: %w", store.ErrCorrupt, err)
	}
	return n, err
}
