// Package history reads and changes what happened: logs of commits, blame, undo and redo of operations, watching, and
// the titles that commits get.
package history
