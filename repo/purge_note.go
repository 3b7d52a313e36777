package repo

import (
	"fmt"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/store"
)

// purgeNote is kept in the store from before a purge changes anything until it is done. It is a
// record:
//
//	v         int     1
//	kind      string  "purge"
//	seq       int     the newest operation before it
//	node      bytes   16 bytes: the node's id
//	time      int     time
//	actor     string
//	reason?   string
//	receipts  bool    whether texts of requests are erased too
type purgeNote struct {
	node     graph.ID
	actor    string
	time     graph.Time
	reason   string
	receipts bool
	seq      uint64
}

const kindPurge = "purge"

func (n purgeNote) encode() []byte {
	w := ipld.NewRecord(nil, nil)
	w.Version(1)
	w.Int("seq", int64(n.seq))
	w.Kind(kindPurge)
	w.Bytes("node", n.node[:])
	w.Int("time", int64(n.time))
	w.String("actor", n.actor)
	w.OptString("reason", n.reason)
	w.Append("receipts", func(b []byte) []byte { return ipld.AppendBool(b, n.receipts) })
	return w.Finish()
}

func decodePurgeNote(b []byte) (n purgeNote, err error) {
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
	if err == nil && (n.node.IsZero() || n.actor == "") {
		err = fmt.Errorf("%w: no node or actor", ipld.ErrInvalid)
	}
	if err != nil {
		err = fmt.Errorf("read note of a purge: %w: %w", store.ErrCorrupt, err)
	}
	return n, err
}
