// Package keyring keeps the keys with which commits are signed, and the list of keys that are
// trusted, in one directory of the user's: never in a repository, which others may see.
//
//	NAME           one secret, readable by its owner alone
//	trusted.json   the trust list
//
// # Key files
//
// A key file is these three lines, each ended by LF, and nothing else. It is not protected by a
// passphrase: who can read it can sign. So it is made with mode 0600 and refused where others can
// read it, except on Windows, where the directory's own access list decides.
//
//	mnem key 1
//	public mnem-ed25519-…           text form of the key, which must be that of the secret
//	secret mnem-ed25519-secret-…    text form of the secret
//
// A file comes into being with all its bytes or not at all and never replaces another. Names are 1
// to 64 of a to z, 0 to 9, - and _, beginning with a letter or digit, so that they mean the same on
// every file system.
//
// # Trust list
//
// A JSON object of at most 4 MiB with v, 1, and keys, a list of at most 5,000 objects in the order
// of their key:
//
//	key      string   text form
//	name?    string   of the owner, 1..255 bytes, no control characters
//	note?    string   likewise
//	added    string   RFC 3339 time
//	purge?   bool     true where redactions that it signed are accepted as they come
//	trusted  bool     false only of a key that is listed because it was revoked
//	revoked? object   at: RFC 3339 time; since?: likewise; reason?: as name
//
// A revoked key without since is worth nothing on any commit; with since, nothing on commits that
// say to be of that time or later. The time of a commit is what its signer says, so since is for
// keys that went out of use, not for stolen ones.
//
// The list is replaced as a whole, under a lock beside it, so that two who change it at once both
// get their change in. It is refused where others could write it.
package keyring
