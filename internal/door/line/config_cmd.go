package line

import (
	"github.com/mnem-project/mnem/internal/door/settings"
)

// LookUp returns the value of a key that applies unless a flag overrides it, or the user's own.
func (c *Line) LookUp(key settings.Key, userOnly bool) (settings.InEffect, error) {
	variable := c.Env(key.Env)
	if variable != "" && !userOnly {
		return new(settings.Layers).LookUp(key, variable, false), nil // whatever files have
	}
	conf, err := c.Configs()
	if err != nil {
		return settings.InEffect{Key: key.Name}, err
	}
	return conf.LookUp(key, variable, userOnly), nil
}
