// Package render prints nodes and digests as clause 12 says: a pure function of each, whose lines no value can break.
package render
