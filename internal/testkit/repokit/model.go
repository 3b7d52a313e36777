package repokit

import (
	"fmt"
)

// ModelEdge names an edge by the keys of its ends, its type and its own key.
type ModelEdge struct{ Src, Typ, Dst, Key string }

// Members returns the JSON members that name the edge, without braces.
func (e ModelEdge) Members() string {
	s := fmt.Sprintf(`"type":%q,"src":%q,"dst":%q`, e.Typ, e.Src, e.Dst)
	if e.Key != "" {
		s += fmt.Sprintf(`,"key":%q`, e.Key)
	}
	return s
}

// Line returns the change line that sets the edge's property n.
func (e ModelEdge) Line(n int64) string {
	return fmt.Sprintf(`{"edge":{%s,"props":{"n":%d}}}`+"\n", e.Members(), n)
}
