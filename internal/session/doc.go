// Package session records answers: sessions, their chains of receipts, receipts drafted outside of the turn of the
// writer, and the replay that compares bytes.
package session
