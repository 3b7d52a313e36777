//go:build !linux

package owner

import "net"

// checkPeer leaves it to the mode of the socket, and to the permissions of the directory that it is in.
func checkPeer(*net.UnixConn) error { return nil }
