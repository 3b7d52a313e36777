// Package upkeep has the verbs that check, count and clean a repository, and erase from it.
package upkeep
