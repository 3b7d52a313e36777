// Package verbkit runs verbs in tests, on a host with a repository in memory.
package verbkit
