package merge3

import (
	"bytes"

	"github.com/mnem-project/mnem/prolly"
)

// digests merges the texts of digests: of two new ones of a source the one with the smaller CID stays.
func (m *StateMerge) digests() (err error) {
	m.out.Digests, err = prolly.Merge(m.Ctx, m.Base.Digests, m.Ours.Digests, m.Theirs.Digests,
		func(c prolly.Conflict) ([]byte, error) {
			if c.Right == nil || c.Left != nil && bytes.Compare(c.Left, c.Right) <= 0 {
				return c.Left, nil
			}
			return c.Right, nil
		})
	return err
}
