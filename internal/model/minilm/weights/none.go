//go:build nomodel

// Package weights carries no model: the program was built with the tag nomodel.
package weights

// File is the model's file, empty if the program was built without one.
const File = ""
