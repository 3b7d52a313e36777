// Package rank answers retrieval requests from a snapshot: it opens the indexes of the commit and gives them to
// internal/rank/stage, which ranks. It also finds nodes by name and reads and writes retrieval profiles.
package rank
