//go:build !race

package effort

// Race reports whether the race detector is on. Tests then try fewer of many like cases: it makes
// them ten times slower, and what it looks for is in each.
const Race = false
