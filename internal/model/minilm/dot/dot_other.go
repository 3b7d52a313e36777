//go:build !amd64

package dot

// fast returns no kernel: those of other processors would have to be tried on them first.
func fast() []named { return nil }
