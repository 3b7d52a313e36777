package core

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/cache"
	"github.com/mnem-project/mnem/internal/block/prolly"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/block/store/pebble"
	"github.com/mnem-project/mnem/internal/block/store/postgres"
	"github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/view"
	"github.com/mnem-project/mnem/internal/view/community"
	"github.com/mnem-project/mnem/internal/view/dense"
	"github.com/mnem-project/mnem/internal/view/index"
	"github.com/mnem-project/mnem/internal/view/links"
	"github.com/mnem-project/mnem/internal/view/segment"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// DirName is the directory of a repository inside the directory it belongs to.
const DirName = ".mnem"

// What is kept between calls, in bytes, unless Options say otherwise.
const (
	defaultTreeCache  = 64 << 20 // of decoded tree chunks
	defaultIndexCache = 64 << 20 // of decoded index parts
	// denseCache bounds sketches and dense vectors: the sketches of 10^6 of 384 dimensions take 48 MB, and the vectors of
	// 10^5 take 40.
	denseCache = 64 << 20
	// linkCache bounds the links between nodes: those of 10^5 nodes with three edges each take 14 MB.
	linkCache          = 32 << 20
	defaultVectorCache = 256 << 20 // of sparse vectors
)

// OpenStore opens the store of a directory: on disk in it, or in the database that it links to.
func OpenStore(ctx context.Context, path string, create bool, opt Options) (store.Store, error) {
	st, err := openStore(ctx, path, create, opt)
	if err == nil && opt.Opened != nil {
		opt.Opened(path)
	}
	return st, err
}

func openStore(ctx context.Context, path string, create bool, opt Options) (store.Store, error) {
	at, err := readLink(path)
	switch {
	case err != nil:
		return nil, err
	case at != "":
		if opt.Client != "" {
			if err := CheckClient(opt.Client); err != nil {
				return nil, err
			}
		}
		return postgres.Open(ctx, postgres.Options{
			URL: at, Create: create, ReadOnly: opt.ReadOnly, Wait: opt.Wait, CacheBytes: opt.blockCache(),
			Client: opt.Client,
		})
	}
	return pebble.Open(path, opt.pebble(create))
}

// Options says how a repository is opened. The zero value opens an existing one for writing.
type Options struct {
	ReadOnly   bool          // change no key and no value; writes return store.ErrReadOnly
	Wait       time.Duration // how long to wait for another process to let go; 0: not at all
	TreeCache  int64         // bytes of decoded tree chunks kept; 0: 64 MiB
	IndexCache int64         // bytes of decoded index parts kept; 0: 64 MiB
	// VectorCache is how many bytes of sparse vectors are kept; 0: 256 MiB. As many again are used
	// for a moment while some are read. A query of a model that has more reads them each time.
	VectorCache int64
	// Memory is how many bytes all of these keep together; 0: what each may have.
	Memory int64
	FS     vfs.FS // nil: the operating system's
	// AcceptHead opens a repository whose head file disagrees with what is stored, taking that for
	// the newest. For repair, after the user was told: operations may be lost.
	AcceptHead bool
	Logf       func(format string, args ...any)
	PID        int    // of this process, for others who find the repository taken
	Since      string // when this process started, likewise
	Branch     string // of a new repository: what HEAD is on first; "" for DefaultBranch
	// Now is the clock by which operations are recorded and collected, so that no time that a caller gives decides what
	// is kept; safe for concurrent use. nil: the time of each call's Stamp, for programs without a clock.
	Now func() graph.Time
	// Client names who reads and writes, in a store that others share: HEAD, merges in progress, the stage without a
	// name, and what history.Undo without a name takes back are each client's own. "" is a client too.
	Client string
	// Counters are the token counters that retrievals and replays may use in addition to the estimate.
	Counters retrieve.Counters
	// Opened, if set, is called after each opening of a store.
	Opened func(path string)
}

func (o Options) pebble(create bool) pebble.Options {
	return pebble.Options{
		ReadOnly: o.ReadOnly, Create: create, FS: o.FS, Wait: o.Wait, Logf: o.Logf,
		AcceptHead: o.AcceptHead, CacheBytes: o.blockCache(),
		Owner: pebble.Owner{PID: o.PID, Since: o.Since},
	}
}

// blockShare is the part of all memory that blocks as they are stored have at most: what is decoded of them
// is kept elsewhere.
const blockShare = 8

