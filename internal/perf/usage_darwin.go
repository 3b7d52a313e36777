package perf

import (
	"os"
	"syscall"
)

// peakRSS is the most memory that a process which has ended had resident, in bytes; not ok where
// the system does not tell.
func peakRSS(p *os.ProcessState) (n int64, ok bool) {
	u, ok := p.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0, false
	}
	return u.Maxrss, true // macOS counts bytes
}

// residentOf is not known here.
func residentOf(int) int64 { return -1 }

// ownUsage is the CPU time of this process in nanoseconds and the most memory that it had resident in bytes;
// 0 and -1 where the system does not tell.
func ownUsage() (cpu, rss int64) {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0, -1
	}
	return u.Utime.Nano() + u.Stime.Nano(), u.Maxrss
}
