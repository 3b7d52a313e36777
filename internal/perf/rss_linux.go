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
	return int64(u.Maxrss) << 10, true // Linux counts KiB
}
