package line

import (
	"github.com/mnem-project/mnem/internal/door/settings"
	"github.com/mnem-project/mnem/internal/model/embed"
)

// Meaning returns the model that embeds texts and questions without being asked to: the one that is a part of the
// program, nil if it has none or the configuration names another one or none.
func (c *Line) Meaning() (embed.Exact, error) {
	if c.App.Meaning == nil {
		return nil, nil
	}
	spec, err := c.Configured(settings.EmbedModel)
	if err != nil || spec != "" && spec != embed.BuiltIn {
		return nil, err
	}
	return c.App.Meaning, nil
}
