package repokit

import (
	"fmt"
)

type ModelEdge struct{ Src, Typ, Dst, Key string }

func (e ModelEdge) Members() string {
	s := fmt.Sprintf(`"type":%q,"src":%q,"dst":%q`, e.Typ, e.Src, e.Dst)
	if e.Key != "" {
		s += fmt.Sprintf(`,"key":%q`, e.Key)
	}
	return s
}

func (e ModelEdge) Line(n int64) string {
	return fmt.Sprintf(`{"edge":{%s,"props":{"n":%d}}}`+"\n", e.Members(), n)
}
