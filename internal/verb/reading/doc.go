// Package reading has the verbs that read nodes and edges, and the forms in which answers tell of them.
package reading
