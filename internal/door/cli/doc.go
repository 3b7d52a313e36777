// Package cli is the command line of mnem: it assembles the commands of the packages below it and runs one.
package cli
