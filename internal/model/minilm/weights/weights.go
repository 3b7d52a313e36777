//go:build !nomodel

// Package weights carries the file of package minilm's model: 23 MB of each program that links it, which are mapped from
// the program and read from disk when a text is embedded, and nowhere else. The build tag nomodel leaves it out.
package weights

import _ "embed"

// File is the model's file, empty if the program was built without one.
//
//go:embed model.bin
var File string