// blockCache is how many bytes the store keeps, which takes no part in the budget: 0 for its default.
func (o Options) blockCache() int64 {
	if o.Memory == 0 {
		return 0
	}
	return max(1, o.Memory/blockShare)
}

// budget returns the memory that the caches share, nil if each has its own limit.
func (o Options) budget() *cache.Budget {
	if o.Memory == 0 {
		return nil
	}
	return cache.NewBudget(max(1, o.Memory-o.blockCache()))
}

// FirstBranch returns the branch that HEAD of a new repository is on: Branch, or else DefaultBranch.
func (o Options) FirstBranch() string {
	return cmp.Or(o.Branch, DefaultBranch)
}

// Repo is an open repository, or one branch of it: see Only. Safe for concurrent use: readers
// never wait, writers take turns.
type Repo struct {
	*Opened
	only string // the branch that the caller is confined to, "" for none
}

// Opened holds all that an open repository and those that Only returns share.
type Opened struct {
	Store       store.Store
	SharedStore store.Shared // the store if other processes write to it too, else nil
	Dir         string       // of its directory, "" in memory
	Trees       *prolly.Cache
	Parts       *segment.Cache // of indexes of texts
	Writer      writers        // held by the one writer of this process
	Records     RecordQueue    // receipts that wait for their turn
	Ro          bool
	client      string // of Options
	Bell        bell   // rung when the operation head has moved

	filled atomic.Bool // whether a gap was filled since indexes were dropped for one

	IndexMu sync.Mutex // held by who makes an index, opens one or drops them
	openMu  sync.Mutex // guards indexes; never held while anything is read
	indexes view.Opened[*index.Index]
	dense   view.Opened[*dense.Index]
	Merges  *view.Merges   // of segments of indexes; started by a holder of Writer or IndexMu; nil if others make them
	Rows    *segment.Cache // of indexes of dense vectors
	links   view.Opened[*links.Index]
	Buckets *segment.Cache    // of indexes of links
	Vectors *view.VectorCache // sparse ones
	// NodeBlocks caches blocks that retrievals read; it is off if other processes can erase some.
	NodeBlocks cache.Cache[ipld.CID, []byte]
	Mentions   cache.Cache[MentionsOf, *source.Mentioning] // likewise
	Answering  Turns                                       // of retrievals
	left       chan struct{}                               // of one: see Left
	background background

	clock       func() graph.Time // nil: the time of each call's Stamp
	Counters    retrieve.Counters
	Communities kept[*community.Partition]
	Digests     kept[any] // each *outline.Digests
	// SweepCount counts how often derived blocks were removed. Added to under IndexMu, when they are gone.
	SweepCount atomic.Uint64

	Collecting Turns // of collections and purges, one at a time
	Collected  collected
	Keep       keeper // what a collection must leave alone
}

// HeadError is returned by care.Open if the newest acknowledged operation is not what is stored;
// Options.AcceptHead takes what is stored.
type HeadError = pebble.HeadError

// Path returns the directory .mnem that the repository was opened in, "" for one that is not on disk.
func (r *Repo) Path() string { return r.Dir }

// Over returns a repository over an open store, which its Close closes. It reads nothing, and uses the defaults
// of opt for caches of size 0.
func Over(st store.Store, opt Options) *Repo {
	r := &Repo{Opened: &Opened{
		left:  make(chan struct{}, 1),
		Store: st, Ro: opt.ReadOnly, Vectors: view.NewVectorCache(cmp.Or(opt.VectorCache, defaultVectorCache)), Counters: opt.Counters,
		clock: opt.Now, client: opt.Client,
		Trees: prolly.NewCache(cmp.Or(opt.TreeCache, defaultTreeCache)),
		Parts: segment.NewCache(cmp.Or(opt.IndexCache, defaultIndexCache)),
		Rows:  segment.NewCache(denseCache), Buckets: segment.NewCache(linkCache), Merges: new(view.Merges),
	}}
	if b := opt.budget(); b != nil {
		r.Trees.Share(b)
		r.Vectors.Sets.Share(b)
		for _, c := range []*segment.Cache{r.Parts, r.Rows, r.Buckets} {
			c.Share(b)
		}
		r.NodeBlocks.Share(b)
		r.Mentions.Share(b)
	}
	r.share()
	r.Answering.Most = math.MaxInt // where reads wait for a database
	if r.SharedStore == nil {
		// More retrievals would take turns of ten milliseconds on the processors: an answer that needs several of these
		// would wait for all others each time.
		r.Answering.Most = 2 * runtime.GOMAXPROCS(0)
		r.NodeBlocks.Init(nodeCacheBytes)
		r.Mentions.Init(mentionCacheBytes)
	}
	return r
}

