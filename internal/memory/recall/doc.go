// Package recall reads memories: answers to questions, what surrounds a topic, what is related to a
// memory and why, and tags for a text.
package recall
