// Package pebble keeps a store on disk in a Pebble database.
//
// The directory of a store, a repository's .mnem:
//
//	db/     Pebble's files; db/LOCK is locked by the one process that has the store open
//	head    the newest acknowledged operation, outside Pebble
//	marker  that there are acknowledged operations, outside both
//	queue   empty: its bytes are locked by processes that wait for db/LOCK, in their order
//	reserve takes up to 4 MiB of the disk, given to changes that erase; what is in it means nothing
//	scratch-N what a commit under way has no room for in memory; removed with it, or by the next opening
//	owner   who has the store open: JSON, for people and clients, not for locking
//
// Files have mode 0600 and directories 0700, whatever the umask is.
//
// # Keys
//
// One database holds everything. CODEC is the codec byte of a CID, DIGEST its 32 bytes, so that
// keys of one kind are in CID order.
//
//	'c' CODEC DIGEST   cell: a binary CID, 36 bytes
//	'd' CODEC DIGEST   derived block: its bytes
//	'f' CODEC DIGEST   fact block: its bytes
//	'g' CODEC DIGEST   open redaction: the stub of a block that never came, which is in none of the others
//	'h'                head record
//	'n'                note: what must not stay half done, bytes of whoever set it
//	'r' CODEC DIGEST   redaction: the stub of a block that was erased, which is in neither 'd' nor 'f'
//	'v'                format record
//
// Any other key is damage or of a later version; nothing reads it but Keys, for fsck. The format
// record is written with the first operation. It is canonical DAG-CBOR:
//
//	v       int     1
//	kind    string  "format"
//	format  int     version of all that the store holds, from 1; a later one is not opened
//
// The head record likewise:
//
//	v          int     1
//	seq        int     the operation's number, from 1
//	kind       string  "head"
//	after      list    number and operation of the newest head that was durable when this one was
//	                   applied, an empty list for none; absent where it is the one before this
//	previous   link    the head before it, number seq - 1; absent in the first record
//	operation  link    the operation
//
// # The head file
//
// Pebble takes a damaged end of its log for the end of the log: the last commits would vanish
// without a word. So the newest acknowledged head is kept outside Pebble as well. The file head
// has two slots, at bytes 0 and 4096 so that they share no disk sector; operation seq is in slot
// seq mod 2. Integers are big-endian:
//
//	0   8   "mnemhead"
//	8   8   seq
//	16  36  the operation's binary CID
//	52  4   CRC-32C of bytes 0 to 51
//
// A slot of zeros, or beyond the end of the file, is empty. Any other slot whose magic, CID, crc
// or parity is wrong is damaged. The file is made by the first commit.
//
// A commit (1) writes one batch, blocks and head record, (2) syncs the log, (3) writes a slot, (4)
// syncs the file, and returns. Commits overlap: others may be at (1) while one is at (2) to (4), which
// it does for all that have done (1) by then; of two heads it then takes the one whose slot does not
// hold the newest. So whenever power is cut, Pebble holds the operation of the newest slot or one
// that was applied while that was the newest, or an earlier one, and only the other slot can be
// torn. Opening compares: with P the head in Pebble and F that of the newest valid slot,
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
// "Anything else" includes P = F beside a damaged slot: that slot may have named an operation
// after P. Whoever has weighed that opens with Options.AcceptHead.
//
// # The marker
//
// A head file that is gone beside a log that lost its end looks like an empty store, or like one cut
// short in its first commit. So the first commit, after step (4) and before it returns, makes the file
// marker and syncs it; no later one does. It has the form of the head file, with the magic "mnemmark",
// and names an operation that was acknowledged: the first one, and the last one after the store was
// closed, which is written without a sync. Opening demands, where there is a marker, whatever is in
// it, a valid slot in the head file; and where the marker has a valid slot, that the newest of the
// head file is not before the newest of the marker, nor another one of its number. What is not so is a
// *HeadError. A store without a marker was made by an earlier version; its next commit makes one.
//
// # Erasing
//
// The batch that erases blocks removes everything derived too, so that a process that is killed leaves no
// index of what is gone. Deleting leaves bytes behind: in tables until they are compacted, in logs, which Pebble keeps for a
// while, and in tables that an iterator still needs. Reclaim compacts everything, for the room on
// disk, beside whoever reads and writes. For the bytes, Compact flushes,
// compacts everything, closes the database, which removes what is obsolete, and opens it again,
// which begins a new log and removes the old ones. What the disk itself keeps of a removed file is
// beyond a program's reach. Compactions go from one range of keys to the next, so that no more than
// some 8 MiB of the last level and what is above it must be there twice, and ask whether that has room
// on the disk before each step: where it has not they end with store.ErrNoRoom, and the store goes on.
//
// # A full disk
//
// Before Pebble begins a change the store asks how many bytes of the disk are free, and calculates a
// low-water mark: what a flush of the log, a compaction of level 0 or the largest step below it, and an
// erasure may write. A change that would leave less returns a *store.NoRoomError, which says how many
// bytes must be freed; the store keeps working. If much of the mark is level 0, the change compacts that
// first. Changes with a context of store.Erasing, deletions and redactions need room for themselves alone,
// and may use the file reserve. The reserve is as large as the tables, at least 1 MiB and at most 4; it
// counts as free for the mark, and is made again when there is room. With 1 GiB free nothing is
// calculated.
//
// While less is free Pebble compacts in the background only if the disk has room for what it may choose;
// otherwise the store compacts, in steps whose size it looks up first. A step that runs out of room all the
// same fails, and Pebble removes what it wrote: only a log, a manifest or a flush that cannot be written
// stops the store. Tables are small, so that steps are: those of the level below level 0 have 256 KiB, those
// of each further level twice as much, up to 8 MiB.
//
// Opening a database for writing writes a manifest, options, a log, and what is in the logs as tables. With
// less than 1 GiB free it is opened for reading first, which writes nothing, and files are removed that
// an opening or a process that ended left. If the mark leaves no room for changes, the store stays dormant:
// it answers, and the first change that has room, or erases, opens the database for writing. Dormant stores
// that are opened and closed do not change what is free.
//
// # Room and memory
//
// Most of what is stored are hashes and vectors, which do not compress: tables are about as large as
// the blocks in them, of 10,000 nodes with vectors 24.2 MB for 24.3. As CIDs scatter over all keys a
// read of a block reads one table block of 4 KiB, and not one of each level above its own: tables of
// all levels but the last have Bloom filters, 10 bits a key. With blocks of 16 KiB and zstd tables take
// 9 % less and each read 1.7 times as long. Logs take some memtables while a store is written, and
// nothing once it was closed.
//
// A write of many blocks looks for 32 of them: where none is there yet, the rest is written without a
// look, which costs a read of a table block each. What is written twice by that takes room until its
// tables are compacted, and no more.
//
// A Store keeps at most CacheBytes of table blocks, the indexes of the tables that were read
// included, some memtables where it writes, and 50 bytes for each redaction.
//
// # One owner
//
// Pebble admits one process at a time, readers included, and so does this package, by locking
// db/LOCK. The lock dies with its process; a stale owner file, or that of the original in a copy, means
// nothing. On Unix the lock is fcntl's: a process that has the store open must not open and close
// db/LOCK in any other way (to copy it, say), which would drop the lock. It is remembered by device and
// inode in the process that holds it, so that the file under another name is not locked a second time.
//
// A store that cannot be written, as on a disk that is mounted for reading, is opened with ReadOnly
// under a lock for reading, which readers share. Where there is not even a lock file there is no lock.
//
// # When Pebble gives up
//
// Where Pebble cannot go on it calls Logger.Fatalf, expecting the process to end; retries a
// failed flush without end; or panics, also in ways that end the process whoever recovers. Nearly
// always the reason is a write that failed. So here the first failed write, sync, creation or
// renaming, a Fatalf, a panic in a call or a failed flush stops the store: from then on no
// change reaches the disk, whichever goroutine tries, and calls return an error that wraps
// ErrStopped and the cause. The error of a commit under way wraps store.ErrUnknown as well: it may
// be in a log. The files are as if power had been cut at that moment: closing and
// opening recovers. A goroutine whose write failed is parked for good before Pebble sees the
// error; calls under way return at once and leave theirs behind, which can do no more harm, but
// keep some memory and descriptors until the process ends. Not covered: a panic on a goroutine
// of Pebble's own for another reason, which ends the process with a trace, as any Go panic does.
//
// Damage found by Pebble's checksums or by the hash check that every Get makes is an error that
// wraps store.ErrCorrupt and names the block. Damage found in the background (compaction) is
// told to Options.Logf and found again by whoever reads the block.
package pebble
