package show

import (
	"github.com/mnem-project/mnem/ops"
)

func (c *Console) Versions(v *ops.Versions) error {
	text := "mnem " + v.Version
	if v.Revision != "" {
		text += " (" + v.Revision + ")"
	}
	return c.Printf("%s\n%s %s, record format %d, ranking %d, text analysis %d\n", text, v.Go,
		v.Platform, v.Format, v.Ranking, v.Analyser)
}
