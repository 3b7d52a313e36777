// Package ingesting has the verbs that bring in files and conversations, and embed what they hold.
package ingesting
