// Package table lists all verbs.
package table
