// Package sources reads the names of what memories come from, compares memories with their source files,
// and marks those whose sources changed or are gone.
package sources
