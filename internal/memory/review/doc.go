// Package review shows people what a memory gained and what could be tidied up, and writes what they
// decide about it: each review is one commit or none.
package review
