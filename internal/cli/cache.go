package cli

import (
	"fmt"
	"math"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/mnem-project/mnem/repo"
)

const (
	// minCache is what a decoded part of an index or a few tree chunks need; maxCache is more
	// than any machine has.
	minCache = 1 << 20
	maxCache = 1 << 40
)

// cacheKeys are the bounds of what a process keeps in memory of a repository, in the order of the
// fields that setCaches sets.
func cacheKeys() []configKey {
	key := func(name, env, value, what string) configKey {
		return configKey{"cache." + name, "MNEM_CACHE_" + env, value,
			"most memory for " + what + ": a size like 64MiB",
			func(v string) error { _, err := parseSize(v); return err }}
	}
	return []configKey{
		key("all", "ALL", "", "all of these"),
		key("blocks", "BLOCKS", "", "stored blocks"),
		key("trees", "TREES", "64MiB", "decoded trees"),
		key("index", "INDEX", "64MiB", "decoded parts of the index"),
		key("links", "LINKS", "32MiB", "links between nodes"),
		key("dense", "DENSE", "64MiB", "sketches and dense vectors"),
		key("sparse", "SPARSE", "256MiB", "sparse vectors"),
	}
}

// setCaches sets the sizes of caches as they are configured.
func (c *cli) setCaches(opt *repo.Options) error {
	sizes := []*int64{&opt.Memory, &opt.BlockCache, &opt.TreeCache, &opt.IndexCache, &opt.LinkCache,
		&opt.DenseCache, &opt.VectorCache}
	for i, key := range cacheKeys() {
		v, err := c.configured(key.Name)
		if err != nil {
			return err
		}
		if v == "" {
			continue
		}
		if *sizes[i], err = parseSize(v); err != nil {
			return err
		}
	}
	if limit := debug.SetMemoryLimit(-1); opt.Memory == 0 && limit < math.MaxInt64 {
		opt.Memory = max(minCache, limit/2)
	}
	return nil
}

// parseSize reads a number of bytes, which may end in KiB, MiB or GiB.
func parseSize(s string) (int64, error) {
	digits, shift := s, 0
	for i, unit := range []string{"KiB", "MiB", "GiB"} {
		if rest, ok := strings.CutSuffix(s, unit); ok {
			digits, shift = rest, 10*(i+1)
		}
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%w: %q is not a size like 64MiB", repo.ErrInvalid, s)
	}
	if n > maxCache>>shift || n<<shift < minCache {
		return 0, fmt.Errorf("%w: size %s is not between 1MiB and 1024GiB", repo.ErrInvalid, s)
	}
	return n << shift, nil
}
