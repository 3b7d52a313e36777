// Package remember writes memories: it finds what already says the same, decides whether a text is new,
// repeated or takes the place of another, links it by rule, and commits all of that at once.
package remember
