package cli

import (
	"maps"
	"slices"
	"strconv"
)

// checkRange returns a usage error unless low <= n <= high.
func checkRange(flag string, n, low, high int) error {
	if n < low || n > high {
		return usagef("--%s: %d is outside %d to %d", flag, n, low, high)
	}
	return nil
}

// sortedKeys returns a map's keys in order.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

func intText(n int) string { return strconv.Itoa(n) }
