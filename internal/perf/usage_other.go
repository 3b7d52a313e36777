//go:build !linux && !darwin

package perf

import "os"

// peakRSS is not known here.
func peakRSS(*os.ProcessState) (n int64, ok bool) { return 0, false }

// residentOf is not known here.
func residentOf(int) int64 { return -1 }

// ownUsage is not known here.
func ownUsage() (cpu, rss int64) { return 0, -1 }
