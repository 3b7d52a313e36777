// Package mem keeps a store in memory, for tests and repositories that are thrown away. Nothing
// is durable: closing the store drops it.
package mem
