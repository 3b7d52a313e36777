package line

import "io/fs"

// OfOther reports whether a file is another user's. Windows keeps users out of each other's
// directories by itself, and what is shared there is shared on purpose.
func OfOther(fs.FileInfo) bool { return false }
