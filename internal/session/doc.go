// Package session records answers: sessions, their chains of receipts, receipts drafted without the write lock, and
// the replay that compares bytes.
package session
