//go:build !linux && !darwin

package perf

import "os"

// peakRSS is not known here.
func peakRSS(*os.ProcessState) (n int64, ok bool) { return 0, false }
