package core

import (
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
)

// DraftReceipt is a receipt that is in no session yet.
type DraftReceipt struct {
	Block []byte     `json:"block"` // of the receipt
	Texts []string   `json:"texts"` // that it links to: the query, then the rewrites
	Time  graph.Time `json:"time"`
}

// CID is that of the receipt.
func (d *DraftReceipt) CID() ipld.CID { return ipld.Sum(ipld.DagCBOR, d.Block) }
