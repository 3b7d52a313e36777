// Package editing has the verbs that change nodes and edges one by one: lines that are committed, stages, marks, pins.
package editing