// Now returns the time of an operation that is done now.
func (r *Repo) Now(by state.Stamp) graph.Time {
	if r.clock == nil {
		return by.Time
	}
	return r.clock()
}

// Close releases the repository. Snapshots of it must not be used afterwards. It waits for a merge
// of the index that a commit left for later: some 15 microseconds for each document in it.
func (r *Repo) Close() error {
	r.Merges.Wait()
	defer r.Bell.ring() // watchers find the store closed
	return r.Store.Close()
}

// Find returns the directory of the repository that dir lies in: dir itself or the nearest parent that holds a .mnem
// directory. It returns an error wrapping store.ErrNotFound if there is none.
func Find(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("find repository: %w", err)
	}
	for at := abs; ; at = filepath.Dir(at) {
		if info, err := os.Stat(filepath.Join(at, DirName)); err == nil && info.IsDir() {
			return at, nil
		}
		if at == filepath.Dir(at) {
			return "", &state.NotFoundError{What: "repository", Name: abs + " or above"}
		}
	}
}

// nodeCacheBytes bounds the blocks of nodes that are kept between retrievals. Those with most edges are read again
// and again: the store takes as long for each as decoding ten.
const nodeCacheBytes = 2 << 20

// mentionCacheBytes bounds what is kept of nodes' mentions: those of some 5,000 nodes, as many as most memories have.
const mentionCacheBytes = 4 << 20

// MentionsOf is a node of a tree of nodes, and whether what mentions it is meant or what it mentions.
type MentionsOf struct {
	Nodes ipld.CID
	Node  graph.ID
	In    bool
}

// maxKept bounds of how many graphs a repository keeps communities, and digests.
const maxKept = 4

// kept are the newest used of what is derived from graphs.
type kept[X any] struct {
	Mu sync.Mutex // held while some are made
	view.Opened[X]
}

// Put keeps x as the newest. Its caller holds Mu.
func (k *kept[X]) Put(of ipld.CID, x X) { k.Opened.Put(of, x, maxKept) }

// ErrStopped is wrapped by the errors of a repository that takes no more writes since one failed: what
// was acknowledged is on disk, and reopening the repository finds it.
var ErrStopped = pebble.ErrStopped

// Owner says which process has a repository open, and where that answers others.
type Owner = pebble.Owner

// ReadOwner returns what the owner of the repository in dir/.mnem says of itself, the zero Owner
// if there is none. One that was killed may have left its words behind.
func ReadOwner(dir string) (Owner, error) {
	return pebble.ReadOwner(filepath.Join(dir, DirName), nil)
}

// Taken reports whether a process has the repository in dir/.mnem open, this one included, whatever an owner file says.
func Taken(dir string) (bool, error) { return pebble.Taken(filepath.Join(dir, DirName)) }

// QueueFile is the file by which the processes that want to open the repository in dir/.mnem keep their order.
func QueueFile(dir string) string { return filepath.Join(dir, DirName, pebble.QueueName) }

// SetOwner replaces what others read who find the repository taken. It does nothing for a repository
// that is not on disk.
func (r *Repo) SetOwner(o Owner) error {
	if st, ok := r.Store.(interface{ SetOwner(Owner) error }); ok {
		return st.SetOwner(o)
	}
	return nil
}

// RecordEntry is a receipt that waits to be recorded.
type RecordEntry struct {
	Session string
	Draft   *DraftReceipt
	By      state.Stamp
	Taken   bool          // out of the queue; guarded by the queue
	Done    chan struct{} // closed when it is durable or has failed
	Err     error         // set before that
}

// RecordQueue is the receipts that wait for their turn. The zero value is ready.
type RecordQueue struct {
	Mu      sync.Mutex
	Waiting []*RecordEntry // in the order in which they were asked for
}

// DraftReceipt is a receipt that is in no session yet.
type DraftReceipt struct {
	Block []byte     `json:"block"` // of the receipt
	Texts []string   `json:"texts"` // that it links to: the query, then the rewrites
	Time  graph.Time `json:"time"`
}

// CID returns the CID of the receipt.
func (d *DraftReceipt) CID() ipld.CID { return ipld.Sum(ipld.DagCBOR, d.Block) }
