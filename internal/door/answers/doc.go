// Package answers writes the answers of verbs as text for people: a function for each answer. It is given an answer and
// decides nothing of it; reads no repository, flag or file; and is not asked if an answer is printed as JSON.
package answers
