// Package exchange moves commits between repositories: CAR files, and packs that a receiver accepts completely or
// not at all.
package exchange
