// Package merging applies the changes of other commits to a branch: merge, revert and cherry-pick, and merges in
// progress with their conflicts, one by one.
package merging
