// Package testkit holds helpers for tests of what reaches the disk: a file system that shows, at
// each change, what a power cut at that moment would leave.
package testkit
