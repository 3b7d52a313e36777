package commit

import (
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
)

// fits returns an error unless block is within the limits of blocks, which only unknown fields can exceed.
func fits(block []byte) error {
	if err := ipld.Check(block); err != nil {
		return graph.Fieldf("", "does not fit into a block: %v", err)
	}
	return nil
}

func checkOptLink(field string, c ipld.CID) error {
	if !c.Defined() {
		return nil
	}
	return graph.CheckLink(field, c, ipld.DagCBOR)
}
