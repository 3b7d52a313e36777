// Package exchange moves commits between repositories: CAR files, and packs that a receiver takes in all or nothing.
package exchange
