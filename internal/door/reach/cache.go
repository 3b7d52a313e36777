package reach

import (
	"math"
	"runtime/debug"

	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/door/settings"
)

// setCaches bounds the memory of caches as it is configured.
func setCaches(c *line.Line, opt *core.Options) error {
	v, err := c.Configured(settings.CacheKey)
	if err != nil {
		return err
	}
	if v != "" {
		opt.Memory, err = settings.ParseSize(v)
	} else if limit := debug.SetMemoryLimit(-1); limit < math.MaxInt64 {
		opt.Memory = max(settings.MinSize, limit/2)
	}
	return err
}
