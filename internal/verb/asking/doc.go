// Package asking has the verbs that answer questions: retrieve, recall and check, with their profiles, sessions and
// receipts.
package asking
