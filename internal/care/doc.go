// Package care keeps a repository sound: it opens one and finishes what was left half done, checks everything (fsck),
// repairs what is derived, collects what nothing leads to, and erases for good.
package care
