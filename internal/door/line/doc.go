// Package line holds one command line while it runs: the process's environment and streams, flags, the
// configuration, who asks, and where the repository is.
package line
