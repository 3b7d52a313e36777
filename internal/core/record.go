package core

import (
	"sync"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/ipld"
)

// RecordEntry is a receipt that waits to be recorded.
type RecordEntry struct {
	Session string
	Draft   *DraftReceipt
	By      state.Stamp
	Taken   bool          // out of the queue; guarded by the queue
	Done    chan struct{} // closed when it is durable or has failed
	Err     error         // set before that
}

// RecordQueue is the receipts that wait for their turn. The zero value is ready.
type RecordQueue struct {
	Mu      sync.Mutex
	Waiting []*RecordEntry // in the order in which they were asked for
}

// DraftReceipt is a receipt that is in no session yet.
type DraftReceipt struct {
	Block []byte     `json:"block"` // of the receipt
	Texts []string   `json:"texts"` // that it links to: the query, then the rewrites
	Time  graph.Time `json:"time"`
}

// CID returns the CID of the receipt.
func (d *DraftReceipt) CID() ipld.CID { return ipld.Sum(ipld.DagCBOR, d.Block) }
