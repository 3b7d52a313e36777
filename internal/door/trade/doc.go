// Package trade is the commands that exchange history with other repositories and follow a git work tree.
package trade
