// Package keyring stores the keys that sign commits, and the list of trusted keys, in a directory of the user:
// never in a repository, which others may see.
//
//	NAME           one secret, readable by its owner alone
//	trusted.json   the trust list
//
// # Key files
//
// A key file is these three lines, each ended by LF, and nothing else. It has no passphrase: anyone who can read it
// can sign. So it is created with mode 0600 and refused if others can read it. On Windows the directory's access list
// protects it instead.
//
//	mnem key 1
//	public mnem-ed25519-…           text form of the key, which must be that of the secret
//	secret mnem-ed25519-secret-…    text form of the secret
//
// A file is created atomically and never replaces another. Names are 1 to 64 of a to z, 0 to 9, - and _, beginning
// with a letter or digit, so that they mean the same on every file system.
//
// # Trust list
//
// A JSON object of at most 4 MiB with v, 1, and keys, a list of at most 5,000 objects in the order of their key:
//
//	key      string   text form
//	name?    string   of the owner, 1..255 bytes, no control characters
//	note?    string   likewise
//	added    string   RFC 3339 time
//	purge?   bool     true to accept redactions that it signed without asking
//	trusted  bool     false only for a key that is listed because it was revoked
//	revoked? object   at: RFC 3339 time; since?: likewise; reason?: as name
//
// A revoked key without since is not trusted on any commit; with since, not on commits that claim that time or
// later. A commit's time is its signer's claim, so since is for retired keys, not for stolen ones.
//
// The list is replaced as a whole, under a lock file next to it, so that concurrent changes are all applied. It is
// refused if others could write it.
package keyring
