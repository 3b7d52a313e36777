package reach

import (
	"math"
	"runtime/debug"

	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/door/settings"
)

// setCaches sets the sizes of caches as they are configured.
func setCaches(c *line.Line, opt *core.Options) error {
	sizes := []*int64{&opt.Memory, &opt.BlockCache, &opt.TreeCache, &opt.IndexCache, &opt.LinkCache,
		&opt.DenseCache, &opt.VectorCache}
	for i, key := range settings.CacheKeys() {
		v, err := c.Configured(key.Name)
		if err != nil {
			return err
		}
		if v == "" {
			continue
		}
		if *sizes[i], err = settings.ParseSize(v); err != nil {
			return err
		}
	}
	if limit := debug.SetMemoryLimit(-1); opt.Memory == 0 && limit < math.MaxInt64 {
		opt.Memory = max(settings.MinSize, limit/2)
	}
	return nil
}
