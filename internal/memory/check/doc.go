// Package check says whether a memory knows the answer to a question, with the evidence for it, and fits
// the thresholds of that to labelled questions.
package check
