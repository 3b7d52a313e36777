package verbkit

import (
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/testkit/storetest"
)

// CountedFacts is a store that counts the facts that are read.
type CountedFacts struct {
	store.Store
	Reads *storetest.Counting
}

func (c CountedFacts) Facts() store.Blocks { return c.Reads }
