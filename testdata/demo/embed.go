// Package demo holds the sample memory that 'mnem demo' shows: seven weeks of an invented team. See README.md in this
// directory.
package demo

import _ "embed"

// Memory is the sample memory as lines of changes.
//
//go:embed memory.jsonl
var Memory string

// Change is a later change, to apply on top.
//
//go:embed change.jsonl
var Change string
