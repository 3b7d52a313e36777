package owner

import (
	"io/fs"
	"net"
)

// checkPeer leaves it to the permissions of the directory that the socket is in.
func checkPeer(*net.UnixConn) error { return nil }

func ownedByUser(fs.FileInfo) bool { return true }

// identity returns "": a value left in the directory tells which one is meant.
func identity(fs.FileInfo) string { return "" }
