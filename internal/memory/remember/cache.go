package remember

import (
	"sync"

	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/ipld"
)

// Writer remembers in one repository. It is safe for concurrent use, together with any other Writer of the same
// repository: writes depend on stored memories, so they are decided under the write lock, as core.Repo.Decide says.
type Writer struct {
	r  *core.Repo
	mu sync.Mutex // guards what follows
	// recent caches the newest commits.
	recent map[ipld.CID]*added
}

// New returns a Writer over an open repository, which stays the caller's to close.
func New(r *core.Repo) *Writer { return &Writer{r: r} }
