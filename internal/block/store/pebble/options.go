package pebble

import (
	"time"

	pdb "github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// formatVersion is the format of Pebble's files, the newest of the pinned release (value
// separation). Raising it makes stores unreadable for older programs; it is never lowered.
const formatVersion = pdb.FormatMajorVersion(24)

const (
	defaultCacheBytes    = 8 << 20
	defaultMemTableBytes = 16 << 20
	// memTables is how many full memtables may wait for the disk before writers do. Imports come
	// in bursts; four smooth them for 64 MiB.
	memTables = 4
	// l0Files is how many tables make Pebble start a compaction of level 0. Each short-lived
	// process that writes leaves one table behind; Pebble's default of 4 would make every fourth
	// of them wait for a compaction.
	l0Files = 8
	// baseBytes is the size of the level below, which each such compaction rewrites, since CIDs
	// scatter over all keys: with 4 MiB a commit waits for 60 ms at worst, with Pebble's 64 MiB
	// for half a second.
	baseBytes = 4 << 20
	// filterBits is for how many bits of a filter each key stands in the tables of all levels but the
	// last, where a key that is looked for is found: CIDs scatter over all keys, so that without
	// filters a look-up reads a block of one table in each level above its own, all for nothing.
	filterBits = 10
)

// Options say how to open a store. The zero value opens an existing store on disk for writing and
// does not wait.
type Options struct {
	// ReadOnly opens without changing any key or value. The lock is taken all the same.
	ReadOnly bool
	// Create makes the store where there is none. Ignored with ReadOnly.
	Create bool
	// AcceptHead takes Pebble's head for the newest operation whatever the head file says, which
	// a writable opening then writes anew. For repair, after the user was told.
	AcceptHead bool
	// FS is the file system; nil is the disk.
	FS vfs.FS
	// Wait is how long to wait for another owner to finish; 0 fails at once.
	Wait time.Duration
	// CacheBytes is the size of the block cache; 0 means 8 MiB, as most of what is read is kept decoded by who reads it.
	CacheBytes int64
	// MemTableBytes is the size at which a memtable is flushed; 0 means 16 MiB. A small one makes
	// many small tables, for tests.
	MemTableBytes int64
	// Uncompressed writes tables without compression, so that tests can look for bytes in files.
	Uncompressed bool
	// Owner is what the owner file says.
	Owner Owner
	// Logf is told what happens in the background and cannot be returned to a caller; nil
	// discards it. It is called on any goroutine and must not use the store.
	Logf func(format string, args ...any)
	// LowWater is how many bytes of the disk ordinary changes leave free beside what the store itself may
	// need to flush, to compact and to erase; 0 for none.
	LowWater uint64
}

func (o *Options) setDefaults() {
	if o.CacheBytes <= 0 {
		o.CacheBytes = defaultCacheBytes
	}
	if o.MemTableBytes <= 0 {
		o.MemTableBytes = defaultMemTableBytes
	}
	if o.Logf == nil {
		o.Logf = func(string, ...any) {}
	}
}

// pebble returns Pebble's options on fs.
func (o *Options) pebble(fs *fuseFS, lock *pdb.Lock, g *gate, readOnly bool) *pdb.Options {
	fs = &fuseFS{FS: fs.FS, fuse: fs.fuse, parks: true, logs: fs.logs}
	out := &pdb.Options{
		CacheSize:                   o.CacheBytes,
		ErrorIfNotExists:            !o.Create,
		EventListener:               listener(fs.fuse, g, o.Logf),
		FS:                          fs,
		FormatMajorVersion:          formatVersion,
		L0CompactionThreshold:       l0Files,
		L0StopWritesThreshold:       4 * l0Files,
		LBaseMaxBytes:               baseBytes,
		Lock:                        lock,
		Logger:                      &logger{fuse: fs.fuse, logf: o.Logf},
		MemTableSize:                uint64(o.MemTableBytes),
		MemTableStopWritesThreshold: memTables,
		ReadOnly:                    readOnly,
		Cleaner:                     noRecycling{},
		// Statistics would read every table's properties after each opening, only to choose
		// compactions of deletions, which are rare here.
		DisableTableStats: true,
	}
	for i := range out.TargetFileSizes {
		out.TargetFileSizes[i] = targetSize(i)
	}
	out.Experimental.CompactionScheduler = g
	last := len(out.Levels) - 1
	out.Levels[0].FilterPolicy = bloom.FilterPolicy(filterBits) // and so below
	out.Levels[last].FilterPolicy = pdb.NoFilterPolicy
	out.ApplyCompressionSettings(func() pdb.DBCompressionSettings {
		if o.Uncompressed {
			return pdb.DBCompressionNone
		}
		return pdb.DBCompressionFastest
	})
	return out
}
