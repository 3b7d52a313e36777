// Package prolly is an ordered map from bytes to bytes, stored as a tree of blocks.
package prolly
