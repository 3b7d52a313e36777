// Package layout lists the files below a repository's .mnem, and erases a text from those outside the store. Table
// names every file with its contents and how a purge erases a text from it; a test fails for a file that the table does
// not name.
package layout

import (
	"path"
	"strings"
)

// Erasure says how a purge erases a text from a file.
type Erasure int

const (
	// InStore files belong to the store, which erases blocks and rewrites its tables and logs.
	InStore Erasure = iota
	// NoText files hold numbers, hashes, ids and keys of this machine, and no text of a memory.
	NoText
	// Removed files are copies and leftovers that nothing needs: every purge removes them, as they can be packed
	// or compressed.
	Removed
	// Mirrored files are the local copy of a memory that a git repository or a bucket keeps. Every purge removes them
	// under their lock; the next transfer makes them again from the original.
	Mirrored
	// Searched files are removed if they hold the text: they save work, or are the leftover of a killed process.
	Searched
	// Edited files lose the entries or lines that hold the text.
	Edited
	// Kept files belong to the user or record decisions. A purge names those that hold the text.
	Kept
)

// FileKind is a row of the table: files that are erased in one way.
type FileKind struct {
	// Pattern is a pattern of path.Match for a path from .mnem, with slashes. A last element of two stars matches
	// everything below.
	Pattern string
	What    string
	Erasure Erasure
}

const remotes = "remotes"

// Table lists all files below .mnem. The first row that fits counts.
var Table = []FileKind{
	{"db/LOCK", "the lock of the store", NoText},
	{"db/**", "blocks and logs", InStore},
	{"head", "the newest operation", NoText},
	{"marker", "that operations were acknowledged", NoText},
	{"reserve", "room on the disk", NoText},
	{"scratch-*", "blocks of a commit under way", InStore},
	{"queue", "the order of processes that wait", NoText},
	{"owner", "the process that has the repository open", NoText},
	{"socket", "where that process answers", NoText},
	{"database", "where the repository is in a database", Kept},
	{".gitignore", "that git ignores the repository", NoText},
	{"config.json", "settings", Kept},
	{"policy.json", "rules for agents", Kept},
	{"trusted.json", "keys that are trusted", Kept},
	{"remotes.json", "names and URLs of remotes", Kept},
	{"autosync.json", "remotes that are synced automatically, and the last error", Kept},
	{"autosync", "an empty file, whose time is that of the last write", NoText},
	{"tokens/*.json", "hashes and names of tokens", Kept},
	{"review.json", "how far reviews came, by branch", Kept},
	{"redact.key", "a random key", NoText},
	{"ingest.json", "paths and hashes of files that were read", Edited},
	{"import-*", "input of a command that was killed", Removed},
	{"uploads/*", "packs and files that a client uploads", Removed},
	{"spool/*.json", "sessions with something to take in", Searched},
	{"spool/*.wait", "sessions with something to take in later", Searched},
	{"spool/*.talk", "conversations to be taken in", Searched},
	{"spool/*.place", "how far transcripts were read", Searched},
	{"spool/*.told", "what agents were given, with their questions", Edited},
	{"spool/*.given", "what agents were given", Edited},
	{"spool/*.shown", "ids of nodes", NoText},
	{"spool/*.private", "sessions that are not noted", NoText},
	{"spool/retire.state", "how far turns were retired", NoText},
	{"spool/.try-*", "an empty file", Removed},
	{remotes + "/*/mirror/**", "the mirror of a remote", Mirrored},
	{remotes + "/*/packs", "which packs the mirror has", Mirrored},
	{remotes + "/*/objects/**", "packs of a remote, as git objects", Mirrored},
	{remotes + "/*/refs/**", "the newest git commit of a remote", Mirrored},
	{remotes + "/*/packed-refs", "the newest git commit of a remote", Mirrored},
	{remotes + "/*/FETCH_HEAD", "the newest git commit of a remote", Mirrored},
	{remotes + "/*/HEAD", "a name that git needs", NoText},
	{remotes + "/*/config", "settings that git made", NoText},
	{remotes + "/*/description", "a template of git", NoText},
	{remotes + "/*/info/**", "a template of git", NoText},
	{remotes + "/*/hooks/**", "a template of git", NoText},
	{remotes + "/*/branches/**", "a template of git", NoText},
	{remotes + "/*/push-*", "a pack that leaves", Removed},
	{remotes + "/*/pack-*", "a pack that leaves, or one of a git remote that arrives", Removed},
	{remotes + "/*/*.pack", "what has come of a pack", Removed},
	{remotes + "/*/probed", "an empty file", NoText},
	{remotes + "/*.git.key", "the key and the last number of an encrypted remote", Kept},
	{remotes + "/*/redactions.json", "what a remote says was erased", Kept},
}

// temporary reports whether a name is a temporary file of package filestate, before its rename.
func temporary(base string) bool {
	at := strings.LastIndex(base, ".mnem-")
	if at < 2 || base[0] != '.' {
		return false
	}
	end := base[at+len(".mnem-"):]
	return end == "new" || end != "" && strings.Trim(end, "0123456789") == ""
}

// Rows for files that the table does not list, since they can stand next to any other file.
var (
	lockFile = FileKind{"**", "a lock", NoText}
	tempFile = FileKind{"**", "a file that was being written", Searched}
	// Unknown is the row of files that the table does not name; their owner decides.
	Unknown = FileKind{"", "not a file of mnem", Kept}
)

// Of returns the row of a file, by its path from .mnem with slashes, and whether there is one.
func Of(name string) (FileKind, bool) {
	for _, k := range Table {
		if k.fits(name) {
			return k, true
		}
	}
	switch base := path.Base(name); {
	case strings.HasSuffix(base, ".mnem-lock"):
		return lockFile, true
	case temporary(base):
		return tempFile, true
	}
	return Unknown, false
}

func (k FileKind) fits(name string) bool {
	dir, deep := strings.CutSuffix(k.Pattern, "/**")
	if !deep {
		ok, err := path.Match(k.Pattern, name)
		return ok && err == nil
	}
	elems := strings.Split(name, "/")
	n := strings.Count(dir, "/") + 1
	if len(elems) <= n {
		return false
	}
	ok, err := path.Match(dir, strings.Join(elems[:n], "/"))
	return ok && err == nil
}
