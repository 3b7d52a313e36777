package filestate

import (
	"syscall"
	"unsafe"
)

// FreeSpace returns how many bytes this user can write on the file system of path, if known.
func FreeSpace(path string) (uint64, bool) {
	name, err := syscall.UTF16PtrFromString(path)
	if err != nil {
		return 0, false
	}
	var free uint64
	ask := syscall.NewLazyDLL("kernel32.dll").NewProc("GetDiskFreeSpaceExW")
	ok, _, _ := ask.Call(uintptr(unsafe.Pointer(name)), uintptr(unsafe.Pointer(&free)), 0, 0)
	return free, ok != 0
}
