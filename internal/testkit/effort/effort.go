// Package effort decides how many of many similar cases tests try. A plain `go test` tries those that find the most for
// their time. Two environment variables ask for more:
//
//	MNEM_LONG=1     long runs too, in minutes: required before a change lands
//	MNEM_LONG=2     every case there is, in hours
//	MNEM_SOAK=20m   soaks, each for that long
//
// Tests that are useful only in a long run call [Long] and are skipped in a plain run; the others [Pick] their sizes.
// The race detector makes tests ten times slower, and each case contains the races: tests look at [Race] to try fewer,
// and those that compute on one goroutine call [Alone].
package effort

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/mnem-project/mnem/internal/testkit/must"
)

// Names of the environment variables.
const (
	LongVariable = "MNEM_LONG"
	SoakVariable = "MNEM_SOAK"
)

// level is 0 for a plain run.
func level() int {
	switch v := os.Getenv(LongVariable); v {
	case "", "0":
		return 0
	case "1":
		return 1
	case "2":
		return 2
	default:
		panic(fmt.Sprintf("%s=%q: want 1 for long runs or 2 for every case", LongVariable, v))
	}
}

// Pick returns the size of a plain run, of a long one, or of one that tries everything.
func Pick[T any](plain, long, all T) T {
	return [...]T{plain, long, all}[level()]
}

// Long skips a test in a plain run.
func Long(t testing.TB) {
	t.Helper()
	if level() == 0 {
		t.Skipf("long: %s=1 runs it", LongVariable)
	}
}

// Alone skips a test under the race detector. It is for tests that compute on one goroutine: the detector has nothing
// to find there.
func Alone(t testing.TB) {
	t.Helper()
	if Race {
		t.Skip("computes on one goroutine: not run under the race detector")
	}
}

// Soak returns how long a soak shall run, and skips the test if none is asked for.
func Soak(t testing.TB) time.Duration {
	t.Helper()
	v := os.Getenv(SoakVariable)
	if v == "" {
		t.Skipf("soak: %s=20m runs it that long", SoakVariable)
	}
	length, err := time.ParseDuration(v)
	must.Require(t, err == nil && length > 0, "%s=%q: want a duration such as 60s or 20m", SoakVariable, v)
	return length
}
