package owner

import "io/fs"

func ownedByUser(fs.FileInfo) bool { return true }

// identity returns "": a value left in the directory tells which one is meant.
func identity(fs.FileInfo) string { return "" }
