// Package sharing has only tests: what happens between repositories that share a memory, by the command line of each,
// over each way to another one (a directory, another process, HTTP, ssh, git, an object store, a database).
package sharing
