package main

import (
	"slices"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/must"
)

// TestHere finds the longer tests of this tree.
func TestHere(t *testing.T) {
	names, packages, err := longer("../../..")
	must.OK(t, err)
	must.True(t, slices.Contains(names, "TestCrash") && !slices.Contains(names, "TestHere"), "longer tests: %v", names)
	must.True(t, slices.Contains(packages, "./../../../internal/core"), "packages of longer tests: %v", packages)
}
