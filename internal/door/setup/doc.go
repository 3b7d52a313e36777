// Package setup is the commands that create repositories, set configuration values, and connect agents' programs.
package setup
