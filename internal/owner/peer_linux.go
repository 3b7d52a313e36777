package owner

import (
	"fmt"
	"net"
	"os"
	"syscall"
)

// checkPeer refuses another user at the other end of a connection, and a process that sees other
// files under the same names.
func checkPeer(conn *net.UnixConn) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	var peer *syscall.Ucred
	var credErr error
	err = raw.Control(func(fd uintptr) {
		peer, credErr = syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	})
	if err == nil {
		err = credErr
	}
	if err != nil {
		return fmt.Errorf("ask who is at the other end: %w", err)
	}
	if int(peer.Uid) != os.Geteuid() {
		return fmt.Errorf("%w: the other end belongs to user %d", ErrPeer, peer.Uid)
	}
	// If the system does not say, it is taken to be the same: a wrong name is an error then.
	ours, err := os.Readlink("/proc/self/ns/mnt")
	if err != nil {
		return nil
	}
	theirs, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/mnt", peer.Pid))
	if err == nil && theirs != ours || peer.Pid == 0 {
		return fmt.Errorf("%w: the other end is in a container with other files", ErrPeer)
	}
	return nil
}
