package core

import (
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// itemFields returns the fields of an item's record as they are shown.
func itemFields(item graph.Item, record []byte) (map[string]ipld.Value, error) {
	if item.Kind != graph.ProfileItem {
		return state.FieldsOf(record)
	}
	p, err := retrieve.DecodeProfiles(record)
	return p.Fields(), err
}
