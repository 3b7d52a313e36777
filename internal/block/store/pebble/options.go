package pebble

import (
	"time"

	pdb "github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// formatVersion is the format of Pebble's files, the newest of the pinned release (value separation). Raising it
// makes stores unreadable for older programs; it is never lowered.
const formatVersion = pdb.FormatMajorVersion(24)

const (
	defaultCacheBytes    = 8 << 20
	defaultMemTableBytes = 16 << 20
	// memTables is how many full memtables may wait for the disk before writers do. Imports come
	// in bursts; four smooth them for 64 MiB.
	memTables = 4
	// l0Files is how many tables make Pebble start a compaction of level 0. Each short-lived process that writes leaves
	// one table behind; Pebble's default of 4 would make every fourth of them wait for a compaction.
	l0Files = 8
	// baseBytes is the size of the level below level 0, which each such compaction rewrites since CIDs scatter over
	// all keys. With 4 MiB a commit waits 60 ms at worst, with Pebble's 64 MiB half a second.
	baseBytes = 4 << 20
	// filterBits is the number of Bloom filter bits for each key in the tables of all levels but the last, which
	// holds most keys. CIDs scatter over all keys, so without filters a lookup would read a block of one table in
	// each higher level for nothing.
	filterBits = 10
)

// Options configure how a store is opened. The zero value opens an existing store on disk for writing and does not
// wait.
type Options struct {
	// ReadOnly opens without changing any key or value. The lock is still taken.
	ReadOnly bool
	// Create makes the store if it does not exist. Ignored with ReadOnly.
	Create bool
	// AcceptHead takes Pebble's head as the newest operation whatever the head file says; a writable opening then
	// rewrites the head file. For repair, after the user was told.
	AcceptHead bool
	// FS is the file system; nil is the disk.
	FS vfs.FS
	// Wait is how long to wait for another owner to finish; 0 fails at once.
	Wait time.Duration
	// CacheBytes is the size of the block cache; 0 means 8 MiB: readers cache most data in decoded form.
	CacheBytes int64
	// MemTableBytes is the size at which a memtable is flushed; 0 means 16 MiB. Tests set a small one to get many
	// small tables.
	MemTableBytes int64
	// Uncompressed writes tables without compression, so that tests can look for bytes in files.
	Uncompressed bool
	// Owner is the content of the owner file.
	Owner Owner
	// Logf receives background events that no call can return; nil discards them. It is called on any goroutine and
	// must not use the store.
	Logf func(format string, args ...any)
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

func (o *Options) pebble(fs *failFS, lock *pdb.Lock, g *gate, readOnly bool) *pdb.Options {
	fs = &failFS{FS: fs.FS, fail: fs.fail, halts: true, logs: fs.logs}
	out := &pdb.Options{
		CacheSize:                   o.CacheBytes,
		ErrorIfNotExists:            !o.Create,
		EventListener:               listener(fs.fail, g, o.Logf),
		FS:                          fs,
		FormatMajorVersion:          formatVersion,
		L0CompactionThreshold:       l0Files,
		L0StopWritesThreshold:       4 * l0Files,
		LBaseMaxBytes:               baseBytes,
		Lock:                        lock,
		Logger:                      &logger{fail: fs.fail, logf: o.Logf},
		MemTableSize:                uint64(o.MemTableBytes),
		MemTableStopWritesThreshold: memTables,
		ReadOnly:                    readOnly,
		Cleaner:                     noRecycling{},
		// Statistics would read every table's properties after each opening, only to choose compactions of
		// deletions, which are rare here.
		DisableTableStats: true,
	}
	for i := range out.TargetFileSizes {
		out.TargetFileSizes[i] = targetSize(i)
	}
	out.Experimental.CompactionScheduler = g
	last := len(out.Levels) - 1
	out.Levels[0].FilterPolicy = bloom.FilterPolicy(filterBits) // and the levels below
	out.Levels[last].FilterPolicy = pdb.NoFilterPolicy
	out.ApplyCompressionSettings(func() pdb.DBCompressionSettings {
		if o.Uncompressed {
			return pdb.DBCompressionNone
		}
		return pdb.DBCompressionFastest
	})
	return out
}
