package perf

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"syscall"
)

// peakRSS is the most memory that a process which has ended had resident, in bytes; not ok where
// the system does not tell.
func peakRSS(p *os.ProcessState) (n int64, ok bool) {
	u, ok := p.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0, false
	}
	return int64(u.Maxrss) << 10, true // Linux counts KiB
}

// residentOf is the memory that a process which runs has resident, in bytes, -1 where the system does
// not tell.
func residentOf(pid int) int64 {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return -1
	}
	list := bytes.Fields(data)
	if len(list) < 2 {
		return -1
	}
	pages, err := strconv.ParseInt(string(list[1]), 10, 64)
	if err != nil {
		return -1
	}
	return pages * int64(os.Getpagesize())
}

// ownUsage is the CPU time of this process in nanoseconds and the most memory that it had resident in bytes;
// 0 and -1 where the system does not tell.
func ownUsage() (cpu, rss int64) {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0, -1
	}
	return u.Utime.Nano() + u.Stime.Nano(), int64(u.Maxrss) << 10
}
