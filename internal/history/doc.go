// Package history reads and changes past operations and commits: logs, blame, undo and redo, watching, and the
// titles of commits.
package history
