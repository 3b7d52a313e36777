// Package pebble implements a store on disk in a Pebble database.
//
// The directory of a store, a repository's .mnem:
//
//	db/     Pebble's files; db/LOCK is locked by the one process that has the store open
//	head    the newest acknowledged operation, outside Pebble
//	marker  that there are acknowledged operations, outside both
//	queue   empty: processes that wait for db/LOCK lock its bytes, in the order of arrival
//	reserve up to 4 MiB of disk space, released for changes that erase; its content is meaningless
//	scratch-N temporary data of a running commit; removed with it, or by the next opening
//	owner   who has the store open: JSON, for people and clients, not for locking
//
// Files have mode 0600 and directories 0700, whatever the umask is.
//
// # Keys
//
// One database holds everything. CODEC is the codec byte of a CID, DIGEST its 32 bytes, so that keys of one kind
// are in CID order.
//
//	'c' CODEC DIGEST   cell: a binary CID, 36 bytes
//	'd' CODEC DIGEST   derived block: its bytes
//	'f' CODEC DIGEST   fact block: its bytes
//	'g' CODEC DIGEST   open redaction: the stub of a block that never arrived; it has no other key
//	'h'                head record
//	'n'                note: a record of work that must not stay half done, opaque bytes
//	'r' CODEC DIGEST   redaction: the stub of an erased block, which has no key in 'd' or 'f'
//	'v'                format record
//
// Any other key is damage or belongs to a later version; only Keys reads it, for fsck. The format record is written
// with the first operation. It is canonical DAG-CBOR:
//
//	v       int     1
//	kind    string  "format"
//	format  int     version of the store's contents, from 1; a later one is not opened
//
// The head record likewise:
//
//	v          int     1
//	seq        int     the operation's number, from 1
//	kind       string  "head"
//	after      list    number and operation of the newest head that was durable when this one was
//	                   applied, an empty list for none; absent if it is the one before this
//	previous   link    the head before it, number seq - 1; absent in the first record
//	operation  link    the operation
//
// # The head file
//
// Pebble treats a damaged end of its log as the end of the log: the last commits would vanish silently. So the
// newest acknowledged head is also stored outside Pebble. The file head has two slots, at bytes 0 and 4096 so that
// they share no disk sector; operation seq is in slot seq mod 2. Integers are big-endian:
//
//	0   8   "mnemhead"
//	8   8   seq
//	16  36  the operation's binary CID
//	52  4   CRC-32C of bytes 0 to 51
//
// A slot of zeros, or beyond the end of the file, is empty. Any other slot whose magic, CID, crc or parity is wrong
// is damaged. The file is made by the first commit.
//
// A commit (1) writes one batch, blocks and head record, (2) syncs the log, (3) writes a slot, (4) syncs the file, and
// returns. Commits overlap: others may be at (1) while one is at (2) to (4), which it does for all that have finished
// (1) by then; of two heads it writes the one whose slot does not hold the newest. So at any power cut Pebble holds the
// operation of the newest slot or one that was applied while that was the newest, or an earlier one, and only the other
// slot can be torn. Opening compares: with P the head in Pebble and F that of the newest valid slot,
//
//	neither P nor the file             an empty store
//	F = P, other slot not damaged      normal
//	F is before P, and P's after is    commits were cut short between (1) and (4): accepted, and
//	F or before F                      the slot is written by the next writable opening
//	no valid slot, P without previous, the same, cut short in the first commit
//	P's other slot empty
//	no valid slot, one of them empty,  the same, of several first commits
//	P's after empty
//	anything else                      *HeadError, which is a corruption error
//
// "Anything else" includes P = F with a damaged slot: that slot may have named an operation after P. To open the
// store anyway, set Options.AcceptHead.
//
// # The marker
//
// A store that lost its head file and the end of its log looks like an empty one, or like one interrupted in its
// first commit. So the first commit, after step (4) and before it returns, makes the file marker and syncs it; no
// later one does. It has the form of the head file, with the magic "mnemmark", and names an operation that was
// acknowledged: the first one, and the last one after the store was closed, which is written without a sync. If
// there is a marker, with any content, opening requires a valid slot in the head file; if the marker has a valid
// slot, the head file's newest operation must not precede the marker's, nor differ from it under the same number. A
// violation is a *HeadError. A store without a marker was made by an earlier version; its next commit makes one.
//
// # Erasing
//
// The batch that erases blocks also removes everything derived, so that a killed process leaves no index of erased
// text. Deleted bytes stay in tables until they are compacted, in logs, which Pebble keeps for a while, and in
// tables that an iterator still needs. Reclaim compacts everything to free disk space while other calls read and
// write. To remove the bytes, Compact flushes, compacts everything, closes the database, which removes obsolete
// files, and opens it again, which begins a new log and removes the old ones. What the disk itself keeps of a
// removed file is beyond a program's reach. Compactions proceed by key range, so that at most some 8 MiB of the
// last level and the levels above it exist twice. Before each step they check that the disk has space for it; if
// not they end with store.ErrNoRoom, and the store continues.
//
// # A full disk
//
// Before Pebble begins a change the store asks how many bytes of the disk are free, and calculates a low-water
// mark: the space that a flush of the log, a compaction of level 0 or the largest step below it, and an erasure may
// need. A change that would leave less returns a *store.NoRoomError, which says how many bytes must be freed; the
// store keeps working. If much of the mark is level 0, the change compacts that first. Changes with a context from
// store.Erasing, deletions and redactions need only space for themselves, and may use the file reserve. The reserve
// is as large as the tables, at least 1 MiB and at most 4; it counts as free for the mark, and is made again when
// there is space. With 1 GiB free nothing is calculated.
//
// With less free space, Pebble compacts in the background only if the disk has space for any compaction it may
// choose; otherwise the store compacts, in steps whose size it determines first. A step that still runs out of
// space fails, and Pebble removes what it wrote: only a log, a manifest or a flush that cannot be written stops the
// store. Tables are small to keep steps small: those of the level below level 0 have 256 KiB, those of each further
// level twice as much, up to 8 MiB.
//
// Opening a database for writing writes a manifest, options, a log, and the contents of the logs as tables. With
// less than 1 GiB free it is opened for reading first, which writes nothing, and leftover files of earlier openings
// and processes are removed. If the mark leaves no space for changes, the store stays dormant: it can be read, and
// the first change that fits, or erases, opens the database for writing. Opening and closing a dormant store does
// not change the free space.
//
// # Space and memory
//
// Most of the data are hashes and vectors, which do not compress: tables are about as large as the blocks in them
// (10,000 nodes with vectors: 24.2 MB for 24.3). CIDs scatter over all keys. Reading a block still reads only one
// table block of 4 KiB, and not one in each level above: tables of all levels but the last have Bloom filters, 10
// bits a key. With blocks of 16 KiB and zstd, tables take 9 % less and each read takes 1.7 times as long. Logs take
// the space of some memtables while a store is written, and none once it was closed.
//
// A write of many blocks looks up 32 of them: if none exists, the rest is written without a lookup, which would
// read a table block each. Blocks written twice that way only take space until their tables are compacted.
//
// A Store keeps in memory at most CacheBytes of table blocks, including the indexes of the tables read, some
// memtables if it writes, and 50 bytes for each redaction.
//
// # One owner
//
// Pebble admits one process at a time, readers included, and so does this package, by locking db/LOCK. The lock ends
// with its process; a stale or copied owner file has no effect. On Unix it is an fcntl lock: a process that has the
// store open must not open and close db/LOCK in any other way (to copy it, say), which would drop the lock. The holding
// process remembers it by device and inode, so that it does not lock the file a second time under another name.
//
// A store that cannot be written, for instance on a disk mounted read-only, is opened with ReadOnly under a shared
// read lock. If there is no lock file, there is no lock.
//
// # When Pebble gives up
//
// When Pebble cannot continue it calls Logger.Fatalf, expecting the process to end; retries a failed flush forever;
// or panics, sometimes in ways that no recover stops. The reason is nearly always a failed write. So the first
// failed write, sync, creation or renaming, a Fatalf, a panic in a call or a failed flush stops the store: from
// then on no change by any goroutine reaches the disk, and calls return an error that wraps ErrStopped and the
// cause. The error of a commit in progress wraps store.ErrUnknown as well: it may be in a log. The files are as
// after a power cut at that moment: closing and opening recovers. A goroutine whose write failed blocks forever
// before Pebble sees the error. Running calls return at once and abandon their goroutines, which can do no harm,
// but hold some memory and descriptors until the process ends. Not covered: a panic on one of Pebble's own
// goroutines for another reason, which ends the process with a trace, as any Go panic does.
//
// Damage found by Pebble's checksums or by the hash check that every Get makes is an error that wraps
// store.ErrCorrupt and names the block. Damage found in the background (compaction) is reported to Options.Logf and
// found again when the block is read.
package pebble
