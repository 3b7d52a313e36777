package commit

import (
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
)

// firstError returns the first error that is not nil.
func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// missing returns an error for the first name whose bit, from the lowest, is not set in seen.
func missing(seen uint, names ...string) error {
	for i, name := range names {
		if seen&(1<<i) == 0 {
			return graph.Fieldf(name, "missing")
		}
	}
	return nil
}

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

// decodeText reads an optional string, which must not be empty.
func decodeText(d *ipld.Decoder) (string, error) {
	s, err := d.String()
	if err == nil && s == "" {
		err = d.Errorf("empty string in an optional field")
	}
	return s, err
}

func decodeTime(d *ipld.Decoder) (graph.Time, error) {
	n, err := d.Int()
	return graph.Time(n), err
}

func decodeID(d *ipld.Decoder) (graph.ID, error) {
	b, err := d.Bytes()
	if err != nil {
		return graph.ID{}, err
	}
	if len(b) != graph.IDLen {
		return graph.ID{}, d.Errorf("id of %d bytes, want %d", len(b), graph.IDLen)
	}
	return graph.ID(b), nil
}

// decodeCount reads a number of 1 to graph.MaxCount.
func decodeCount(d *ipld.Decoder) (uint64, error) {
	n, err := d.Int()
	if err == nil && (n < 1 || n > graph.MaxCount) {
		err = d.Errorf("number %d out of range", n)
	}
	return uint64(n), err
}
