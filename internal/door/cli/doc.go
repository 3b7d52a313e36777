// Package cli is the command line: one file a command, which reads flags, calls the verbs of internal/verb and
// writes its answer to the writers it was given, as text or, with --json, as the shapes that
// docs/cli.md documents. Only here are the clock, the environment and the terminal read.
package cli
